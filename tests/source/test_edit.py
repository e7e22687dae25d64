"""Edits of text inside other text: what is written is read back as what was meant, or the edit is refused."""

import ast
import itertools
import json
import tomllib

import pytest
import yaml

from scenlint.source import data
from scenlint.source.edit import respelled
from scenlint.source.edit_python import add_docstring, behind_imports, local_name, set_keyword, with_imports, wrap
from scenlint.source.edit_shell import insert_before, insert_behind, knows_pipefail
from scenlint.source.python import parse
from scenlint.source.shell import parse as parse_shell
from scenlint.source.text import Edit, Fragment, Source

SCRIPT = "import os\n\nfound = os.listdir('/app')\nassert found[0] == \"a\\tb\"  # é 中\n"
ADDED = ["x", " y", "(", "'", '"', "\\n", "#", " #", ": ", "é", "a\nb", "\n", "{", "[", ",", "\t", "% 1", "= 60", "  "]


def literal(indent: str, header: str = "|") -> str:
    return f"check: {header}\n" + "".join(f"{indent}{line}\n" if line else "\n" for line in SCRIPT.splitlines())


HOSTS = {
    "yaml, literal": ("yaml", literal("  "), yaml.safe_load),
    "yaml, literal, deeper": ("yaml", literal("      "), yaml.safe_load),
    "yaml, literal, stripped": ("yaml", literal("  ", "|-"), yaml.safe_load),
    "yaml, literal, stated indentation": ("yaml", literal("  ", "|2"), yaml.safe_load),
    "yaml, folded": ("yaml", literal("  ", ">"), yaml.safe_load),
    "yaml, double quotes": ("yaml", f"check: {json.dumps(SCRIPT)}\nnext: 1\n", yaml.safe_load),
    "yaml, single quotes": ("yaml", "check: 'print(''a'')'\nnext: 1\n", yaml.safe_load),
    "yaml, plain": ("yaml", "check: print(1)\nnext: 1\n", yaml.safe_load),
    "yaml, plain in brackets": ("yaml", "{check: print(1), next: 1}\n", yaml.safe_load),
    "json": ("json", json.dumps({"check": SCRIPT, "next": 1}), json.loads),
    "json, escaped": ("json", json.dumps({"check": SCRIPT, "next": 1}, ensure_ascii=True), json.loads),
    "toml, basic": ("toml", f"check = {json.dumps(SCRIPT)}\nnext = 1\n", tomllib.loads),
    "toml, several lines": (
        "toml",
        f'check = """\n{SCRIPT.replace(chr(92), chr(92) * 2)}"""\nnext = 1\n',
        tomllib.loads,
    ),
    "toml, literal": ("toml", "check = 'print(1)'\nnext = 1\n", tomllib.loads),
    "toml, literal, several lines": (
        "toml",
        f"check = '''\n{SCRIPT.replace(chr(39), '')}'''\nnext = 1\n",
        tomllib.loads,
    ),
}


def fragment_in(tmp_path, language, text):
    source = Source(tmp_path / f"host.{language}", text.encode())
    return data.parse(source.fragment(language)).text("check", language="python")


def applied(source: Source, *edits: Edit) -> str:
    return source.replaced([(e.span.start, e.span.end, e.text) for e in edits]).data.decode()


@pytest.mark.parametrize("name", HOSTS)
def test_an_insertion_anywhere_reads_back_or_is_refused(tmp_path, name):
    language, text, load = HOSTS[name]
    fragment = fragment_in(tmp_path, language, text)
    assert fragment.text == load(text)["check"]
    written = 0
    for at, new in itertools.product(range(len(fragment.text) + 1), ADDED):
        edit = fragment.edit(at, at, new)
        if edit is None:
            continue
        host = applied(fragment.source, edit)
        wanted = fragment.text[:at] + new + fragment.text[at:]
        if is_sensible(name, fragment.text, at, new):
            assert load(host)["check"] == wanted, (at, new, host)
            assert load(host).get("next") == load(text).get("next")
            written += 1
    assert written > 10 or name in ("yaml, literal, stated indentation", "yaml, folded")


def is_sensible(name: str, text: str, at: int, new: str) -> bool:
    """White space at the edge of a YAML line means something else there: no fix puts any."""
    if not name.startswith("yaml"):
        return True
    before, after = text[:at], text[at:]
    edge = not before or before.endswith("\n") or not after or after.startswith("\n")
    return not (edge and (new != new.strip() or not new.strip()))


