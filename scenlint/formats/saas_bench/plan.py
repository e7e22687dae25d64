"""Turns a SaaS-Bench task into a RunPlan: its applications from apps.yaml, and verify.py while they are alive."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

from scenlint.formats.digests import with_digests
from scenlint.formats.planning import Passed, brief_of, configured_oracle, file_in
from scenlint.formats.saas_bench import TIMEOUT
from scenlint.formats.saas_bench.apps import PUBLISHED, Apps, find_apps, stem
from scenlint.formats.unsafe import in_compose, in_docker_run
from scenlint.source.data import parse
from scenlint.source.files import read_source
from scenlint.source.regex import regex
from scenlint.source.text import Source
from scenlint.task.model import Task
from scenlint.task.plan import (
    VERIFIER,
    WORKSPACE,
    App,
    Check,
    Command,
    NotRunnableError,
    Probe,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

PREFIX = "{prefix}"
# What the published harness appends to an app's name for the containers of the app and of its database.
SUFFIXES = {"onlyoffice": ("-community", "-mysql"), "mattermost": ("", "-postgres"), "owncloud": ("", "-mariadb")}
_DATABASE = regex(r"postgres|mysql|mariadb|mongo|(?:^|[-_])db\b", re.IGNORECASE)
_SHELL = regex(r"[;&|<>`\n]|\$\(")


def plan(task: Task) -> RunPlan:
    """How a trial runs."""
    apps = Apps.read(find_apps(task.folder, task.policy.apps))
    if apps is None:
        raise NotRunnableError(
            "no apps.yaml was found, which says how the applications are started: put it above the tasks, or name it "
            "under `[saas-bench] apps` in scenlint.toml"
        )
    known = [site.name for site in task.sites if site.name in apps.names]
    if not known:
        named = ", ".join(f"`{site.name}`" for site in task.sites) or "none"
        raise NotRunnableError(f"none of its applications ({named}) is in {apps.path.name}")
    started, unsafe = list[App](), set[str]()
    for name in dict.fromkeys(known):
        app, asks = _app(name, apps)
        started.append(app)
        unsafe |= asks
    file_in(task, "verify.py")
    folder, inputs = task.folder.resolve(), _inputs(task, apps)
    place = VERIFIER
    if inputs and folder.is_relative_to(apps.root.resolve()):
        # Some verifiers look for the inputs beside themselves, so both lie as they do in the repository.
        place = f"{VERIFIER}/{folder.relative_to(apps.root.resolve()).as_posix()}"
    command = Command(("python3", f"{place}/verify.py"), timeout=TIMEOUT)
    verify = Verify(
        Where.LOCAL,
        (Check("verify.py", command),),
        Reader.POINT_LINES,
        overlay=(Upload(folder, place), *(Upload(source, f"{VERIFIER}/{name}") for name, source in inputs.items())),
        timeout=TIMEOUT,
    )
    handed = tuple(Upload(source, f"{WORKSPACE}/{name}") for name, source in inputs.items())
    step = Step(brief_of(task), verify, uploads=handed, oracle=configured_oracle(task))
    made = RunPlan(task.id, task.format, folder, (step,), apps=tuple(started), unsafe=tuple(sorted(unsafe)))
    return with_digests(made, task, apart=["meta.json", "description.md"])


def _inputs(task: Task, apps: Apps) -> dict[str, Path]:
    """Files that the agent is handed, by their names, which are counted from the root of the repository."""
    listed = task.documents[0].data.get("multimodal_input") if task.documents else None
    out = {}
    for item in listed if isinstance(listed, list) else ():
        name = item.get("file") if isinstance(item, dict) else None
        if isinstance(name, str) and name and not name.startswith("/") and ".." not in name.split("/"):
            place = next((root / name for root in (apps.root, task.folder) if os.path.isfile(root / name)), None)
            if place is not None:
                out[name] = place.resolve()
    return out


# ---------------------------------------------------------------- applications


def _app(name: str, apps: Apps) -> tuple[App, set[str]]:
    settings = apps.data.get("apps", name)
    if not isinstance(settings, dict):
        raise NotRunnableError(f"`{name}` in {apps.path.name} has no settings")
    probe = Probe(http_path=str(settings.get("health_path") or "/"), interval=2.0, timeout=_wait(name, settings))
    if settings.get("start_type") == "compose":
        return _composed(name, settings, apps, probe)
    argv = _argv(name, settings.get("start"), apps)
    database = PREFIX if PUBLISHED.get(name, True) else None
    made = App(name, argv, container=PREFIX, database=database, variable=stem(name), probe=probe)
    return made, in_docker_run(argv, str(apps.root.resolve()))


def _wait(name: str, settings: dict[str, Any]) -> float:
    wait = settings.get("startup_wait", 600)
    if isinstance(wait, bool) or not isinstance(wait, int | float) or wait <= 0:
        raise NotRunnableError(f"`startup_wait` of `{name}` in apps.yaml is {wait!r}; it must be a time in seconds")
    return float(wait)


def _argv(name: str, start: Any, apps: Apps) -> tuple[str, ...]:
    if not isinstance(start, str) or not start.strip():
        raise NotRunnableError(f"`{name}` in {apps.path.name} has no `start` command")
    try:
        words = shlex.split(start)
    except ValueError as exc:
        raise NotRunnableError(f"the `start` command of `{name}` in {apps.path.name} cannot be read: {exc}") from None
    if words[:2] not in (["docker", "run"], ["podman", "run"]) or _SHELL.search(
        re.sub(r"'[^']*'|\"[^\"]*\"", "", start)
    ):
        raise NotRunnableError(f"the `start` command of `{name}` in {apps.path.name} must be one `docker run …`")
    root = str(apps.root.resolve())
    return tuple(Passed(word.replace("{repo_root}", root), word) if "{repo_root}" in word else word for word in words)


def _composed(name: str, settings: dict[str, Any], apps: Apps, probe: Probe) -> tuple[App, set[str]]:
    stated = settings.get("compose_template_file")
    place = apps.root.resolve() / stated if isinstance(stated, str) else None
    source = read_source(place) if place else None
    if place is None or source is None:
        raise NotRunnableError(f"the compose template of `{name}` in {apps.path.name} ({stated}) is not there")
    app, database = _names(name, source, place)
    made = App(name, template=place, container=app, database=database, variable=stem(name), probe=probe)
    data = parse(source.fragment("data"), "yaml").value
    return made, in_compose(data, "docker") if isinstance(data, dict) else set()


def _names(name: str, source: Source, place: Path) -> tuple[str, str | None]:
    """The containers of the app and of its database: as the published harness names them, else by what they are."""
    found = re.findall(r"^[ \t]*container_name:\s*[\"']?([^\s\"'#]+)", source.text, re.MULTILINE)
    containers = [re.sub(r"\$\{?prefix\}?", PREFIX, text) for text in found]
    if not containers:
        raise NotRunnableError(
            f"`{place.name}` gives its containers no `container_name`, so verify.py cannot find them"
        )
    app, database = (PREFIX + suffix for suffix in SUFFIXES.get(name, ("", "")))
    databases = [c for c in containers if _DATABASE.search(c.removeprefix(PREFIX))]
    if app not in containers:
        app = next((c for c in containers if c not in databases), containers[0])
    if name not in PUBLISHED or database not in containers:
        database = databases[0] if databases else app
    return app, database if PUBLISHED.get(name, True) else None
