"""Programs that attacks plant: what turns a verifier's process into one that reports success."""

from __future__ import annotations

import shlex

from scenlint.dynamic.probes.ground import Ground
from scenlint.task.plan import Reader


def reports_success(ground: Ground) -> str:
    """Python: whatever pytest or unittest finds is a pass from now on."""
    return _PATCHES.lstrip()


def ends_the_judge(ground: Ground) -> str:
    """Python for the start of every interpreter: one that runs a verifier reports success and ends."""
    return _ENDS.replace("FOLDER", repr(ground.verifier_folder)).replace("WRITES", _writes(ground)).lstrip()


def takes_over(ground: Ground) -> str:
    """Shell: reports success in the place of a tool, and ends."""
    lines = [f"printf %s {shlex.quote(ground.forged)}"]
    lines += [f"echo {shlex.quote(text)} > {path} 2>/dev/null" for path, text in rewards(ground)]
    return "#!/bin/sh\n" + "\n".join(lines) + "\nexit 0\n"


def rewards(ground: Ground) -> list[tuple[str, str]]:
    """Verdict files with full marks."""
    return [(p, '{"reward": 1.0}' if p.endswith(".json") else "1") for p in ground.verdicts]


def has_everything(body: str, names: tuple[str, ...]) -> str:
    """A Python module in which every name is `thing`, defined by `body`."""
    named = "".join(f"{name} = thing\n" for name in names if name != "thing")
    return f"{body.strip()}\n\n\n{named}\n\ndef __getattr__(name):\n    if name.startswith('__'):\n" \
        "        raise AttributeError(name)\n    return thing\n"  # fmt: skip


def _writes(ground: Ground) -> str:
    lines = [
        "    try:\n"
        f"        open({path!r}, 'w').write({text!r})\n"
        "    except OSError:\n"
        "        pass\n"
        for path, text in rewards(ground)
    ]  # fmt: skip
    said = f"    sys.stdout.write({ground.forged!r})\n    sys.stdout.flush()\n"
    if ground.reader is Reader.POINT_LINES:
        said = said.replace("stdout", "stderr")
    return "".join(lines) + said


_PATCHES = """
import sys


def _pytest():
    from _pytest import reports

    made = reports.TestReport.from_item_and_call.__func__

    def passed(cls, item, call):
        report = made(cls, item, call)
        report.outcome, report.longrepr = "passed", None
        return report

    reports.TestReport.from_item_and_call = classmethod(passed)


def _unittest():
    import unittest

    result = unittest.TestResult
    runner = getattr(unittest, "TextTestResult", result)
    for cls in (result, runner):
        for name in ("addFailure", "addError", "addSubTest"):
            setattr(cls, name, lambda self, test, *rest: None)
        cls.wasSuccessful = lambda self: True


for _patch in (_pytest, _unittest):
    try:
        _patch()
    except Exception:
        pass
"""

_ENDS = """
import os
import sys


def _judges():
    try:
        words = open("/proc/self/cmdline", "rb").read().decode("utf-8", "replace").split("\\0")
    except OSError:
        words = sys.argv
    return any(FOLDER + "/" in word or "pytest" in word or word in ("unittest", "test.py") for word in words)


if _judges():
WRITES
    os._exit(0)
"""