@pytest.mark.parametrize("name", HOSTS)
def test_a_replacement_within_a_line_reads_back_or_is_refused(tmp_path, name):
    language, text, load = HOSTS[name]
    fragment = fragment_in(tmp_path, language, text)
    for start in range(len(fragment.text)):
        for end in range(start + 1, min(start + 4, len(fragment.text))):
            edit = fragment.edit(start, end, "q")
            if edit is not None and "\n" not in fragment.text[start:end]:
                host = applied(fragment.source, edit)
                assert load(host)["check"] == fragment.text[:start] + "q" + fragment.text[end:]


def test_what_an_escape_stands_for_is_not_replaced(tmp_path):
    fragment = fragment_in(tmp_path, "json", '{"check": "a\\nb\\u0041"}')
    assert fragment.text == "a\nbA"
    assert fragment.edit(1, 2, "x") is None
    assert fragment.edit(3, 4, "x") is None
    assert applied(fragment.source, fragment.edit(2, 3, '"')) == '{"check": "a\\n\\"\\u0041"}'
    assert fragment.edit(4, 4, "x") is None  # behind an escape that ends the text


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_added_to_a_literal_block_keep_its_line_ends_and_mark(tmp_path, mark, ending):
    text = literal("    ").replace("\n", ending)
    source = Source(tmp_path / "host.yaml", mark + text.encode())
    module = parse(data.parse(source.fragment("yaml")).text("check", language="python"))
    edits = [*behind_imports(module, "os.umask(0)"), *wrap(module, next(module.calls("os.listdir")), "sorted(", ")")]
    after = source.replaced([(e.span.start, e.span.end, e.text) for e in edits]).data
    assert after.startswith(mark + b"check: |")
    assert after.count(b"\n") == source.data.count(b"\n") + 2
    assert after.count(b"\r\n") == (after.count(b"\n") if ending == "\r\n" else 0)
    wanted = SCRIPT.replace("import os\n", "import os\n\nos.umask(0)\n").replace(
        "os.listdir('/app')", "sorted(os.listdir('/app'))"
    )
    assert yaml.safe_load(after.decode("utf-8-sig"))["check"] == wanted


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_other_encodings_are_written_back_as_they_were(tmp_path, encoding):
    marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0"}
    data_ = marks[encoding] + "name = 'é😀'\nother = 1\n".encode(encoding)
    source = Source(tmp_path / "x.toml", data_)
    assert source.data == data_
    after = source.replaced([(source.text.index("1"), source.text.index("1") + 1, "é2")])
    assert after.data == marks[encoding] + "name = 'é😀'\nother = é2\n".encode(encoding)


def test_bytes_that_are_no_text_stay(tmp_path):
    source = Source(tmp_path / "x.py", b"a = 1  # \xff\xfe\xe9\nb = 2")
    assert source.replaced([(4, 5, "10")]).data == b"a = 10  # \xff\xfe\xe9\nb = 2"
    assert source.digest


def test_a_file_that_was_not_read_whole_has_no_digest(tmp_path):
    assert Source(tmp_path / "x", b"abc", truncated=True).digest == ""
    assert Source(tmp_path / "x", b"\xff\xfea\x00b").digest == ""  # half a character at the end


def test_respelled_keeps_quotes_and_refuses_what_is_written_otherwise(tmp_path):
    def respell(text: str, old: str) -> str | None:
        source = Source(tmp_path / "x", text.encode())
        edit = respelled(source.span(), old, "new-name")
        return applied(source, edit) if edit else None

    assert respell("old", "old") == "new-name"
    assert respell('"old"', "old") == '"new-name"'
    assert respell("'old'", "old") == "'new-name'"
    assert respell('"\\u006fld"', "old") is None
    assert respelled(None, "old", "new") is None


