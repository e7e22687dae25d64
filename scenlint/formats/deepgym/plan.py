"""Turns a DeepGym task whose solution is one file into a RunPlan; the judge runs it with the harness's helpers."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from scenlint.formats.deepgym import DEFAULT_TIMEOUT, PATCH, SESSIONS
from scenlint.formats.digests import with_digests
from scenlint.formats.planning import Settings, brief_of, file_in
from scenlint.task.model import Task
from scenlint.task.plan import (
    SUBMISSION,
    VERIFIER,
    Check,
    Command,
    NotRunnableError,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

HELPER = "deepgym_solution"
_GRACE = 5.0  # seconds between the time limit, which the judge keeps itself, and its end
_CASE_TIMEOUT = 10.0
_MODES = ("auto", "script", "verify_function", "body")
_RESERVED = ("verifier.py", f"{HELPER}.py", "test_cases.json")


def plan(task: Task) -> RunPlan:
    """How a trial runs. Without metadata.json the loader's defaults hold."""
    settings = Settings(task.metadata, "metadata.json") if task.metadata else None
    _refuse(task, settings)
    timeout = settings.positive("timeout") if settings else None
    timeout = timeout or DEFAULT_TIMEOUT
    case_timeout = settings.positive("case_timeout") if settings else None
    mode = (settings.text("verifier_mode") if settings else None) or "auto"
    if settings and mode not in _MODES:
        raise settings.wrong(("verifier_mode",), f"one of {', '.join(_MODES)}")
    env = (("SCENLINT_VERIFIER_MODE", mode), ("SCENLINT_CASE_TIMEOUT", f"{case_timeout or _CASE_TIMEOUT:g}"))
    command = Command(("python3", "verifier.py", SUBMISSION), env, cwd=VERIFIER, timeout=timeout)
    verify = Verify(
        Where.LOCAL,
        (Check("verifier.py", command),),
        Reader.JSON_LINE,
        overlay=(Upload(file_in(task, "verifier.py"), f"{VERIFIER}/verifier.py"), *_support(task, settings)),
        timeout=timeout + 2 * _GRACE,
        helper=HELPER,
    )
    step = Step(brief_of(task), verify, oracle=_oracle(task))
    return with_digests(RunPlan(task.id, task.format, task.folder.resolve(), (step,)), task)


def _refuse(task: Task, settings: Settings | None) -> None:
    kind = settings.text("type") if settings else None
    if PATCH in task.files:
        raise NotRunnableError(
            f"it is a patch of tests for a whole repository (`{PATCH}`), for which the repository and its image are "
            "needed; only tasks whose solution is one file are run here"
        )
    if kind in SESSIONS:
        raise NotRunnableError(f"it is a `{kind}` task; only tasks whose solution is one file are run here")
    if settings and settings.text("image"):
        raise NotRunnableError(
            f"metadata.json names the image `{settings.text('image')}`; DeepGym tasks are judged in the local sandbox "
            "here, which has what this machine has"
        )


def _support(task: Task, settings: Settings | None) -> list[Upload]:
    """Support files lie beside the verifier by their base names; those shared by a suite lie above its tasks."""
    out: list[Upload] = []
    for name in settings.texts("support_files") if settings else ():
        path = posixpath.normpath(name)
        base = posixpath.basename(path)
        place = _shared(task, path) if path.startswith("..") else file_in(task, path)
        taken = [upload.target for upload in out]
        if base in _RESERVED or f"{VERIFIER}/{base}" in taken:
            raise NotRunnableError(f"the support file `{name}` has the name of another file beside the verifier")
        out.append(Upload(place, f"{VERIFIER}/{base}"))
    return out


def _shared(task: Task, path: str) -> Path:
    place = (task.folder.resolve() / path).resolve()
    if not place.is_relative_to(task.folder.resolve().parent) or not os.path.isfile(place):
        raise NotRunnableError(f"the support file `{path}` is not there, or does not belong to the suite")
    return place


def _oracle(task: Task) -> Oracle | None:
    names = ("reference_solution.py", "reference_solution.diff")
    name = next((name for name in names if name in task.files), None)
    return Oracle(submission=file_in(task, name)) if name else None
