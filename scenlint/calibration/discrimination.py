"""What a ledger's trials say about each scenario: difficulty, and with several agents whether it tells them apart.

One agent shows difficulty only. Where there are too few trials or agents for a figure, the reason stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from scenlint.calibration.known import noted
from scenlint.rulings.calibrations import calibrations, rulings, staged
from scenlint.rulings.classes import Effect, Ruling
from scenlint.rulings.consistency import dispersion, irregular
from scenlint.rulings.decision import Decision
from scenlint.stats import NotEnoughError
from scenlint.stats.compare import false_discovery
from scenlint.stats.discriminate import LEAST_AGENTS, Arms, Curve, ItemRest, abilities, arms, fit, item_rest
from scenlint.stats.intervals import Interval, Posterior, exact, wilson
from scenlint.stats.repeat import Dispersion, consistency, pass_all, pass_at
from scenlint.stats.words import count
from scenlint.task.record import Disposition, TrialRecord

_KS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Rate:
    """An agent's valid trials of a scenario; what was excluded is counted apart."""

    passes: int
    trials: int
    excluded: int
    dispersion: Dispersion | None = None  # between its blocks of trials
    irregular: str = ""  # what chance does not explain in the order of its trials
    rule: str = ""  # what the two-stage rule says of them

    @property
    def interval(self) -> Interval:
        return wilson(self.passes, self.trials)

    def as_json(self) -> dict[str, Any]:
        posterior = Posterior.of(self.passes, self.trials)
        return {
            "passes": self.passes, "trials": self.trials, "excluded": self.excluded,
            "rate": self.passes / self.trials if self.trials else None,
            "wilson": list(self.interval), "exact": list(exact(self.passes, self.trials)),
            "jeffreys": {"mean": posterior.mean, "interval": list(posterior.interval())},
            "pass_at": {k: pass_at(k, self.passes, self.trials) for k in _KS},
            "pass_all": {k: pass_all(k, self.passes, self.trials) for k in _KS},
            "consistency": consistency(self.passes, self.trials),
            "dispersion": self.dispersion._asdict() if self.dispersion else None,
            "irregular": self.irregular or None,
            "two_stage_rule": self.rule,
        }  # fmt: skip


@dataclass
class Scenario:
    """One scenario's block. A figure that cannot be had is None, and `lacks` says why."""

    task: str
    digest: str
    rates: dict[str, Rate]
    arms: Arms | None = None
    q: float | None = None  # p of the arms, adjusted over all scenarios
    item_rest: ItemRest | None = None
    curve: Curve | None = None
    flags: list[str] = field(default_factory=list)
    lacks: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """ "discriminates", "weak", "none", "inverted", or "difficulty only" of one agent."""
        return self.arms.label(self.q) if self.arms else "difficulty only" if len(self.rates) < 2 else "not enough data"

    def _information(self) -> dict[str, float]:
        """The information curve: how much a trial tells about an agent of each ability (in log-odds)."""
        return {f"{n / 2:g}": self.curve.information(n / 2) for n in range(-6, 7)} if self.curve else {}

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task, "task_digest": self.digest, "label": self.label, "flags": self.flags,
            "agents": {name: rate.as_json() for name, rate in self.rates.items()},
            "arms": {**self.arms._asdict(), "interval": list(self.arms.interval), "q": self.q} if self.arms else None,
            "item_rest": self.item_rest._asdict() if self.item_rest else None,
            "curve": {**self.curve._asdict(), "information": self._information()} if self.curve else None,
            "not_enough": self.lacks,
        }  # fmt: skip