CALLS = {
    "f()": "f(timeout=3)",
    "f(1)": "f(1, timeout=3)",
    "f((1))": "f((1), timeout=3)",
    "f(1,)": "f(1, timeout=3)",
    "f(*a, **b)": "f(*a, **b, timeout=3)",
    "f('a)', \")\")": "f('a)', \")\", timeout=3)",
    "f(timeout=None)": "f(timeout=3)",
    "f(1, timeout=None, x=2)": "f(1, timeout=3, x=2)",
    "f(\n    1,\n)": "f(\n    1,\n    timeout=3,\n)",
    "f(\n    1,  # one\n)": "f(\n    1,  # one\n    timeout=3,\n)",
    "f(\n    1  # one, two\n)": "f(\n    1, timeout=3  # one, two\n)",
    "f(  # why\n    a=1,\n    # last\n)": "f(  # why\n    a=1,\n    timeout=3,\n    # last\n)",
    "f(g(1), 'é', f'{x}')": "f(g(1), 'é', f'{x}', timeout=3)",
    'f("""\n)\n""")': 'f("""\n)\n""", timeout=3)',
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("text", CALLS)
def test_a_keyword_is_added_where_the_arguments_end(tmp_path, text, ending):
    source = Source(tmp_path / "x.py", f"é = 1\ny = {text}\nz = 2\n".replace("\n", ending).encode())
    module = parse(source.fragment("python"))
    (edit,) = set_keyword(module, next(module.calls("f")), "timeout", "3")
    wanted = CALLS[text]
    if text == "f(1,)":
        wanted = "f(1, timeout=3)"
    after = source.replaced([(edit.span.start, edit.span.end, edit.text)]).data.decode()
    assert after == f"é = 1\ny = {wanted}\nz = 2\n".replace("\n", ending)
    ast.parse(after)


def test_a_sole_generator_gets_no_further_argument(tmp_path):
    module = parse(Source(tmp_path / "x.py", b"y = f(a for a in b)\n").fragment("python"))
    assert set_keyword(module, next(module.calls("f")), "timeout", "3") == [None]


def test_docstrings_stand_before_the_first_statement(tmp_path):
    text = "class T:\n    def test(self):\n        # why\n        assert f()\n\n\ndef test_one(): assert g()\n"
    module = parse(Source(tmp_path / "x.py", text.encode()).fragment("python"))
    method, plain = (n for n in module.nodes if isinstance(n, ast.FunctionDef) and n.name.startswith("test"))
    if method.name == "test_one":
        method, plain = plain, method
    (edit,) = add_docstring(module, method, "What.")
    after = applied(module.fragment.source, edit)
    assert '        # why\n        """What."""\n        assert f()' in after
    assert ast.get_docstring(ast.parse(after).body[0].body[0]) == "What."
    assert add_docstring(module, plain, "What.") == [None]  # its body stands on the line of its head


def test_imports_come_behind_docstring_and_future(tmp_path):
    text = '"""Doc."""\r\n\r\nfrom __future__ import annotations\r\n\r\nimport os\r\n\r\nx = 1'
    after = with_imports(text, ["math", "os"])
    assert after.count("import os") == 1
    assert after.replace("import math\r\n", "") == text
    module = parse(Source(tmp_path / "x.py", b"import math as m\n").fragment("python"))
    assert local_name(module, "math") == ("m", ())
    assert local_name(module, "json") == ("json", ("json",))


def shell(tmp_path, text: str):
    source = Source(tmp_path / "x.sh", text.encode())
    return source, parse_shell(source.fragment("shell"))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_line_goes_before_the_statement_that_begins_a_line(tmp_path, ending):
    text = "#!/bin/bash\nif true; then\n  if a \\\n    | b; then c; fi\nfi\n".replace("\n", ending)
    source, script = shell(tmp_path, text)
    pipe = next(c for c in script.commands if c.name == "b").pipeline
    assert knows_pipefail(pipe)
    after = applied(source, insert_before(pipe, "set -o pipefail"))
    assert after == text.replace("  if a", f"  set -o pipefail{ending}  if a")


def test_a_line_behind_needs_the_end_of_a_line(tmp_path):
    source, script = shell(tmp_path, "a\nb; c\nd <<E\nx\nE\ne && f\n")
    commands = {c.name: c for c in script.commands}
    assert applied(source, insert_behind(commands["a"], "s=$?")).startswith("a\ns=$?\nb; c\n")
    assert insert_behind(commands["b"], "s=$?") is None
    assert insert_behind(commands["d"], "s=$?") is None
    assert insert_behind(commands["e"], "s=$?") is None


def test_text_of_unknown_quoting_takes_plain_words_only(tmp_path):
    source = Source(tmp_path / "x", b"python -c 'f(1)'")
    inner = Fragment(source, "f(1)", "python", [(0, source.text.index("f(1)"))])
    assert applied(source, inner.edit(3, 3, ", timeout=3")) == "python -c 'f(1, timeout=3)'"
    for text in ("'", '"', "$x", "a\nb", "#", "\\", ";"):
        assert inner.edit(3, 3, text) is None
