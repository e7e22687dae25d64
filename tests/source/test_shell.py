"""Shell scripts: commands, words, redirects, inner code, context, and whose status `$?` is."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.source.shell import AndOr, Case, Command, If, Script, parse
from scenlint.source.text import Fragment, Source


def script(text: str | bytes) -> Script:
    data = text if isinstance(text, bytes) else text.encode()
    return parse(Fragment.of(Source(Path("test.sh"), data), "shell"))


def argv(text: str) -> list[list[str]]:
    return [[w.pattern for w in c.argv] for c in script(text).commands]


def first(text: str, name: str) -> Command:
    return next(c for c in script(text).commands if c.argv and c.argv[0].text == name)


def test_a_fragment_is_parsed_once() -> None:
    fragment = Fragment.of(Source(Path("x.sh"), b"a\n"), "shell")
    assert parse(fragment) is parse(fragment)


def test_commands_come_in_source_order_wherever_they_stand() -> None:
    text = "f() { a; }\nif b; then c; fi\n(d; e)\ng $(h)\nwhile i; do j; done < <(k)\ncase x in y) l;; esac\n"
    assert [c[0] for c in argv(text)] == list("abcdeghijkl")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("plain", "plain"),
        ("'a b'", "a b"),
        (r'"x\"y\n"', r"x\"y\n".replace(r"\"", '"')),
        (r"$'a\tb\x41'", "a\tbA"),
        (r"a'b'\"\"c\"d\" ".strip(), 'ab""c"d"'),
        (r"\$x", "$x"),
        ('"$A/x"', "/base/x"),
        ("${A}", "/base"),
        ("${NOWHERE:-/default}/f", "/default/f"),
        ("${A:-/other}", "/base"),
        ('"${NOWHERE:-$A/b}"', "/base/b"),
    ],
)
def test_a_words_value_has_its_quotes_removed_and_constants_put_in(word: str, value: str) -> None:
    assert first(f"A=/base\necho {word}\n", "echo").argv[1].text == value


@pytest.mark.parametrize("word", ["$1", "$(date)", "`date`", "$UNSET", "${A%x}", "$((1+1))", "$LIST"])
def test_what_only_a_run_would_show_is_unknown(word: str) -> None:
    found = first(f"A=/base\nLIST=(1 2)\necho {word}/reward.txt\n", "echo").argv[1]
    assert found.text is None
    assert found.pattern == "*/reward.txt"


def test_a_variable_set_on_two_branches_has_both_values() -> None:
    word = first("r=0\nif pytest; then r=1; fi\necho $r\n", "echo").argv[1]
    assert word.text is None
    assert word.values == {"0", "1"}


def test_the_last_of_two_sure_assignments_counts() -> None:
    assert first("r=0\nr=1\necho $r\n", "echo").argv[1].text == "1"


def test_an_assignment_in_a_subshell_is_gone_behind_it() -> None:
    assert first("r=0\n(r=1)\necho $r\n", "echo").argv[1].text == "0"


def test_a_function_sees_every_assignment_of_the_script() -> None:
    text = "finish() { echo $code; }\ncode=0\ntrap finish EXIT\nrun || code=1\n"
    assert first(text, "echo").argv[1].values == {"0", "1"}


def test_a_prefix_assignment_belongs_to_its_command_alone() -> None:
    text = "X=1 cmd\necho $X\n"
    assert first(text, "cmd").assignments[0].name == "X"
    assert first(text, "echo").argv[1].text is None


def test_a_value_that_refers_to_itself_is_unknown() -> None:
    assert first("P=$P:/x\necho $P\n", "echo").argv[1].text is None


@pytest.mark.parametrize("filled", ["read X", "for X in $(ls); do :; done", "printf -v X %s 1", "X=$(cmd)"])
def test_a_variable_that_a_command_fills_is_unknown(filled: str) -> None:
    assert first(f"X=1\n{filled}\necho $X\n", "echo").argv[1].text is None


@pytest.mark.parametrize(
    ("line", "program", "tool"),
    [
        ("pytest -q", "pytest", "pytest"),
        ("/usr/bin/python3 -m pytest -q", "python3", "pytest"),
        ("sudo -u agent -E env -i A=1 timeout -k 5 60 nice -n 5 pytest", "pytest", "pytest"),
        ("command -v pytest", "command", "command"),
        ("exec python run.py", "python", "python"),
        ("uvx -p 3.13 -w pytest==8.4.1 pytest --ctrf x", "uvx", "pytest"),
        ("uvx pytest@8.4.1", "uvx", "pytest"),
        ("uv run --with a coverage run -m pytest", "uv", "pytest"),
        ("poetry run python -m unittest", "poetry", "unittest"),
        ("python grade.py -m fast", "python", "python"),
        ("npx --yes jest", "npx", "jest"),
        ("time ./check", "check", "check"),
    ],
)
def test_wrappers_and_launchers_are_looked_through(line: str, program: str, tool: str) -> None:
    command = script(line).commands[0]
    assert (command.program, command.tool) == (program, tool)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("python3 -u /tests/grade.py --x", "/tests/grade.py"),
        ("bash -e ./run.sh", "./run.sh"),
        (". lib.sh", "lib.sh"),
        ("/tests/run.sh a", "/tests/run.sh"),
        ("uv run --with x grade.py", "grade.py"),
        ("python3 -m pytest x.py", None),
        ("python3 -c 'x' y.py", None),
        ("python3 - a", None),
        ("ls", None),
    ],
)
def test_the_script_that_a_command_runs(line: str, path: str | None) -> None:
    word = script(line).commands[0].script_word
    assert (word.text if word else None) == path


def test_redirects_carry_operator_descriptor_and_target() -> None:
    redirects = script("a > out 2>&1 < in 2>> err &> all\n").commands[0].redirects
    assert [(r.op, r.fd, r.target.text if r.target else None) for r in redirects] == [
        (">", None, "out"),
        (">&", 2, "1"),
        ("<", None, "in"),
        (">>", 2, "err"),
        ("&>", None, "all"),
    ]
    assert [r.writes for r in redirects] == [True, False, False, True, True]


def test_a_redirect_at_the_end_of_a_chain_belongs_to_its_last_command() -> None:
    commands = script("[ -f x ] && echo 1 > f || echo 0 > f\n").commands
    assert [[r.target.text for r in c.redirects if r.target] for c in commands] == [[], ["f"], ["f"]]
    chain = script("[ -f x ] && echo 1 > f || echo 0 > f\n").root.items[0]
    assert isinstance(chain, AndOr)
    assert chain.operators == ["&&", "||"]
    assert len(chain.items) == 3


def test_a_heredoc_is_a_fragment_in_its_readers_language_and_leads_back_to_the_file() -> None:
    text = "x=1\npython3 - \"$x\" <<'EOF' || exit 3\nimport os\nprint(os)\nEOF\n"
    command = first(text, "python3")
    assert command.heredoc is not None
    assert (command.heredoc.language, command.heredoc.text) == ("python", "import os\nprint(os)\n")
    span = command.heredoc.span(command.heredoc.text.index("print"), command.heredoc.text.index("print") + 5)
    assert (span.line, span.column, span.text) == (4, 1, "print")
    assert command.followed_by is not None
    assert command.followed_by[0] == "||"


def test_tabs_are_stripped_from_a_dashed_heredoc_and_escapes_undone_in_an_unquoted_one() -> None:
    command = first("cat <<-E\n\ta \\$b\n\t\tc\n\tE\n", "cat")
    assert command.heredoc is not None
    assert (command.heredoc.language, command.heredoc.text) == ("text", "a $b\nc\n")
    assert command.heredoc.span(2, 4).text == "$b"


def test_a_pipe_behind_a_heredoc_marker_makes_a_pipeline() -> None:
    tee = first("cat <<E | tee f\nx\nE\n", "tee")
    assert tee.position == 1
    assert tee.pipeline is not None


@pytest.mark.parametrize(
    ("line", "language", "code"),
    [
        ("python3 -c 'import a; print(\"b\")' x", "python", 'import a; print("b")'),
        ('bash -lc "echo \\"hi\\" > f"', "shell", 'echo "hi" > f'),
        ("node -e 'console.log(1)'", "javascript", "console.log(1)"),
        ("trap 'echo 0 > f' EXIT", "shell", "echo 0 > f"),
        ("su agent -c 'run it'", "shell", "run it"),
        ('eval "$cmd"', "shell", "$cmd"),
    ],
)
def test_code_on_the_command_line_is_a_fragment(line: str, language: str, code: str) -> None:
    fragment = script(line).commands[0].inline
    assert fragment is not None
    assert (fragment.language, fragment.text) == (language, code)


@pytest.mark.parametrize(
    "line", ["python3 run.py -c 3", "bash run.sh -c x", "trap - EXIT", "grep -c x f", "python3 -m x"]
)
def test_an_option_of_something_else_is_no_code(line: str) -> None:
    assert script(line).commands[0].inline is None


def test_deep_reaches_the_commands_of_inner_shell_code() -> None:
    text = "trap 'write 0' EXIT\nbash -c 'bash -c \"deepest\"'\nbash <<E\nfrom_heredoc\nE\n"
    names = [c.name for c in script(text).deep()]
    assert {"write", "deepest", "from_heredoc"} <= set(names)


def test_context_of_a_command() -> None:
    text = "if ! a; then b; fi\nc || true\nd && e\n! f\ng &\nh | i\nk() { l; }\nx=$(m)\nwhile n; do o; done\n"
    tested = {c.name for c in script(text).commands if c.in_condition}
    assert tested == {"a", "c", "d", "f", "n"}
    assert first(text, "g").background
    assert first(text, "l").function == "k"
    assert first(text, "m").in_substitution
    assert (first(text, "h").position, first(text, "i").position) == (0, 1)


def test_what_follows_a_pipeline_follows_each_of_its_stages() -> None:
    found = first("a | b || true\n", "a").followed_by
    assert found is not None
    assert (found[0], found[1].span.text) == ("||", "true")


def test_options_are_found_in_every_spelling_and_hold_from_there_on() -> None:
    text = "#!/bin/bash -e\na\nset +e\nb\nset -euo pipefail\nc\n(set +e; d)\ne\n"
    made = script(text)
    state = {c.name: (made.option("errexit", c), made.option("pipefail", c)) for c in made.commands}
    assert state["a"] == (True, False)
    assert state["b"] == (False, False)
    assert state["c"] == (True, True)
    assert state["d"] == (False, True)
    assert state["e"] == (True, True)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("pytest\nx=$?\n", ["pytest"]),
        ("pytest\necho done\nx=$?\n", ["echo done"]),
        ("pytest | tee log\nx=$?\n", ["tee log"]),
        ("set -o pipefail\npytest | tee log\nx=$?\n", ["pytest", "tee log"]),
        ("if pytest; then x=$?; fi\n", ["pytest"]),
        ("if pytest; then :; else x=$?; fi\n", ["pytest"]),
        ("pytest || x=$?\n", ["pytest"]),
        ("out=$(pytest)\nx=$?\n", ["pytest"]),
        ("(cd d; pytest)\nx=$?\n", ["pytest"]),
        ("pytest && true || false\nx=$?\n", ["true", "false"]),
        ("a && b\nx=$?\n", ["a", "b"]),
        ("pytest &\nx=$?\n", []),
        ("if a; then b; else c; fi\nx=$?\n", ["b", "c"]),
        ("f() { x=$?; }\n", []),
    ],
)
def test_whose_status_it_is(text: str, sources: list[str]) -> None:
    made = script(text)
    reader = next(c for c in made.commands if any(a.value and "?" in a.value.variables for a in c.assignments))
    assert [c.span.text for c in made.status_of(reader)] == sources


def test_statement_tree() -> None:
    made = script("if a; then b; elif c; then d; else e; fi\ncase $x in p|q) f;; *) g;; esac\n")
    branch, case = made.root.items
    assert isinstance(branch, If)
    assert isinstance(case, Case)
    assert [c.name for c in branch.commands] == list("abcde")
    assert len(branch.branches) == 2
    assert branch.orelse is not None
    assert case.exhaustive
    assert [[p.raw for p in patterns] for patterns, _ in case.branches] == [["p", "q"], ["*"]]


def test_positions_are_exact_behind_crlf_and_a_byte_order_mark() -> None:
    made = script("\ufeffecho hi\r\nif a; then\r\n  b \\\r\n    c\r\nfi\r\n".encode())
    command = made.commands[-1]
    assert made.error is None
    assert [w.text for w in command.argv] == ["b", "c"]
    assert (command.argv[1].span.line, command.argv[1].span.column) == (4, 5)


def test_positions_are_exact_behind_wide_characters() -> None:
    command = script("echo 'über' \"€$x\" && end\n").commands[-1]
    assert (command.span.column, command.span.text) == (22, "end")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "if [ a; then",
        "echo 'open",
        "${(f)x}",
        "case x in",
        "$( ( (",
        "( " * 3000,
        "a <<E",
        "fi fi fi",
        "\0\1",
    ],
)
def test_no_text_makes_it_fail(text: str) -> None:
    made = script(text)
    for command in made.deep():
        assert command.span.start <= command.span.end


def test_a_syntax_error_is_kept_and_what_can_be_read_is_read() -> None:
    made = script("ok\necho 'open\n")
    assert made.error is not None
    assert "ok" in [c.name for c in made.commands]


def test_a_long_chain_is_no_problem() -> None:
    assert len(script("a && " * 5000 + "b").commands) == 5001
