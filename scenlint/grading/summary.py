"""Makes a run's summary of its trials, and says what a person should look at.

A trial without a verdict is never a zero: rates are over graded trials, by the table in `rulings.classes`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scenlint.grading.model import Run, Scenario
from scenlint.grading.results import Result, Spread, Summary, Total
from scenlint.rulings.classes import Ruling, applied, rule_on
from scenlint.stats import cluster
from scenlint.stats.compare import clustered
from scenlint.stats.words import count
from scenlint.task.record import Disposition, FailureClass, Phase, PhaseName, TrialRecord

__all__ = ["CONTROLS", "Result", "Spread", "Summary", "Total", "light", "rulings_of", "summarise", "voided"]

CONTROLS = ("oracle", "nop")  # agents with whose trials faults are compared
# Shares of a class among all trials from which on a person is told of it.
_SHARES = {
    FailureClass.PROVIDER: (0.10, "the model's provider failed"),
    FailureClass.AGENT_TIMEOUT: (0.25, "the agent ran out of time"),
    FailureClass.BUDGET: (0.25, "the budget was used up"),
    FailureClass.TOOL_ERROR: (0.10, "tools failed"),
}


def summarise(run: Run, records: Iterable[TrialRecord], said: Sequence[Disposition] = ()) -> Summary:
    """The summary of a run; of `records` its own count, and trials of oracle and nop as controls.

    `said` is what people decided about trials and digests. Bulky parts of records are not kept.
    """
    own: dict[str, list[TrialRecord]] = {s.key: [] for s in run.scenarios}
    models: dict[str, None] = {}
    controls: dict[str, list[TrialRecord]] = {}  # task digest -> trials
    for record in records:
        if run.owns(record) and record.experiment is not None:
            own.setdefault(record.experiment.target, []).append(light(record))
            models |= {record.model: None} if record.model else {}
        elif record.experiment is None and record.agent in CONTROLS and record.task_digest:
            controls.setdefault(record.task_digest, []).append(light(record))
    results = tuple(_result(run, s, rulings_of(own[s.key], controls, said), said) for s in run.scenarios)
    graded = [(r.scenario.key, o, w) for r in results for o, w in zip(r.outcomes, r.rewards, strict=True)]
    rewards = [(key, w) for key, _, w in graded if w is not None]
    return Summary(
        run,
        results,
        _total([float(o) for _, o, _ in graded], [key for key, _, _ in graded]),
        _total([w for _, w in rewards], [key for key, _ in rewards]),
        tuple(notes(results, tuple(models))),
        tuple(models),
    )


def rulings_of(
    records: Sequence[TrialRecord], controls: Mapping[str, Sequence[TrialRecord]], said: Sequence[Disposition] = ()
) -> list[Ruling]:
    """The rulings on one scenario's trials in launch order; `controls` by task digest."""
    ordered = sorted(records, key=lambda r: (r.attempt, r.started))
    same = [c for digest in dict.fromkeys(r.task_digest for r in ordered) for c in controls.get(digest, ())]
    return applied(rule_on(ordered, same), said)


def voided(digest: str, said: Sequence[Disposition]) -> str:
    """Why a person said that the trials of a task as it stood count for nothing; "" if nobody did."""
    return next((d.reason for d in said if d.voids and d.about == digest), "")


def _result(run: Run, scenario: Scenario, rulings: Sequence[Ruling], said: Sequence[Disposition]) -> Result:
    void = next((why for d in {r.record.task_digest for r in rulings} if (why := voided(d, said))), "")
    counted = [] if void else [r for r in rulings if r.graded is not None]
    left_out = list(rulings) if void else [r for r in rulings if r.graded is None]
    records = [r.record for r in counted]
    return Result(
        scenario,
        passes=sum(r.graded is True for r in counted),
        trials=len(counted),
        excluded=len(left_out),
        missing=max(0, run.trials - len(counted)),
        outcomes=tuple(bool(r.graded) for r in counted),
        rewards=tuple(_reward(r) for r in counted),
        costs=tuple(r.cost_usd for r in records),
        durations=tuple(r.duration for r in records),
        acting=tuple(_acting(r) for r in records),
        ids=tuple(r.id for r in records),
        failures=_classes([r for r in counted if not r.graded]),
        exclusions=_classes(left_out),
        left_out=tuple((r.record.id, r.failure_class.value if r.failure_class else "", r.evidence) for r in left_out),
        spent=Spread.of([r.record.cost_usd for r in rulings]),
        images=tuple(dict.fromkeys(r.image_digest for r in records if r.image_digest)),
        digests=tuple(dict.fromkeys(r.task_digest for r in records if r.task_digest)),
        persons=tuple((r.record.id, r.person) for r in rulings if r.person),
        void=void,
    )


def _reward(ruling: Ruling) -> float | None:
    """As the verifier graded the work, also of an agent that ran out of time; what was cheated for is nothing."""
    return 0.0 if ruling.failure_class is FailureClass.CHEATING else ruling.record.reward


def _acting(record: TrialRecord) -> float | None:
    phases = [p.duration for p in record.phases if p.name == PhaseName.AGENT]
    return math.fsum(phases) if phases else None


def _classes(rulings: Iterable[Ruling]) -> dict[str, int]:
    counted = Counter(r.failure_class.value if r.failure_class else "none" for r in rulings)
    return dict(counted.most_common())


def _total(values: Sequence[float], scenarios: Sequence[str]) -> Total | None:
    if not values:
        return None
    mean = clustered(values, scenarios)
    return Total(mean, cluster.interval(mean))


def light(record: TrialRecord) -> TrialRecord:
    """The record without what takes room and no figure needs."""
    phases = [Phase(p.name, p.step, duration=p.duration) for p in record.phases]
    return replace(record, phases=phases, checks=record.checks[:1], budget={}, digests={}, strict=None, harness=None)


def notes(results: Sequence[Result], models: Sequence[str] = ()) -> Iterable[str]:
    """What a person should look at."""
    if len(models) > 1:
        yield f"the trials were not all run with one model: {', '.join(models)}"
    every = sum(r.trials + r.excluded for r in results)
    classes = sum((Counter(r.failures) + Counter(r.exclusions) for r in results), Counter[str]())
    for found, (share, words) in _SHARES.items():
        seen = classes[found.value]
        if every and seen > share * every:
            yield f"{words} in {seen} of {count(every, 'trial')}: is that the agent's doing, or a limit set too low?"
    if cheated := classes[FailureClass.CHEATING.value]:
        yield f"cheating in {count(cheated, 'trial')}: to be looked at before anything is published"
    if without := sum(r.without_verdict for r in results):
        yield (
            f"{count(without, 'trial')} counted as failed without a verdict: a fault after it began that neither "
            "oracle nor nop runs into (`scenlint triage TRIAL --as excluded` where it was not the agent's doing)"
        )
    for result in results:
        if result.void:
            yield f"{result.scenario.task}: its trials are void, as it is misaligned: {result.void}"
        elif not result.trials:
            yield f"{result.scenario.task}: no trial was graded; the suite's figures are without it"
    admitted = [r for r in results if r.scenario.image_digest and r.images]
    other = [r.scenario.task for r in admitted if set(r.images) != {r.scenario.image_digest}]
    if other:
        told = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
        yield f"ran in another image than the one that was admitted (built anew?): {told}"
