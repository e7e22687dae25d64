"""Reads what a verifier left as two verdicts: what the evidence bears, and what the format's own harness would record.

`read` is a pure function of recorded outputs. What was cut is never parsed, and no verdict is never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scenlint.harness.environment import Environment, Ran
from scenlint.harness.verdict import exit_status, json_line, packet, point_lines, reward_file, test_summary
from scenlint.harness.verdict.model import REWARD_LIMIT, Reading
from scenlint.task.plan import Check, Reader, Step, Verify
from scenlint.task.record import CheckResult, Verdict

__all__ = ["Reading", "read", "read_step"]

_READERS: Mapping[Reader, Callable[[Verify, Sequence[tuple[Check, Ran]], Mapping[str, bytes | None]], Reading]] = {
    Reader.REWARD_FILE: reward_file.read,
    Reader.TEST_SUMMARY: test_summary.read,
    Reader.POINT_LINES: point_lines.read,
    Reader.EXIT_STATUS: exit_status.read,
    Reader.JSON_LINE: json_line.read,
    Reader.PACKET: packet.read,
}


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    """Both verdicts on one step. `ran`: its checks and how they ended; `rewards`: what lay at its verdict paths.

    Where the two verdicts differ, `differs` says why, and the harness's verdict carries it as its reason.
    """
    reading = _READERS[verify.reader](verify, ran, rewards)
    if reading.differs:
        reading.harness.reason = reading.differs
    return reading


def read_step(
    step: Step, ran: Sequence[tuple[Check, Ran]], environment: Environment
) -> tuple[Verdict, Verdict, list[CheckResult]]:
    """`read` for a trial: the reward files are taken from the environment, once, after the verifier has ended."""
    rewards = {path: environment.read(path, REWARD_LIMIT + 1) for path in step.verify.verdict_paths}
    reading = read(step.verify, ran, rewards)
    return reading.strict, reading.harness, reading.checks
