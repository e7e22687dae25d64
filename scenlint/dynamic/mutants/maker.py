"""Plans a task's mutants: the oracle's results changed and replayed, and the oracle run with a step left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from scenlint.dynamic.experiments import Context, Planned, conclude, skipped
from scenlint.dynamic.mutants.app_state import app_state
from scenlint.dynamic.mutants.choose import mutants
from scenlint.dynamic.mutants.model import Mutant, Result
from scenlint.dynamic.mutants.steps import without_a_step
from scenlint.dynamic.worlds.again import AGAIN
from scenlint.harness.agents import OracleAgent
from scenlint.harness.environment import Environment, Ran
from scenlint.harness.replay import Change, Recorder, Replay
from scenlint.harness.scene import Scene
from scenlint.harness.snapshot import Item, Snapshot, state
from scenlint.source.text import Fragment, Source
from scenlint.task.model import Task
from scenlint.task.plan import Oracle, RunPlan, Step, Upload
from scenlint.task.record import Experiment, TrialRecord


def plan(about: Context) -> Iterator[Planned]:
    """The changed results first, crude changes before fine ones; then the solution without one of its steps.

    The work in apps is no file: there the requests are changed by which it is done.
    """
    if about.plan.apps:
        again = (t for t in about.subject.trials if t.record.agent == f"world:{AGAIN}" and t.record.reward == 1.0)
        yield from app_state(about, next((t.folder for t in again), None))
        yield from _left_out(about)
        return
    if about.snapshot is None or about.no_replay:
        yield skipped("mutant", "results", about.no_replay or "what the oracle changed could not be kept")
    else:
        yield from _changed(about, about.snapshot)
    yield from _left_out(about)


def _changed(about: Context, snapshot: Snapshot) -> Iterator[Planned]:
    task = about.subject.task
    results = [Result(i.path, snapshot.read(i), i.new) for i in snapshot.results if i.stored]
    if not results:
        yield skipped("mutant", "results", "the oracle left no file that could be changed")
    for n, mutant in enumerate(mutants(task, results, seed=about.wishes.seed), 1):
        if mutant.content is not None:
            change = Change.write(mutant.path, mutant.content)
        elif mutant.operator == "untouched-input":
            change = Change.untouched(mutant.path)
        else:
            change = Change.delete(mutant.path)
        yield Planned(
            Experiment(
                "mutant", mutant.operator, mutant.path, expected=mutant.label, did=f"{mutant.path}: {mutant.did}",
                criterion=_criterion(task, mutant), reason=mutant.reason,
            ),
            Replay(f"mutant:{mutant.operator}#{n}", snapshot, (change,)),
        )  # fmt: skip


def _criterion(task: Task, mutant: Mutant) -> str:
    """The criterion that names the file, and of several the one that also names what was changed; "" if unclear."""
    name = PurePosixPath(mutant.path).name
    found = [c for brief in task.briefs for c in brief.criteria if name in c.text]
    words = {word.strip("`:,") for word in mutant.did.split() if word.startswith("`")}
    closer = [c for c in found if any(word and word in c.text for word in words)] or found
    return closer[0].number if len(closer) == 1 else ""


# ---------------------------------------------------------------- a step of the solution left out


@dataclass(frozen=True)
class EditedOracle:
    """Runs the reference solution with one of its files in another wording."""

    name: str
    target: str  # of the file, in the environment
    text: str = field(repr=False)
    did: str = ""  # what tells two of them apart

    def check(self, plan: RunPlan) -> None:
        OracleAgent().check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        return _Editing(environment, self).act(step, scene)


class _Editing:
    """The oracle's own way of working, in an environment that puts the other wording behind the uploads."""

    def __init__(self, environment: Environment, edit: EditedOracle) -> None:
        self._environment, self._edit = environment, edit

    def act(self, step: Step, scene: Scene) -> Ran | None:
        oracle = step.oracle
        assert oracle is not None
        for upload in oracle.uploads:
            self._environment.upload(upload)
        state(self._environment).restore([(Item(self._edit.target, mode=0o755), self._edit.text.encode())])
        return OracleAgent().act(replace(step, oracle=replace(oracle, uploads=())), self._environment, scene)


def _left_out(about: Context) -> Iterator[Planned]:
    plan = about.plan
    oracle = plan.steps[0].oracle if len(plan.steps) == 1 else None
    found = _script(about.subject.task, oracle) if oracle else None
    if found is None:
        return
    script, target = found
    for n, step in enumerate(without_a_step(script, about.random("steps")), 1):
        made = Experiment(
            "mutant", "step-left-out", PurePosixPath(target).name, expected=step.label, did=step.did, reason=step.reason
        )
        name = f"mutant:step-left-out#{n}"
        yield Planned(made, Recorder(EditedOracle(name, target, step.text, step.did), name), judge=_judge)


def _judge(record: TrialRecord, folder: Path, about: Context) -> None:
    """A step without which the same results come out is none: some only look, or print."""
    conclude(record, folder, about)
    made, left = record.experiment, Snapshot.load(folder)
    if made is None or about.snapshot is None or left is None or made.outcome != "survived":
        return
    if _told(left) == _told(about.snapshot):
        made.outcome, made.reason = "skipped", "the same results came out without this step"


def _told(snapshot: Snapshot) -> dict[str, str]:
    return {item.path: item.digest for item in snapshot.results}


def _script(task: Task, oracle: Oracle) -> tuple[Fragment, str] | None:
    """The script that the oracle starts with, and where it lies in the environment; None where it has none."""
    if oracle.command is None:
        return None
    for upload in oracle.uploads:
        if task.oracle is not None and (inside := _inside(upload, task.oracle.entry)) is not None:
            return task.oracle.entry, inside
        if task.oracle is None and upload.source.is_file():
            source = Source(upload.source, upload.source.read_bytes())
            language = {".sh": "shell", ".py": "python"}.get(upload.source.suffix, "text")
            return Fragment.of(source, language), upload.target
    return None


def _inside(upload: Upload, entry: Fragment) -> str | None:
    path, source = entry.path.resolve(), upload.source.resolve()
    if entry.text != entry.source.text:
        return None  # a stretch of a file: the command is no script
    if path == source:
        return upload.target
    if path.is_relative_to(source):
        return str(PurePosixPath(upload.target) / path.relative_to(source).as_posix())
    return None
