"""What was decided about the changed lines of a diff: appended to the run's audit record, never taken out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line knows the words, and is not to load what compares
    from scenlint.grading.audit import Chain
    from scenlint.grading.diff import Diff, Line


class Disposition(StrEnum):
    """What can be decided about a changed line."""

    ACCEPTED = "accepted"  # it is as it should be: an improvement, or a price that is paid knowingly
    REGRESSION = "regression"  # the agent has become worse: this run does not pass
    FLAKE = "flake"  # chance or an unsteady scenario
    ENVIRONMENT = "environment"  # the scenario or its surroundings changed, not the agent
    INVESTIGATING = "investigating"  # nobody knows yet

    @property
    def passes(self) -> bool:
        """Whether the audit passes with it."""
        return self not in (Disposition.REGRESSION, Disposition.INVESTIGATING)


@dataclass(frozen=True)
class Decision:
    """A decision about one line of a diff."""

    baseline: str  # the baseline's run
    line: str  # its name: `SCENARIO:KIND`
    digest: str  # of what the line said
    disposition: Disposition
    reason: str
    role: str  # of who decided: "maintainer", "reviewer" …
    at: str = ""  # ISO 8601, UTC


def find(diff: Diff, named: str) -> list[Line]:
    """The changed lines of `SCENARIO[:LINE]`, where SCENARIO is a key, a task's name, `suite` or a pattern of these.

    ValueError where there are none, or a task's name is that of several scenarios.
    """
    from scenlint.grading.diff import Kind

    scenario, _, kind = named.rpartition(":")
    if not scenario or kind not in list(Kind):
        scenario, kind = named, "*"
    of_kind = [line for line in diff.lines if fnmatchcase(line.kind, kind)]
    if lines := [line for line in of_kind if _is(line.scenario, scenario)]:
        return lines
    lines = [line for line in of_kind if line.task and _is(line.task, scenario)]
    keys = sorted({line.scenario for line in lines if line.task == scenario})
    if len(keys) > 1:
        raise ValueError(f"`{scenario}` is the task of {', '.join(keys)}: name one of these")
    if not lines:
        raise ValueError(f"no changed line is called `{named}`; there are {_named(diff.lines)}")
    return lines


def _is(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _named(lines: Sequence[Line]) -> str:
    shown = ", ".join(f"`{line.name}`" for line in lines[:5])
    return (shown + (f" and {len(lines) - 5} more" if len(lines) > 5 else "")) or "none"


def decide(
    chain: Chain, baseline: str, lines: Sequence[Line], disposition: Disposition, reason: str, role: str
) -> list[Decision]:
    """Record a decision about some lines; ValueError without a reason or a role."""
    if not reason.strip() or not role.strip():
        raise ValueError("a disposition needs a reason, and the role of who decides")
    out = []
    for line in lines:
        made = Decision(baseline, line.name, line.digest, disposition, reason.strip(), role.strip())
        told = {k: v for k, v in asdict(made).items() if k != "at"}
        written = chain.append("disposition", told | {"text": line.text})
        out.append(_decision(told, written.at))
    return out


def history(chain: Chain, baseline: str) -> list[Decision]:
    """Every decision about a diff against this baseline, in the order in which they were made."""
    return [made for made in every(chain) if made.baseline == baseline]


def every(chain: Chain) -> list[Decision]:
    """Every decision in a run's record, whatever the baseline."""
    return [_decision(line.data, line.at) for line in chain.lines("disposition")]


def _decision(data: Mapping[str, Any], at: str) -> Decision:
    texts = {key: str(data[key]) for key in ("baseline", "line", "digest", "reason", "role")}
    return Decision(**texts, disposition=Disposition(data["disposition"]), at=at)


def standing(diff: Diff, decisions: Sequence[Decision]) -> dict[str, Decision | None]:
    """For each changed line the last decision about it as it stands; None where it is undecided."""
    last = {(d.line, d.digest): d for d in decisions}
    return {line.name: last.get((line.name, line.digest)) for line in diff.lines}


def outdated(diff: Diff, decisions: Sequence[Decision]) -> dict[str, Decision]:
    """For each line that is undecided, the last decision about it when it said something else."""
    last = {d.line: d for d in decisions}
    return {name: last[name] for name, found in standing(diff, decisions).items() if found is None and name in last}


def record(chain: Chain, told: Mapping[str, Any]) -> bool:
    """Write a diff (as JSON) to the run's audit record, unless that is the last thing said of it; whether it was."""
    earlier = [line.data for line in chain.lines("baseline") if line.data.get("baseline") == told["baseline"]]
    if earlier and earlier[-1] == told:
        return False
    chain.append("baseline", told)
    return True