def scenarios(
    records: Iterable[TrialRecord],
    *,
    weak: Sequence[str] = (),
    strong: Sequence[str] = (),
    said: Sequence[Disposition] = (),
) -> list[Scenario]:
    """One block for each task digest; `weak` and `strong` name the agents of the two arms.

    Without names the arms are the agents whose rate over all scenarios is lowest and highest. `said` is what people
    decided about trials and digests.
    """
    grouped: dict[tuple[str, str], list[TrialRecord]] = {}
    for record in noted(records, said):
        grouped.setdefault((record.task, record.task_digest), []).append(record)
    out = []
    for key in sorted(grouped):
        ruled = rulings(grouped[key])
        if not ruled:
            continue
        decided = {one.agent: one.decision for one in calibrations(grouped[key])}
        solved = any(r.effect is Effect.PASS for own in ruled.values() for r in own)
        rates = {
            agent: _rate(own, decided.get(agent) or staged(own, witness=solved)) for agent, own in sorted(ruled.items())
        }
        out.append(Scenario(*key, rates))
        if any(d.voids for r in grouped[key] for d in r.dispositions):
            out[-1].flags.append("misaligned: its trials are void")
    ranked = _ranked(out)
    low, high = list(weak) or ranked[:1], list(strong) or ranked[-1:]
    for scenario in out:
        _compare(scenario, low, high)
        scenario.flags += [f"{agent}: {rate.irregular}" for agent, rate in scenario.rates.items() if rate.irregular]
    _adjust(out)
    _against_rest(out, ranked)
    return out


def _rate(ruled: Sequence[Ruling], decision: Decision) -> Rate:
    outcomes = [r.outcome for r in ruled]
    spread, order = None, ""
    with suppress(NotEnoughError):
        spread = dispersion(ruled)
    with suppress(NotEnoughError):
        order = irregular(ruled)
    return Rate(
        outcomes.count(False),
        len(outcomes) - outcomes.count(None),
        outcomes.count(None),
        spread,
        order,
        f"{decision.decided} ({decision.reason})",
    )


def _ranked(found: Sequence[Scenario]) -> list[str]:
    """The agents from weak to strong, by their passes of all trials."""
    totals: dict[str, list[int]] = {}
    for scenario in found:
        for agent, rate in scenario.rates.items():
            total = totals.setdefault(agent, [0, 0])
            total[0] += rate.passes
            total[1] += rate.trials
    return sorted(totals, key=lambda a: (totals[a][0] / max(totals[a][1], 1), a))


def _compare(scenario: Scenario, weak: Sequence[str], strong: Sequence[str]) -> None:
    rates = [r for r in scenario.rates.values() if r.trials]
    if rates and all(r.passes == 0 for r in rates):
        scenario.flags.append("floor")
    if rates and all(r.passes == r.trials for r in rates):
        scenario.flags.append("ceiling")
    if set(weak) & set(strong):
        scenario.lacks["arms"] = "one agent shows difficulty, not discrimination"
        return
    sides = [
        (sum(r.passes for r in side), sum(r.trials for r in side))
        for names in (strong, weak)
        for side in [[scenario.rates[n] for n in names if n in scenario.rates]]
    ]
    try:
        scenario.arms = arms(sides[0], sides[1])
    except NotEnoughError as exc:
        scenario.lacks["arms"] = str(exc)


def _adjust(found: Sequence[Scenario]) -> None:
    tested = [s for s in found if s.arms]
    for scenario, q in zip(tested, false_discovery([s.arms.p for s in tested if s.arms]), strict=True):
        scenario.q = q
        if scenario.label == "inverted":
            scenario.flags.append("stronger agents do worse: misalignment suspected")


def _against_rest(found: Sequence[Scenario], agents: Sequence[str]) -> None:
    """Item-rest correlation and the 2PL curve, over agents that ran every scenario equally often."""
    counts = {r.trials for s in found for r in s.rates.values()}
    whole = len(counts) == 1 and all(set(s.rates) == set(agents) for s in found)
    why = ""
    if len(agents) < LEAST_AGENTS:
        why = f"{count(len(agents), 'agent')}; it needs {LEAST_AGENTS}"
    elif not whole or len(found) < 2:
        why = "it needs several scenarios that every agent ran equally often"
    if why:
        for scenario in found:
            scenario.lacks |= {"item_rest": why, "curve": why}
        return
    matrix = [[s.rates[agent].passes for s in found] for agent in agents]
    trials = counts.pop()
    for n, scenario in enumerate(found):
        scenario.item_rest = item_rest(matrix, n)
        try:
            scenario.curve = fit([row[n] for row in matrix], [trials] * len(agents), abilities(matrix, trials, n))
        except NotEnoughError as exc:
            scenario.lacks["curve"] = str(exc)
        if scenario.item_rest.kendall is not None and scenario.item_rest.kendall < 0:
            scenario.flags.append("goes against the rest of the suite: to be reviewed")
