"""Texts that a grammar needs quadratic time for are given up, and never taken for clean."""

from pathlib import Path

import pytest

from scenlint.source import dockerfile, patient, shell
from scenlint.source.text import Source


@pytest.mark.parametrize("unit", [")", ")(", "<<", "<<A\n", "$)"])
def test_a_script_that_takes_too_long_is_broken(monkeypatch, unit):
    monkeypatch.setattr(patient, "PATIENCE", 0.1)
    script = shell.parse(Source(Path("a.sh"), b"set -e\n" + unit.encode() * 40_000).fragment("shell"))
    assert script.error is not None
    assert script.commands == []


def test_a_dockerfile_that_takes_too_long_has_a_problem(monkeypatch):
    monkeypatch.setattr(patient, "PATIENCE", 0.1)
    source = Source(Path("Dockerfile"), b"FROM a\nRUN x\nRUN " + b"<<" * 40_000)
    assert dockerfile.parse(source.fragment("dockerfile")).problems


def test_zero_bytes_hold_up_nobody():
    script = shell.parse(Source(Path("a.sh"), b"set -e\n" + b"\0" * 1_000_000 + b"\necho hi\n").fragment("shell"))
    assert [command.words[0].text for command in script.commands] == ["set", "echo"]
