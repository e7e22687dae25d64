"""What a format's plans must hold to; a part of the conformance check."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from scenlint.formats.base import Format, TaskRef
from scenlint.formats.digests import PARTS
from scenlint.task.model import Task
from scenlint.task.plan import (
    Command,
    NotRunnableError,
    Reader,
    RunPlan,
    Step,
    Upload,
    Where,
)
from scenlint.task.policy import Policy


def check_plan(format: Format, task: Task, ref: TaskRef, sample: Path) -> None:
    """The sample can be planned, its plan is complete, and its digests follow edits and nothing else."""
    plan = planned(format, task)
    assert isinstance(plan, RunPlan), f"{format.name} has no plan for its own sample {task.id}: {plan}"
    assert plan == format.plan(format.load(ref, Policy())), f"planning {task.id} twice gives two different plans"
    wanted = (task.id, format.name, task.folder.resolve())
    assert (plan.task, plan.format, plan.folder) == wanted, f"task, format and folder of the plan are not {wanted}"
    environments = [bool(plan.container), bool(plan.compose), bool(plan.apps), plan.workdir is not None]
    assert sum(environments) <= 1, f"the plan of {task.id} has more than one environment"
    assert plan.steps, f"the plan of {task.id} has no step"
    for step in plan.steps:
        _check_step(step, plan)
    _check_digests(format, plan, task, ref, sample)


def planned(format: Format, task: Task) -> RunPlan | str:
    """The plan, or why there is none; the one thing that may be raised."""
    try:
        return format.plan(task)
    except NotRunnableError as exc:
        return str(exc).strip()


def _check_step(step: Step, plan: RunPlan) -> None:
    verify = step.verify
    assert step.brief.strip(), f"the agent is told nothing in step `{step.name}`"
    assert verify.checks, f"nothing is checked in step `{step.name}`"
    files = verify.reader is Reader.REWARD_FILE
    assert bool(verify.verdict_paths) is files, "verdict_paths are what a reader of reward files needs, and only that"
    separate = verify.where is Where.SEPARATE
    assert bool(verify.container) is separate, "a verifier has a container of its own if it is separate, and only then"
    local = not (plan.container or plan.compose or plan.apps)
    assert verify.where is Where.LOCAL or not local, "a task without containers is graded in the local sandbox"
    for command in _commands(step):
        assert command.argv, "a command has no argv"
        assert all(isinstance(word, str) for word in command.argv), f"{command.argv} are not all texts"
    for upload in _uploads(step):
        assert upload.source.exists(), f"{upload.source}, which is to be copied, does not exist"
        assert PurePosixPath(upload.target).is_absolute(), f"{upload.target} is no absolute path"


def _commands(step: Step) -> Iterator[Command]:
    yield from (check.command for check in step.verify.checks)
    yield from (hook.command for hook in step.verify.collect)
    yield from [step.setup] if step.setup else []
    yield from [step.oracle.command] if step.oracle and step.oracle.command else []


def _uploads(step: Step) -> Iterator[Upload]:
    yield from step.uploads
    yield from step.verify.overlay
    yield from step.oracle.uploads if step.oracle else ()


# ---------------------------------------------------------------- digests


def _check_digests(format: Format, plan: RunPlan, task: Task, ref: TaskRef, sample: Path) -> None:
    digests = dict(plan.digests)
    assert tuple(digests) == PARTS, f"the plan of {task.id} has digests of {tuple(digests)}, not of {PARTS}"
    metadata = {document.fragment.path.resolve() for document in task.documents}
    code = [fragment.path for fragment in (task.verifier.files if task.verifier else ())]
    solution = [task.oracle.entry.path] if task.oracle else []
    given = [task.folder / path for path in (task.environment.files if task.environment else ())]
    # What an edit of such a file changes, and what it must leave as it is.
    edits = [("verifier", code, {"environment", "brief"}), ("environment", given, {"brief"})]
    edits.append(("oracle", solution, {"environment", "verifier", "brief"}))
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / sample.name
        shutil.copytree(sample, copy, symlinks=True)
        moved = _digests(format, ref, sample, copy)
        assert moved == digests, (
            f"the digests of {task.id} change with the place where it lies: {_changed(digests, moved)}"
        )
        for part, paths, kept in edits:
            inside = (p.resolve() for p in paths if p.resolve().is_relative_to(sample.resolve()))
            path = next((p for p in inside if p not in metadata), None)
            if path is None:
                continue
            target = copy / path.relative_to(sample.resolve())
            content = target.read_bytes()
            target.write_bytes(content + b"\n")
            changed = _changed(digests, _digests(format, ref, sample, copy))
            target.write_bytes(content)
            assert part in changed, f"an edit of {path.name} does not change the digest of the {part}"
            assert not changed & kept, f"an edit of {path.name} ({part}) changes the digest of {sorted(changed & kept)}"


def _digests(format: Format, ref: TaskRef, sample: Path, copy: Path) -> dict[str, str]:
    def there(path: Path) -> Path:
        inside = path.resolve().is_relative_to(sample.resolve())
        return copy / path.resolve().relative_to(sample.resolve()) if inside else path

    moved = TaskRef(ref.format, there(ref.folder), ref.key, there(ref.suite) if ref.suite else None)
    return dict(format.plan(format.load(moved, Policy())).digests)


def _changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {part for part in before if before[part] != after.get(part)}
