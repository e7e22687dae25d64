"""What the experiments on a task came to, as figures and as sentences that carry their power."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenlint.report.model import Report, TrialLine
from scenlint.task import mutation, worlds
from scenlint.task.record import Experiment, TrialRecord

KINDS = {"probe": "probes", "mutant": "mutants", "world": "worlds", "environment": "dead environments"}
_REGRADED, _REBUILT = "regraded", "built-again"
_BAD = {"broken", "leak", "laundered", "differs"}


@dataclass
class Sum:
    """The experiments of one task."""

    task: str
    lines: list[TrialLine] = field(default_factory=list)

    @property
    def records(self) -> list[TrialRecord]:
        return [line.record for line in self.lines]

    def made(self, kind: str) -> list[tuple[TrialLine, Experiment]]:
        """The experiments of one kind, in their order."""
        return [
            (x, x.record.experiment) for x in self.lines if x.record.experiment and x.record.experiment.kind == kind
        ]

    def outcomes(self, kind: str) -> Counter[str]:
        """Outcome -> number of experiments of a kind."""
        return Counter(str(e.outcome or "not judged") for _, e in self.made(kind))

    @property
    def skipped(self) -> list[Experiment]:
        """What could not be made, with its reason: never counted as passed."""
        return [e for kind in KINDS for _, e in self.made(kind) if e.outcome in ("", "skipped")]


def look(e: Experiment) -> str:
    """How an experiment came out for the task: "bad", "warn", "good", or "soft" where that is not known."""
    if e.outcome in _BAD:
        return "bad"
    wrong = (e.expected, e.outcome) in {("must-die", "survived"), ("must-live", "killed")}
    return "warn" if wrong else "soft" if e.expected == "open" else "good"


def sums(report: Report) -> list[Sum]:
    """One for each task on which experiments were made."""
    out: dict[str, Sum] = {}
    for line in report.trials or ():
        out.setdefault(line.record.task, Sum(line.record.task)).lines.append(line)
    return [one for one in out.values() if any(line.record.experiment for line in one.lines)]


def sentences(one: Sum) -> list[str]:
    """Each kind in a sentence."""
    return [*_probes(one), *_mutants(one), *_worlds(one), *_skipped(one)]


def figures(one: Sum) -> dict[str, Any]:
    """The same as plain data."""
    score = mutation.score(one.records)
    graded, differ = _regraded(one)
    out: dict[str, Any] = {
        "task": one.task,
        "sentences": sentences(one),
        **{KINDS[k].replace(" ", "_"): dict(one.outcomes(k)) for k in KINDS if one.made(k)},
    }
    if one.made("mutant"):
        out["kill"] = _rate(len(score.killed), len(score.survived))
        out["tolerance"] = _rate(len(score.tolerated), len(score.rejected))
        out["criteria"] = [
            {
                "criterion": name,
                "kill": _rate(len(part.killed), len(part.survived)),
                "tolerance": _rate(len(part.tolerated), len(part.rejected)),
                "open": len(part.open),
            }
            for name, part in mutation.by_criterion(one.records).items()
        ]
    if graded:
        out["regraded"] = {
            "gradings": graded,
            "differ": differ,
            "flake_rate_below": round(flake_bound(differ, graded), 4),
        }
    return out


def flake_bound(differ: int, graded: int) -> float:
    """The highest rate of differing gradings that agrees with what was seen, at 95 % (one-sided, exact)."""
    from scenlint.stats.intervals import exact

    return exact(differ, graded, level=0.9).high


def _probes(one: Sum) -> Iterator[str]:
    outcomes = one.outcomes("probe")
    if sum(outcomes.values()) > outcomes["skipped"]:
        yield f"probes: {_counted(outcomes)}"
    dead = one.outcomes("environment")
    if sum(dead.values()) > dead["skipped"]:
        yield f"dead, empty and garbage environments: {_counted(dead)}"


def _mutants(one: Sum) -> Iterator[str]:
    if parts := list(_scored(mutation.score(one.records))):
        yield f"mutants: {', '.join(parts)}"
    for name, score in mutation.by_criterion(one.records).items():
        if score.survived or score.rejected:
            yield f"mutants of criterion {name}: {', '.join(_scored(score))}"


def _scored(score: mutation.Score) -> Iterator[str]:
    """Kill and tolerance apart, each with its interval."""
    from scenlint.stats.intervals import wilson

    for yes, no, what in (
        (len(score.killed), len(score.survived), "wrong results noticed"),
        (len(score.tolerated), len(score.rejected), "equally right ones accepted"),
    ):
        if yes + no:
            low, high = wilson(yes, yes + no)
            yield (f"{yes} of {yes + no} {what} ({100 * low:.0f} to {100 * high:.0f} % at 95 %)")
    if score.open:
        yield f"{len(score.open)} for a person to judge"


def _worlds(one: Sum) -> Iterator[str]:
    graded, differ = _regraded(one)
    if graded:
        power = flake_bound(differ, graded)
        yield f"frozen work: {differ} of {graded} gradings differ: flake rate below {100 * power:.0f} % at 95 %"
    made = [(e.name, str(e.outcome)) for _, e in one.made("world") if e.outcome not in ("", "skipped")]
    for _, drifted in one.made("world"):
        if drifted.name == _REBUILT and drifted.outcome == "differs":
            yield f"the image, built again: {drifted.evidence}"
            made.remove((_REBUILT, "differs"))
    same = dict.fromkeys(n for n, outcome in made if outcome == "same" and n not in (_REGRADED, worlds.CONTROL))
    other = dict.fromkeys(n for n, outcome in made if outcome == "differs" and n not in (_REGRADED, worlds.CONTROL))
    if other:
        yield f"another verdict in the worlds: {', '.join(other)}"
    if alike := [n for n in same if n not in other]:
        yield f"the same verdict in the worlds: {', '.join(alike)}"


def _skipped(one: Sum) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for experiment in one.skipped:
        reasons.setdefault(experiment.reason or "no reason is known", []).append(experiment.name)
    for reason, names in reasons.items():
        named = Counter(names)
        told = ", ".join(n if times == 1 else f"{n} ({times})" for n, times in named.items())
        yield f"not made: {told}: {reason}"


def _regraded(one: Sum) -> tuple[int, int]:
    """Gradings of the oracle's frozen work, and how many came out otherwise."""
    outcomes = [str(e.outcome) for _, e in one.made("world") if e.name == _REGRADED]
    return sum(o in ("same", "differs") for o in outcomes), outcomes.count("differs")


def _rate(yes: int, no: int) -> dict[str, Any] | None:
    from scenlint.stats.intervals import wilson

    if not yes + no:
        return None
    low, high = wilson(yes, yes + no)
    return {"of": yes + no, "rate": round(yes / (yes + no), 4), "low": round(low, 4), "high": round(high, 4)}


def _counted(outcomes: Counter[str]) -> str:
    words = {"holds": "held", "same": "the same", "skipped": "not made"}
    order: Sequence[str] = ("holds", "broken", "laundered", "leak")
    known = [o for o in order if outcomes[o]] + [o for o in outcomes if o not in order]
    return ", ".join(f"{outcomes[o]} {words.get(o, o)}" for o in known)
