"""Environment variables that Python code reads: which, under what names, and whether it can do without."""

from pathlib import Path

import pytest

from scenlint.source.environ import env_reads
from scenlint.source.environ_use import is_used
from scenlint.source.python import PyModule, parse
from scenlint.source.text import Fragment, Source


def module(code: str) -> PyModule:
    return parse(Fragment.of(Source(Path("verify.py"), code.encode()), "python"))


def reads(code: str) -> dict[str, bool]:
    """The variables read, and whether the code can do without each."""
    return {r.name: r.fallback for r in env_reads(module("import os, sys\n" + code)).reads}


@pytest.mark.parametrize(
    "code",
    [
        "os.environ['A']",
        "os.environ.get('A')",
        "os.getenv('A')",
        "os.getenv('A', None)",
        "from os import environ\nx = environ['A']",
        "from os import getenv as g\nx = g('A')",
        "env = os.environ\nx = env['A']",
        "env = dict(os.environ)\nx = env.get('A')",
        "NAME = 'A'\nx = os.environ[NAME]",
        "x = os.environ['a'.upper()]",
        "app = 'A'\nx = os.environ[f'{app}']",
        "for name in ['A']:\n    x = os.environ[name]",
        "for label, name in (('one', 'A'),):\n    if not os.getenv(name):\n        sys.exit(1)",
        "missing = [n for n in ('A',) if not os.environ.get(n)]",
        "def need(name):\n    v = os.getenv(name)\n    if not v:\n        sys.exit(1)\n    return v\nx = need('A')",
        "def need(name, default=None):\n    return os.environ.get(name, default)\nx = need('A')",
        "def need(*, other, name): ...\ndef get(name):\n    return os.environ[name]\nx = get(name='A')",
        "try:\n    x = os.environ['A']\nexcept KeyError:\n    raise SystemExit('set A')",
    ],
)
def test_a_variable_that_is_needed(code):
    assert reads(code) == {"A": False}


@pytest.mark.parametrize(
    "code",
    [
        "os.environ.get('A', 'localhost')",
        "os.getenv('A', default=compute())",
        "os.getenv('A') or 'x'",
        "x = os.getenv('A')\ny = x or 'other'",
        "x = os.getenv('A')\nif not x:\n    x = 'other'",
        "x = os.getenv('A') if os.getenv('A') else 'other'",
        "x = os.environ['A'] if 'A' in os.environ else 'other'",
        "try:\n    x = os.environ['A']\nexcept KeyError:\n    x = 'other'",
        "for name in ('A',):\n    if os.getenv(name):\n        x = os.getenv(name)\n        break",
        "def get(name, default):\n    return os.environ.get(name, default)\nx = get('A', 'other')",
    ],
)
def test_a_variable_that_the_code_can_do_without(code):
    assert reads(code) == {"A": True}


def test_an_empty_default_is_told_apart():
    (read,) = env_reads(module("import os\nx = os.getenv('A', '')")).reads
    assert (read.fallback, read.empty) == (False, True)


def test_names_that_only_a_run_shows_leave_the_list_open():
    assert env_reads(module("import os, sys\nx = os.environ[sys.argv[1]]")).open
    assert not env_reads(module("import os\nx = os.environ['A']")).open


def test_a_read_is_placed_at_the_name():
    (read,) = env_reads(module("import os\nfor n in (\n    'A',\n):\n    os.environ[n]\n")).reads
    assert (read.span.text, read.span.line) == ("'A'", 3)


CHECK = "def check(ok):\n    print(ok, file=sys.stderr)\n"


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("check(fetch(os.environ['A']))", True),
        ("X = os.environ['A']\ncheck(fetch(X))", True),
        ("X = os.environ['A']\nif not X:\n    sys.exit(1)", False),
        ("X = os.environ['A']\nfor n, v in [('A', X)]:\n    if not v:\n        print(n)\n        sys.exit(1)", False),
        ("X = os.environ['A']\ndef unused():\n    fetch(X)", False),
        ("X = os.environ['A']\ndef used():\n    fetch(X)\ndef main():\n    used()\nmain()", True),
        ("X = os.environ['A']\nURL = f'http://{X}'\ndef used():\n    return fetch(URL)\ncheck(used())", True),
        ("X = os.environ['A']\nURL = f'http://{X}'\n", False),
        ("X = os.environ['A']\nCHECKS = [lambda: fetch(X)]\nfor c in CHECKS:\n    check(c())", True),
        ("class Shop:\n    def __init__(self):\n        self.port = os.environ['A']\ncheck(Shop())", True),
        ("class Shop:\n    def pay(self):\n        fetch(os.environ['A'])\ncheck(Shop())", False),
        ("@register\ndef listed():\n    fetch(os.environ['A'])", True),
        ("def test_it():\n    fetch(os.environ['A'])", True),
        ("env = {n: os.environ[n] for n in ('A', 'B')}\ncheck(fetch(env['B']))", False),
        ("env = {n: os.environ[n] for n in ('A', 'B')}\ncheck(fetch(env['A'], env.get('B')))", True),
        ("env = {n: os.environ[n] for n in ('A', 'B')}\ncheck(fetch(**env))", True),
        ("env = {}\nfor n in ('A', 'B'):\n    env[n] = os.getenv(n)\ncheck(fetch(env['B']))", False),
        ("X = os.environ['A']\ncheck(eval('fetch(X)'))", True),
        ("val = os.environ['A']\ndef other():\n    val = 2\n    check(val)\nother()", False),
    ],
)
def test_whether_a_value_reaches_the_result(code, used):
    found = module(f"import os, sys\n{CHECK}{code}\n")
    read = next(r for r in env_reads(found).reads if r.name == "A")
    assert is_used(found, read) is used
