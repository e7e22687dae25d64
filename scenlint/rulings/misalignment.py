"""Signs that failures are the task's fault and not the agents': signals for a person, never a verdict by themselves.

A good scenario makes agents fail silently and alike, so the same check and the same value alone never hold it up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from scenlint.rulings import seen
from scenlint.rulings.calibrations import attempts, looked_into, rulings
from scenlint.rulings.classes import Effect
from scenlint.rulings.inversion import inversion
from scenlint.source.regex import regex
from scenlint.stats import NotEnoughError
from scenlint.task import mutation, trials
from scenlint.task.checks.model import Check
from scenlint.task.mapping import map_task
from scenlint.task.model import Task
from scenlint.task.oracle_only import oracle_only
from scenlint.task.record import CheckResult, TrialRecord

_LEAST = 3  # failures that show a sign
_NEVER = 8  # failures without a pass
_TELLING = 8  # characters of a check's label that are no chance in what a grader printed
_READINGS = regex(
    r"\bambiguous\b|\bcould (?:also )?mean\b|\btwo (?:possible )?(?:readings|interpretations)\b|\bnot specified\b|"
    r"\bI(?:'ll| will)? assume\b|\bassuming (?:that )?the\b|\bunclear whether\b",
    re.IGNORECASE,
)
_MILD = frozenset({"M1", "M2", "M10"})
_STRONG = frozenset({"M3", "M4", "M7"})


@dataclass(frozen=True)
class Signal:
    """One sign: its name, what it says, and side by side what the brief says, what is checked, what agents made."""

    name: str  # "M1" … "M10"
    text: str
    check: str = ""
    brief: str = ""  # the sentence that the check answers to; "" if there is none
    made: tuple[str, ...] = ()  # what the agents' work was seen to be, from the checks' details
    trials: tuple[str, ...] = ()  # ids of trials that show it


def signals(task: Task, records: Sequence[TrialRecord]) -> list[Signal]:
    """The signs in all trials of a task as it stands; none where a person has looked into them already."""
    if looked_into(records):
        return []
    ruled = [r for own in rulings(records).values() for r in own]
    failed = [r.record for r in ruled if r.effect is Effect.FAILURE]
    found = [*_same(task, failed), *_unstated(task, failed), *_inverted(records), *_errors(task, failed)]
    if len(failed) >= _NEVER and not any(r.effect is Effect.PASS for r in ruled):
        text = f"no agent ever solved it: {len(failed)} genuine failures, no pass"
        found.append(Signal("M6", text, trials=_ids(failed)))
    found += _rejected(records)
    if len(failed) >= _LEAST:
        found += [
            Signal("M8", f"the solution uses {what}, which neither the brief nor the image has", made=(line,))
            for what, line in oracle_only(task)
        ]
    return sorted([*found, *_doubts(records)], key=lambda s: int(s.name[1:]))


def holds_up(found: Sequence[Signal]) -> bool:
    """Whether a person must look before the scenario is admitted."""
    names = {s.name for s in found}
    return bool(names & _STRONG) or (len(names) >= 2 and bool(names - _MILD))


def beside(sign: Signal) -> Iterator[str]:
    """Side by side: what is checked, what the brief says of it, what the agents' work was seen to be."""
    if sign.check:
        yield f"check: {sign.check}"
    if sign.check or sign.brief:
        yield f"brief: {sign.brief or 'nothing that the check answers to'}"
    yield from (f"seen:  {made}" for made in sign.made)


def doubt(log: str) -> str:
    """The line of an agent's log in which it weighs two readings of the brief; "" where there is none."""
    found = _READINGS.search(log)
    if found is None:
        return ""
    start, end = log.rfind("\n", 0, found.start()) + 1, log.find("\n", found.end())
    return log[start : end if end >= 0 else len(log)].strip()[:200]


def _ids(records: Iterable[TrialRecord]) -> tuple[str, ...]:
    return tuple(r.id for r in records)


