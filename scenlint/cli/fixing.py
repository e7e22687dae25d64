"""What `scenlint check --fix` and `--diff` print, and what `scenlint pin` shares with them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenlint.lint.fix import Fixed
    from scenlint.report.model import Report


def fix(check: Callable[[], Report], *, unsafe: bool) -> Report:
    """Fix what can be fixed; the report of what remains says what was done."""
    from scenlint.lint.fix import fix

    report, done = fix(check, unsafe=unsafe)
    report.fixed = dict(done.rules)
    say(done)
    return report


def preview(check: Callable[[], Report], *, unsafe: bool) -> int:
    """Print what `--fix` would change, and return the exit status: 1 where there is something."""
    from scenlint.lint.fix import plan

    report = check()
    done = plan(report.findings, unsafe=unsafe)
    show(done)
    if done.later:
        print(f"scenlint: {done.later} more overlap these and come in a further round of --fix", file=sys.stderr)
    return faults(report) or (1 if done.files else 0)


def faults(report: Report) -> int:
    """Say why nothing can be said of the tasks; the exit status that this means, 0 where there is no such reason."""
    for message in [*(f"{path}: no such file or folder" for path in report.missing), *report.crashes]:
        print(f"scenlint: {message}", file=sys.stderr)
    if not report.tasks and not report.missing:
        print("scenlint: no task here", file=sys.stderr)
    return 2 if report.missing or report.crashes else 3 if not report.tasks else 0


def show(done: Fixed) -> None:
    """Print the difference, without secrets and without what disturbs a terminal."""
    from scenlint.lint.fix import diff
    from scenlint.report.style import write
    from scenlint.source.secrets import redact

    text = redact(diff(done, Path.cwd()))
    write(re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", text))
    say(done)


def say(done: Fixed) -> None:
    """What was not fixed, and why."""
    from scenlint.report.style import visible, write

    for message in done.refused:
        write(f"scenlint: not fixed: {visible(message)}\n", sys.stderr)
