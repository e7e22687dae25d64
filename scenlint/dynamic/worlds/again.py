"""The unmoved world once more: the oracle run again, and what it left graded again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned, conclude, skipped
from scenlint.harness.agents import Agent, OracleAgent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.replay import Recorder, Replay
from scenlint.harness.scene import Scene
from scenlint.harness.snapshot import Snapshot
from scenlint.harness.watched import Watched
from scenlint.task.plan import RunPlan, Step
from scenlint.task.record import Experiment, TrialRecord

AGAIN, REGRADED, IN_PLACE = "oracle-again", "regraded", "regraded-in-place"


@dataclass(frozen=True)
class Once:
    """Lets another agent act in the first step only: the further ones grade what it left there."""

    agent: Agent
    name: str

    def check(self, plan: RunPlan) -> None:
        self.agent.check(replace(plan, steps=plan.steps[:1]))

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        return self.agent.act(step, environment, scene) if step.name == scene.plan.steps[0].name else None


def oracle_again() -> Planned:
    """The oracle once more, and all that it changes is kept."""
    did = "ran the reference solution once more in a fresh environment, and kept what it changed"
    name = f"world:{AGAIN}"
    return Planned(Experiment("world", AGAIN, expected="same", did=did), Recorder(Watched(OracleAgent(), name), name))


def regraded(snapshot: Snapshot, attempt: int) -> Planned:
    """What the oracle left, graded in a fresh environment in which no solution ran."""
    did = "restored what the reference solution had changed into a fresh environment, and graded that"
    experiment = Experiment("world", REGRADED, expected="same", did=did)
    return Planned(experiment, Replay(f"world:{REGRADED}", snapshot), attempt=attempt)


def regrades(about: Context) -> Iterator[Planned]:
    """The frozen work as often as was asked for; where it cannot be restored, several gradings in one environment."""
    if about.snapshot is not None and not about.no_replay:
        made = sum(t.record.agent == f"world:{REGRADED}" for t in about.subject.trials)
        for attempt in range(made + 1, about.wishes.repeats + 1):
            yield regraded(about.snapshot, attempt)
        return
    if about.snapshot is None:
        yield skipped("world", REGRADED, about.no_replay)
    steps, times = about.plan.steps, about.wishes.repeats
    if len(steps) != 1 or steps[0].verify.agent_output:
        return
    bare = replace(steps[0], uploads=(), setup=None, probe=None, oracle=None)
    more = tuple(replace(bare, name=f"again-{n}") for n in range(1, times + 1))
    yield Planned(
        Experiment(
            *("world", IN_PLACE, "", "same"),
            did=f"ran the reference solution, then the verifier {times + 1} times in the same environment",
        ),
        Once(OracleAgent(), f"world:{IN_PLACE}"),
        plan=replace(about.plan, steps=(*steps, *more)),
        judge=_in_place,
    )


def _in_place(record: TrialRecord, folder: Path, about: Context) -> None:
    conclude(record, folder, about)
    experiment = record.experiment
    assert experiment is not None
    if experiment.outcome == "skipped":
        return
    rewards = list(record.step_rewards.values())
    told = ", ".join("none" if r is None else f"{r:g}" for r in rewards)
    wanted = len(about.plan.steps) + about.wishes.repeats
    experiment.outcome = "same" if rewards == [about.oracle.record.reward] * wanted else "differs"
    experiment.evidence = f"rewards in this order: {told}"
