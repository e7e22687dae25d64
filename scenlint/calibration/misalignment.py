"""Signs that failures are the task's fault and not the agents': signals for a person, never a verdict by themselves.

A good scenario makes agents fail silently and alike, so the same check and the same value alone never hold it up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenlint.calibration.classes import Effect, Ruling
from scenlint.source.regex import regex
from scenlint.task import mutation, trials
from scenlint.task.mapping import map_task
from scenlint.task.model import Task
from scenlint.task.record import CheckResult, TrialRecord

_LEAST = 3  # failures that show a sign
_LOG = 200_000  # characters of an agent's log that are read
_READINGS = regex(
    r"\bambiguous\b|\bcould (?:also )?mean\b|\btwo (?:possible )?(?:readings|interpretations)\b|\bnot specified\b|"
    r"\bI(?:'ll| will)? assume\b|\bassuming (?:that )?the\b|\bunclear whether\b",
    re.IGNORECASE,
)
_RAISED = regex(r"^AssertionError(?:: |$)(?:(?:False is not true|True is not false|unexpectedly None) : )?")
_MILD = frozenset({"M1", "M2"})
_STRONG = frozenset({"M3", "M4", "M7"})


@dataclass(frozen=True)
class Signal:
    """One sign: its name, what it says, and side by side what the brief says, what is checked, what agents made."""

    name: str  # "M1" … "M9"
    text: str
    check: str = ""
    brief: str = ""  # the sentence that the check answers to; "" if there is none
    made: tuple[str, ...] = ()  # what the agents' work was seen to be, from the checks' details


def signals(
    task: Task, rulings: Sequence[Ruling], others: Sequence[TrialRecord] = (), logs: Sequence[Path] = ()
) -> list[Signal]:
    """The signs in an agent's rulings; `others` are trials of other agents and of the deep stage."""
    failed = [r.record for r in rulings if r.effect is Effect.FAILURE]
    failed += [r for r in others if r.experiment is None and r.reward is not None and r.reward < 1 and _solves(r)]
    solved = any(r.effect is Effect.PASS for r in rulings) or any(r.reward == 1.0 and _solves(r) for r in others)
    found = [*_same(task, failed), *_unstated(task, failed)]
    if len(failed) >= 8 and not solved:
        found.append(Signal("M6", f"no agent ever solved it: {len(failed)} genuine failures, no pass"))
    for record in mutation.score([*others]).rejected:
        made = record.experiment
        if made is not None:
            found.append(Signal("M7", f"a change that the brief leaves free was failed: {made.did}", brief=made.reason))
    doubts = [told for log in logs if (told := _doubt(log))]
    if len(doubts) >= 2:
        found.append(
            Signal("M9", f"{len(doubts)} agents' logs weigh two readings of the brief", made=tuple(doubts[:3]))
        )
    return found


def holds_up(found: Sequence[Signal]) -> bool:
    """Whether a person must look before the scenario is admitted."""
    names = {s.name for s in found}
    return bool(names & _STRONG) or (len(names) >= 2 and bool(names - _MILD))


def _solves(record: TrialRecord) -> bool:
    return record.agent not in ("oracle", "nop")


def _wrong(record: TrialRecord) -> list[CheckResult]:
    return trials.wrong(record)


def _same(task: Task, failed: Sequence[TrialRecord]) -> list[Signal]:
    """M1, M2 and M4: one check, one value, several agents."""
    single = [(r, _wrong(r)[0]) for r in failed if len(_wrong(r)) == 1]
    counts = Counter(check.id for _, check in single)
    if not counts:
        return []
    name, seen = counts.most_common(1)[0]
    those = [(r, check) for r, check in single if check.id == name]
    agents = {r.agent for r, _ in those}
    known = trials.known(task, those[0][1]) is not None
    stated = _stated(task, those[0][1]) if known else "(not known: no check of this name was read in the verifier)"
    details = dict.fromkeys(_last(check.detail) for _, check in those if check.detail.strip())
    values = Counter(value for _, check in those if (value := _value(task, check)))
    value, alike = values.most_common(1)[0] if values else ("", 0)
    out = []
    if seen >= _LEAST and len(agents) >= 2:
        text = f"{seen} failures of {len(agents)} agents fail this check alone"
        out.append(Signal("M1", text, name, stated, tuple(details)[:3]))
    if alike >= _LEAST and alike >= 2 / 3 * len(failed):
        out.append(
            Signal("M2", f"{alike} of {len(failed)} failures were seen with the same value", name, stated, (value,))
        )
        agreeing = {r.agent for r, check in those if _value(task, check) == value}
        if len(agreeing) >= 2 and not stated:
            text = f"{len(agreeing)} agents agree with each other, and only the oracle differs"
            out.append(Signal("M4", text, name, stated, (value,)))
    return out


def _last(detail: str) -> str:
    """What a check said: of a traceback the line that ends it."""
    lines = [line for line in detail.splitlines() if line.strip()]
    if lines and lines[0].startswith("Traceback "):
        lines = lines[-1:]
    return " ".join(" ".join(lines).split())


def _value(task: Task, check: CheckResult) -> str:
    """What the check said of the work; "" for a fixed message of the verifier, which every wrong result gets."""
    said = _last(check.detail)
    message = _RAISED.sub("", said)
    fixed = not message or any(message in file.text for file in (task.verifier.files if task.verifier else ()))
    return "" if fixed else said


def _unstated(task: Task, failed: Sequence[TrialRecord]) -> list[Signal]:
    """M3: failures hang on a check whose criterion the brief does not state."""
    counts = Counter(check.id for record in failed for check in _wrong(record))
    out = []
    for name, seen in counts.most_common(3):
        check = next(c for record in failed for c in _wrong(record) if c.id == name)
        known = trials.known(task, check)
        if seen >= _LEAST and known is not None and known in map_task(task).unclaimed:
            details = dict.fromkeys(c.detail for r in failed for c in _wrong(r) if c.id == name and c.detail)
            out.append(
                Signal(
                    "M3",
                    f"{seen} failures of a check that answers to nothing in the brief",
                    name,
                    "",
                    tuple(details)[:3],
                )
            )
    return out


def _stated(task: Task, check: CheckResult) -> str:
    """The criterion of the brief that a check answers to; "" if there is none."""
    known = trials.known(task, check)
    if known is None:
        return ""
    link = next((k for k in map_task(task).links if k.check is known), None)
    return link.criterion.text if link else ""


def _doubt(log: Path) -> str:
    """The line of an agent's log in which it weighs two readings."""
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LOG)
    except OSError:
        return ""
    found = _READINGS.search(text)
    if found is None:
        return ""
    start = text.rfind("\n", 0, found.start()) + 1
    return text[start : text.find("\n", found.end())].strip()[:200]
