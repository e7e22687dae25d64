"""Turns a Waza task into a RunPlan: a workspace from inputs.files, a check for each grader of the eval and its own."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenlint.formats.digests import with_digests
from scenlint.formats.planning import Settings, configured_oracle
from scenlint.formats.waza.declared import EVALUATOR, OnlyWazaError, declared
from scenlint.formats.waza.suite import Places, task_keys
from scenlint.source.regex import regex
from scenlint.task.model import Grader, Task
from scenlint.task.plan import (
    VERIFIER,
    WORKSPACE,
    Check,
    Command,
    NotRunnableError,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

_EVALUATOR = "/waza/evaluator.py"
_TIMEOUT = 60.0  # of the graders that are no programs
# Version 1. Null stands for evidence that was not recorded, which is not the same as none.
_CONTEXT = {
    "version": 1, "output": "", "outcome": {}, "transcript": [], "tool_calls": [], "tool_events": None,
    "host_lifecycle": None, "command_invocations": None, "user_input_requests": None, "duration_ms": 0,
}  # fmt: skip
_PATH = regex(r"[\w@+-][\w.@+-]*(?:/[\w.@+-]+)*\.\w+")


def plan(task: Task) -> RunPlan:
    """How a trial runs."""
    if not task.key:
        raise NotRunnableError("no task file is at hand: tasks that are rows of a table are not run here")
    own = Settings(next((d for d in task.documents if d.name == task.key), None), task.key)
    eval_file = next((d for d in task.documents if d.name != task.key), None)
    suite = Settings(eval_file, eval_file.name if eval_file else "eval.yaml")
    _refuse(own, suite)
    places = Places(task.files)
    uploads, inline = _workspace(own, places)
    limit = own.positive("timeout_seconds") or suite.positive("config", "timeout_seconds")
    step = Step(
        _brief(own), _Graders(task, suite, own, places).verify(), uploads=uploads, oracle=configured_oracle(task),
        agent_timeout=limit,
    )  # fmt: skip
    made = RunPlan(task.id, task.format, task.folder.resolve(), (step,), inline_files=inline)
    text = suite.data.fragment.text
    return with_digests(made, task, apart=[suite.file, *task_keys(task.folder, text), "README.md"])


def _refuse(own: Settings, suite: Settings) -> None:
    if own.flag("enabled") is False:
        raise NotRunnableError(f"{own.file} switches the task off (`enabled: false`)")
    if suite.table("hooks"):
        raise NotRunnableError(
            "`hooks` in the eval run commands on the machine around each task; they are not run here"
        )
    if own.has("inputs", "repo"):
        raise NotRunnableError(f"`inputs.repo` in {own.file} fetches a repository; give the files under `inputs.files`")


def _brief(own: Settings) -> str:
    """The prompt, and the follow-ups that an agent would be told later."""
    prompt = own.text("inputs", "prompt")
    if not prompt:
        raise NotRunnableError(f"{own.file} has no `inputs.prompt`")
    return "\n\n".join([prompt, *own.texts("inputs", "follow_up_prompts")])


def _workspace(own: Settings, places: Places) -> tuple[tuple[Upload, ...], tuple[tuple[str, str], ...]]:
    """What the agent is given: files from the context folder, and those whose content stands in the task."""
    context = own.text("context_dir") or "fixtures"
    uploads, inline = list[Upload](), list[tuple[str, str]]()
    for n in range(len(own.items("inputs", "files"))):
        path = own.text("inputs", "files", n, "path")
        content = own.text("inputs", "files", n, "content")
        outside = path is None or path.startswith("/") or ".." in path.split("/")
        if content:
            if path is None or outside:
                raise own.wrong(("inputs", "files", n, "path"), "a path in the workspace")
            inline.append((posixpath.normpath(path), content))
        elif path is not None and not outside:  # Waza warns of others and goes on without
            found = places.find(posixpath.normpath(posixpath.join(context, path)))
            if found is not None and os.path.isfile(found):
                uploads.append(Upload(found, f"{WORKSPACE}/{posixpath.normpath(path)}"))
    return tuple(uploads), tuple(inline)


class _Graders:
    """The graders of one task: of the eval first, then its own."""

    def __init__(self, task: Task, suite: Settings, own: Settings, places: Places) -> None:
        self.task, self.places = task, places
        entries = [e for settings in (suite, own) for e in settings.items("graders") if isinstance(e, dict)]
        graders = task.verifier.graders if task.verifier else []
        if not graders:
            raise NotRunnableError("no grader is declared, so Waza passes every trial")
        self.graders = list(zip(entries, graders, strict=True))
        self.overlay: dict[str, Upload] = {}
        self.bases = {id(g): self._base(g) for _, g in self.graders if g.kind == "program"}
        self.top = min([places.root, *self.bases.values()], key=lambda base: len(base.parts))

    def verify(self) -> Verify:
        checks, refused = [], []
        for entry, grader in self.graders:
            try:
                checks.append(self._check(entry, grader))
            except OnlyWazaError as exc:
                refused.append(f"`{grader.name}` ({grader.kind or 'no type'}): {exc}")
        if refused:
            raise NotRunnableError(f"only Waza can evaluate {'; '.join(refused)}")
        if self.bases:
            self._lay(self.places.root)
        return Verify(
            Where.LOCAL,
            tuple(checks),
            Reader.EXIT_STATUS,
            overlay=tuple(self.overlay[target] for target in sorted(self.overlay)),
            timeout=sum(check.command.timeout or _TIMEOUT for check in checks) + _TIMEOUT,
            agent_output=True,
            workspace_variable="WAZA_WORKSPACE_DIR",
            private_files=(("WAZA_GRADING_CONTEXT", "context.json", json.dumps(_CONTEXT)),),
        )

    def _check(self, entry: dict[str, Any], grader: Grader) -> Check:
        weight = 1.0 if grader.weight is None else grader.weight
        if grader.kind != "program":
            found = declared(grader.kind, entry, self.places)
            for place, target in [*found.snapshots, (EVALUATOR, _EVALUATOR)]:
                self.overlay[target] = Upload(place, target)
            command = Command(("python3", "-I", _EVALUATOR, found.argument), timeout=_TIMEOUT)
            return Check(grader.name, command, weight=weight)
        if not grader.argv:
            raise OnlyWazaError("it has no `command`")
        for missing in grader.missing:
            raise NotRunnableError(f"the grader `{grader.name}` names `{missing.value}`, which is not there")
        stated = grader.timeout.value if grader.timeout else None
        timeout = float(stated) if isinstance(stated, int | float) and stated > 0 else _TIMEOUT
        base = self.bases[id(grader)]
        for place in (base / path for path in self._named(grader)):
            if os.path.isfile(place) and not place.is_relative_to(self.places.root):
                # With what lies beside it, unless that is the whole repository.
                self._lay(place if self.places.root.is_relative_to(place.parent) else place.parent)
        argv = tuple(str(value.value) for value in grader.argv)
        return Check(grader.name, Command(argv, cwd=self._inside(base), timeout=timeout), weight=weight)

    def _base(self, grader: Grader) -> Path:
        """The folder that it counts on being started in: the nearest in which there is something that it names."""
        named = list(self._named(grader))
        found = (base for base in self.places.bases if any(os.path.isfile(base / path) for path in named))
        return next(found, self.places.root)

    @staticmethod
    def _named(grader: Grader) -> Iterator[str]:
        for value in grader.argv:
            yield from (path for path in _PATH.findall(str(value.value)[:10_000]) if ".." not in path)

    def _lay(self, place: Path) -> None:
        """A file or folder of the verifier, where it lies seen from the outermost of those folders."""
        target = self._inside(place)
        exclude = (".git",) if (place / ".git").exists() else ()
        self.overlay[target] = Upload(place, target, executable=True, exclude=exclude)

    def _inside(self, place: Path) -> str:
        return posixpath.normpath(posixpath.join(VERIFIER, place.relative_to(self.top).as_posix()))
