"""What readers of verdicts share: the two readings, why a command gave no verdict, a check with its evidence."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field

from scenlint.harness.environment import LOG_LIMIT, Ran
from scenlint.task.plan import Check
from scenlint.task.record import CheckResult, Verdict

REWARD_LIMIT = 64 * 1024  # bytes of a reward file
_DETAIL = 4000  # characters of evidence for one check


@dataclass
class Reading:
    """The two verdicts, the checks behind them, and why the verdicts differ ("" where they do not)."""

    strict: Verdict
    harness: Verdict
    checks: list[CheckResult] = field(default_factory=list)
    differs: str = ""


def none(reason: str, *, invalid: bool = False) -> Verdict:
    """No verdict, which is not zero. `invalid`: something was handed in as the reward, and it is none."""
    return Verdict(None, reason=reason, confidence="low", invalid=invalid)


def both_none(reason: str, checks: Iterable[CheckResult] = ()) -> Reading:
    """Neither reading has a verdict."""
    return Reading(none(reason), none(reason), list(checks))


def broken(ran: Ran) -> str:
    """Why a command's end says nothing about the work: out of time, killed, or more output than is kept; else ""."""
    if ran.timed_out:
        return f"ran out of time after {ran.duration:.0f} s"
    if ran.exit_code is None:
        return "did not end by itself"
    if 128 < ran.exit_code < 160:
        return f"was ended by {_signal(ran.exit_code - 128)}"
    if is_cut(ran):
        return f"printed more than {LOG_LIMIT // 1024**2} MB, so its output is not complete"
    return ""


def is_cut(ran: Ran) -> bool:
    """Whether a stream lost bytes at the limit: then nothing may be read from it."""
    return len(ran.stdout) >= LOG_LIMIT or len(ran.stderr) >= LOG_LIMIT


def not_run(ran: Ran) -> str:
    """Why a command never did its work: it cannot be found or cannot be executed; else ""."""
    match ran.exit_code:
        case 127:
            return "was not found (exit status 127)"
        case 126:
            return "cannot be executed (exit status 126)"
    return ""


def finite(number: float) -> bool:
    """Whether a number is finite and fits into a float."""
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer of JSON knows no bounds
        return False


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def excerpt(text: str, limit: int = _DETAIL) -> str:
    """Head and tail of a text."""
    text = text.strip()
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n[… {len(text) - limit} characters cut …]\n{text[-half:]}"


def result(check: Check, ran: Ran, passed: bool | None, detail: str = "") -> CheckResult:
    """A check with its evidence: the command, what it printed and how long it took."""
    return CheckResult(
        check.id,
        passed,
        label=check.kind,
        weight=check.weight,
        required=check.required,
        detail=excerpt("\n".join(filter(None, (detail, ran.output)))),
        command=_shown(check),
        duration=ran.duration,
    )


def _shown(check: Check) -> str:
    """The command as people write it: a shell line without the shell around it."""
    argv = check.command.argv
    if len(argv) > 2 and argv[-2] in ("-c", "-lc", "-ec"):
        return argv[-1]
    return " ".join(argv)
