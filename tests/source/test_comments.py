"""What is a comment in each language, and how far the statements below and before one go."""

from pathlib import Path

import pytest

from scenlint.source.comments import layout
from scenlint.source.text import Source

MANY_QUOTES = '"""'


def read(language: str, text: str, style: str = "#"):
    return layout(Source(Path("file"), text.encode()).fragment(language), style)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("language", "style", "text", "comments"),
    [
        ("python", "#", "x = '# no'  # yes\ny = f'{x} # no'\n", ["# yes"]),
        ("python", "#", f"{MANY_QUOTES}\n# no\n{MANY_QUOTES}\n\f# yes\n", ["# yes"]),
        ("python", "#", "if (\n    # yes\n", ["# yes"]),
        ("python", "#", "x = 1 # one\ny = '''\n# two\n", ["# one", "# two"]),
        ("shell", "#", "echo '# no' \"# no\" a#no # yes\n", ["# yes"]),
        ("shell", "#", "cat > notes <<EOF\n# no\nEOF\n# yes\n", ["# yes"]),
        ("shell", "#", "python3 - <<'EOF'\nx = '# no' # yes\nEOF\n", ["# yes"]),
        ("shell", "#", "bash -c 'true # yes'\n", ["# yes"]),
        ("dockerfile", "#", "FROM a\nRUN echo '# no' \\\n  # one\n  && true # two\n", ["# one", "# two"]),
        ("dockerfile", "#", "FROM a\nCOPY <<EOF /notes\n# no\nEOF\n# yes\n", ["# yes"]),
        ("dockerfile", "#", "FROM a\nRUN <<EOF\ncat <<X\n# no\nX\n# yes\nEOF\n", ["# yes"]),
        ("yaml", "#", "a: '# no'\nb: x#no # yes\nc: |\n  # no\n", ["# yes"]),
        ("yaml", "#", "a: | # yes\n  # no\nb: [1, # two\n  2]\n", ["# yes", "# two"]),
        ("yaml", "#", "a: 1 # one\nb: 'x\n# two\n", ["# one", "# two"]),
        ("toml", "#", 'a = "# no" # yes\nb = """\n# no\n"""\n', ["# yes"]),
        ("markdown", "<!--", "<!-- yes -->\n\n```\n<!-- no -->\n```\n", ["<!-- yes -->"]),
        ("javascript", "//", "x = '// no' // one\ny = `// no` /* two */\n", ["// one", "/* two */"]),
        ("sql", "--", "select '-- no' -- yes\n", ["-- yes"]),
    ],
)
def test_only_what_the_language_takes_for_one_is_a_comment(language, style, text, comments, end):
    found = read(language, text.replace("\n", end), style).comments
    assert sorted(c.text for c in found) == sorted(comments)
    assert sorted(c.span().text for c in found) == sorted(comments)


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("python", "f(\n  1,\n)\nx = 1\n", {(1, 3), (4, 4)}),
        ("python", "def f(\n    a,\n):\n    return 1\n", {(1, 3), (4, 4)}),
        ("shell", "pip install a \\\n  b\ntrue\n", {(1, 2), (3, 3)}),
        ("shell", "if a; then\n  b \\\n c\nfi\n", {(1, 1), (2, 3)}),
        ("dockerfile", "FROM a\nRUN x \\\n  # why\n  && y\nENV A=1\n", {(1, 1), (2, 4), (5, 5)}),
        ("dockerfile", "FROM a\nRUN <<EOF\nx\ny\nEOF\nUSER b\n", {(1, 1), (2, 5), (6, 6)}),
        ("yaml", "a: |\n  x\n  y\nb: [1,\n  2]\n", {(1, 3), (4, 5)}),
        ("toml", "a = [\n  1,\n]\nb = 2\n", {(1, 3), (4, 4)}),
        ("markdown", "one\ntwo\n\n- three\n  four\n- five\n", {(1, 2), (4, 5), (6, 6)}),
    ],
)
def test_statements_go_as_far_as_their_language_says(language, text, lines):
    found = {(s.line, s.end_line) for s in read(language, text, "<!--" if language == "markdown" else "#").statements}
    assert lines <= found
    widest = {first: max(last for begin, last in found if begin == first) for first, _ in found}
    assert all(widest[first] == last for first, last in lines)
