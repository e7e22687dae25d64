"""Turns a packet into a RunPlan: in the local sandbox, or in a container where it names an image."""

from __future__ import annotations

import posixpath

from scenlint.formats.digests import with_digests
from scenlint.formats.packet import DEFAULTS, FILE, VARIABLE
from scenlint.formats.planning import ORACLE, Settings, brief_of, file_in, folder_in
from scenlint.task.model import Task
from scenlint.task.plan import (
    VERIFIER,
    WORKSPACE,
    Check,
    Command,
    Container,
    Image,
    Limits,
    NotRunnableError,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

_BASH = ("bash", "-o", "pipefail", "-c")


def plan(task: Task) -> RunPlan:
    """How a trial runs."""
    settings = Settings(task.metadata, FILE)
    image = settings.text("image")
    work = _path(settings, "workdir") or DEFAULTS["workdir"]
    workdir = folder_in(task, work) if task.files.has_dir(work) else None
    limits = Limits(settings.positive("budget", "cpus"), settings.count("budget", "memory_mb"))
    into = (Upload(workdir, WORKSPACE),) if image and workdir else ()
    container = Container(Image(image), workdir=WORKSPACE, limits=limits, folders=(WORKSPACE,)) if image else None
    step = Step(
        brief_of(task),
        _verify(task, settings, Where.CONTAINER if image else Where.LOCAL),
        uploads=into,
        oracle=_oracle(task, _path(settings, "oracle") or DEFAULTS["oracle"]),
        agent_timeout=settings.positive("budget", "agent_sec"),
    )
    made = RunPlan(
        task.id,
        task.format,
        task.folder.resolve(),
        (step,),
        container,
        workdir=None if image else workdir,
        limits=Limits() if image else limits,
    )
    return with_digests(made, task)


def _path(settings: Settings, key: str) -> str | None:
    stated = settings.text(key)
    return posixpath.normpath(stated) if stated else None


def _verify(task: Task, settings: Settings, where: Where) -> Verify:
    at = ("verification", "checks")
    folder = _path(settings, "verifier")
    env = ((VARIABLE, VERIFIER),) if folder else ()
    checks = []
    for n in range(len(settings.items(*at))):
        line = settings.text(*at, n, "command")
        if not line:
            raise NotRunnableError(f"check {n + 1} in {settings.file} has no command")
        kind = settings.text(*at, n, "type") or "check"
        required = settings.flag(*at, n, "required") is True
        checks.append(Check(f"{kind} {n + 1}", Command((*_BASH, line), env=env), required, kind=kind))
    if not checks:
        raise NotRunnableError(f"{settings.file} declares no checks")
    return Verify(
        where,
        tuple(checks),
        Reader.PACKET,
        overlay=(Upload(folder_in(task, folder), VERIFIER, clear=True),) if folder else (),
        timeout=settings.positive("budget", "verifier_sec") or 600.0,
    )


def _oracle(task: Task, path: str) -> Oracle | None:
    if path not in task.files:
        return None
    script = f"{ORACLE}/{posixpath.basename(path)}"
    return Oracle((Upload(file_in(task, path), script),), Command(("bash", script)))
