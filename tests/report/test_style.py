"""Colour switches and streams of any encoding."""

import io
import os
import subprocess
import sys

import pytest

from scenlint.report.style import wants_color, write


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"CLICOLOR": "0"}, False, False),
    ],
)
def test_color_follows_the_environment(environment, terminal, pipe):
    assert wants_color(Terminal(), environment) is terminal
    assert wants_color(io.StringIO(), environment) is pipe


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "utf-16"])
def test_write_never_fails(encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    write("‘é’ 日 😀 \udcff\n", stream)
    shown = raw.getvalue().decode(encoding)
    assert shown == {
        "ascii": "\\u2018\\xe9\\u2019 \\u65e5 \\U0001f600 \\udcff\n",
        "cp1252": "‘é’ \\u65e5 \\U0001f600 \\udcff\n",
    }.get(encoding, "‘é’ 日 😀 \\udcff\n")


def test_every_format_survives_a_c_locale(desk):
    desk.add(desk.span("日本/b\udcff", "“日” 😀 X\n".encode() + b"\xff", "X"), "“quoted” 😀 \udcff")
    code = (
        "import pickle, sys; from scenlint.report import FORMATS, render, write\n"
        "report = pickle.load(sys.stdin.buffer)\n"
        "for name in FORMATS: write(render(report, name, encoding=sys.stdout.encoding))\n"
    )
    import pickle

    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(desk.report), capture_output=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.isascii()
    assert b"\\u201cquoted\\u201d" in done.stdout