def _same(task: Task, failed: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M1, M2 and M4: one check, one value, several agents."""
    single = [(r, wrong[0]) for r in failed if len(wrong := _wrong(task, r)) == 1]
    counts = Counter(check.id for _, check in single)
    if not counts:
        return
    name, times = counts.most_common(1)[0]
    those = [(r, check) for r, check in single if check.id == name]
    agents = {r.agent for r, _ in those}
    known = _known(task, those[0][1]) is not None
    stated = _stated(task, those[0][1]) if known else "(not known: no check of this name was read in the verifier)"
    details = dict.fromkeys(seen.last(check.detail) for _, check in those if check.detail.strip())
    values = Counter(value for _, check in those if (value := _value(task, check)))
    value, alike = values.most_common(1)[0] if values else ("", 0)
    if times >= _LEAST and len(agents) >= 2:
        text = f"{times} failed trials of {len(agents)} agents failed at this check alone"
        yield Signal("M1", text, name, stated, tuple(details)[:3], _ids(r for r, _ in those))
    if alike >= _LEAST and alike >= 2 / 3 * len(failed):
        same = [r for r, check in those if _value(task, check) == value]
        text = f"{alike} of {len(failed)} failures were seen with the same value"
        if near := seen.near_miss(value):
            text += f", a near miss: it differs in {near} only"
        yield Signal("M2", text, name, stated, (value,), _ids(same))
        agreeing = {r.agent for r in same}
        if len(agreeing) >= 2 and not stated:
            text = f"{len(agreeing)} agents agree with each other, and only the oracle differs"
            yield Signal("M4", text, name, stated, (value,), _ids(same))


def _wrong(task: Task, record: TrialRecord) -> list[CheckResult]:
    """The checks that failed; of a grader that lists its tests these alone."""
    wrong = trials.wrong(record)
    graders = {PurePosixPath(g.name).name for g in task.verifier.graders} if task.verifier else set()
    return [c for c in wrong if PurePosixPath(c.id).name not in graders] or wrong


def _errors(task: Task, failed: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M10: a check runs into an error over what agents hand in, instead of judging it."""
    wrong = [
        (r, check, name) for r in failed for check in _wrong(task, r) if (name := seen.error(seen.last(check.detail)))
    ]
    for (check, name), times in Counter((check.id, name) for _, check, name in wrong).most_common(1):
        those = [(r, c) for r, c, error in wrong if (c.id, error) == (check, name)]
        if times >= _LEAST:
            details = tuple(dict.fromkeys(seen.last(c.detail) for _, c in those))[:3]
            text = f"{times} failures are a {name} of the check itself, which no work should bring about"
            yield Signal("M10", text, check, _stated(task, those[0][1]), details, _ids(r for r, _ in those))


def _value(task: Task, check: CheckResult) -> str:
    """What the check said of the work; "" for a fixed message of the verifier, which every wrong result gets."""
    said = seen.last(check.detail)
    told = seen.message(said)
    fixed = not told or any(told in file.text for file in (task.verifier.files if task.verifier else ()))
    return "" if fixed else said


def _unstated(task: Task, failed: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M3: failures hang on a check whose criterion the brief does not state."""
    wrong = [(r, check) for r in failed for check in _wrong(task, r)]
    for name, times in Counter(check.id for _, check in wrong).most_common(3):
        those = [(r, check) for r, check in wrong if check.id == name]
        known = _known(task, those[0][1])
        if times >= _LEAST and known is not None and known in map_task(task).unclaimed:
            details = dict.fromkeys(seen.last(check.detail) for _, check in those if check.detail)
            text = f"{times} failures of a check that answers to nothing in the brief"
            yield Signal("M3", text, name, "", tuple(details)[:3], _ids(r for r, _ in those))


def _inverted(records: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M5: stronger agents do worse."""
    try:
        found = inversion(records)
    except NotEnoughError:
        return
    if found is not None:
        made = (str(found.weak), str(found.strong))
        yield Signal("M5", f"stronger agents do worse: {found.told}", made=made)


def _rejected(records: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M7: a change of the oracle's work that the brief leaves free was failed."""
    for record in mutation.score(records).rejected:
        if made := record.experiment:
            wrong = trials.wrong(record)
            yield Signal(
                "M7",
                f"a change that the brief leaves free was failed: {made.did}",
                wrong[0].id if wrong else "",
                made.reason,
                tuple(dict.fromkeys(seen.last(c.detail) for c in wrong if c.detail))[:3],
                (record.id,),
            )


def _doubts(records: Sequence[TrialRecord]) -> Iterator[Signal]:
    """M9: agents weigh two readings of the brief."""
    found = [(r, r.experiment.evidence) for r in attempts(records) if r.experiment and r.experiment.evidence]
    if len(found) >= 2:
        made = tuple(dict.fromkeys(line for _, line in found))[:3]
        text = f"the logs of {len(found)} trials weigh two readings of the brief"
        yield Signal("M9", text, made=made, trials=_ids(r for r, _ in found))


def _known(task: Task, check: CheckResult) -> Check | None:
    """The check as it was read in the verifier: by its name, or of a whole grader by what it printed."""
    if found := trials.known(task, check):
        return found
    said = seen.last(check.detail)
    printed = [c for c in task.checks if len(c.label) >= _TELLING and c.label in said]
    return printed[0] if len(printed) == 1 else None


def _stated(task: Task, check: CheckResult) -> str:
    """The criterion of the brief that a check answers to; "" if there is none."""
    known = _known(task, check)
    link = next((k for k in map_task(task).links if k.check is known), None) if known is not None else None
    return link.criterion.text if link else ""
