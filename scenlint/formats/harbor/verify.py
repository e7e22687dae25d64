"""How a Harbor step is graded: in the agent's container or in one of its own, with what is carried over to that."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from scenlint.formats.harbor import environment as env
from scenlint.formats.harbor.environment import At, bash
from scenlint.formats.harbor.loader import COMPOSE, VERIFIER_TIMEOUT
from scenlint.formats.harbor.steps import Step, left_out
from scenlint.formats.planning import Settings, file_in, folder_in, passed_on
from scenlint.source.regex import regex
from scenlint.task.model import Task
from scenlint.task.plan import (
    Check,
    Container,
    Hook,
    Image,
    Network,
    NotRunnableError,
    Reader,
    Upload,
    Verify,
    Where,
)

TESTS, SCRIPT = "/tests", "test.sh"
ARTIFACTS = "/logs/artifacts"  # carried over whatever else is declared
VERDICTS = ("/logs/verifier/reward.json", "/logs/verifier/reward.txt")  # the first one counts
_FILLS_TESTS = regex(r"^[ \t]*(?:COPY|ADD|RUN|WORKDIR)\b.*(?<![\w.])/tests\b", re.MULTILINE | re.IGNORECASE)


def verify(task: Task, settings: Settings, step: Step, image: Image, agent_network: env.Policy) -> Verify:
    """The grading of a step. `image` is the agent's."""
    where, container, uploads = Where.CONTAINER, None, True
    if _is_separate(settings, step):
        where = Where.SEPARATE
        container, uploads = _own_container(task, settings, step, image)
    variables = (
        {**settings.table("verifier", "env"), **settings.table(*step.at, "verifier", "env")}
        if step.at
        else (settings.table("verifier", "env"))
    )
    line = f"({TESTS}/{SCRIPT}) > /logs/verifier/test-stdout.txt 2>&1"
    # The output goes to the file that the format promises, and is shown as well.
    command = bash(f"{line}; code=$?; cat /logs/verifier/test-stdout.txt; exit $code", user=_user(settings, step))
    artifacts, from_services = _artifacts(task, settings, step) if where is Where.SEPARATE else ((), ())
    return Verify(
        where,
        (Check(SCRIPT, replace(command, env=passed_on(variables, task.policy, "[verifier.env]"))),),
        Reader.REWARD_FILE,
        overlay=_overlay(task, step) if uploads else (),
        container=container,
        artifacts=artifacts,
        service_artifacts=from_services,
        collect=tuple(_hooks(settings, step)),
        network=_network(settings, step, container is not None, agent_network),
        verdict_paths=VERDICTS,
        timeout=_timeout(settings, step),
    )


def _user(settings: Settings, step: Step) -> str | None:
    return env.user_of(settings, *([(*step.at, "verifier")] if step.at else []), ("verifier",))


def _timeout(settings: Settings, step: Step) -> float:
    own = settings.positive(*step.at, "verifier", "timeout_sec") if step.at else None
    return own or settings.positive("verifier", "timeout_sec") or float(VERIFIER_TIMEOUT)


def _overlay(task: Task, step: Step) -> tuple[Upload, ...]:
    """tests/, then the step's own; what lay at /tests goes, unless the image is built to have something there."""
    folders = [f for f in dict.fromkeys(("tests", f"{step.prefix}tests")) if task.files.has_dir(f)]
    scripts = [f"{folder}/{SCRIPT}" for folder in folders if f"{folder}/{SCRIPT}" in task.files]
    if not scripts:
        raise NotRunnableError(f"`{step.prefix}tests/{SCRIPT}` is missing: it runs the tests and writes the reward")
    file_in(task, scripts[-1])
    kept = {folder: tuple(left_out(task.files, folder)) for folder in folders}
    if any(SCRIPT in kept[folder] for folder in folders):
        raise NotRunnableError(f"`tests/{SCRIPT}` is kept out by .harborignore")
    builds = task.environment.builds if task.environment else []
    clear = not any(_FILLS_TESTS.search(b.fragment.text) for b in builds)
    return tuple(
        Upload(folder_in(task, folder), TESTS, clear=clear and not n, executable=True, exclude=kept[folder])
        for n, folder in enumerate(folders)
    )


# ---------------------------------------------------------------- a container of its own


def _is_separate(settings: Settings, step: Step) -> bool:
    for at in ([(*step.at, "verifier")] if step.at else []) + [("verifier",)]:
        mode = settings.text(*at, "environment_mode")
        if mode not in (None, "shared", "separate"):
            raise settings.wrong((*at, "environment_mode"), "shared or separate")
        if mode is not None or settings.has(*at, "environment"):
            return mode != "shared"
    return False


def _own_container(task: Task, settings: Settings, step: Step, image: Image) -> tuple[Container, bool]:
    """The verifier's container, and whether the tests are copied into it (its own image has them)."""
    places: list[tuple[At, str]] = [((*step.at, "verifier", "environment"), f"{step.prefix}tests")] if step.at else []
    places.append((("verifier", "environment"), "tests"))
    at = _described(settings, step)
    for own, folder in places:
        stated = settings.text(*own, "docker_image")
        if stated:
            return env.container(task, settings, at, Image(stated)), False
        if f"{folder}/{COMPOSE}" in task.files:
            raise NotRunnableError(f"`{folder}/{COMPOSE}`: a verifier that is a compose project is not run here")
        if f"{folder}/Dockerfile" in task.files:
            file_in(task, f"{folder}/Dockerfile")
            return env.container(task, settings, at, env.build(task, folder)), False
    if f"environment/{COMPOSE}" in task.files:
        raise NotRunnableError(
            f"the separate verifier starts from `environment/{COMPOSE}`; a verifier that is a compose project is not "
            "run here: give it an image of its own with `tests/Dockerfile`"
        )
    return env.container(task, settings, at, image), True


def _described(settings: Settings, step: Step) -> At:
    """The table that describes the verifier's container."""
    tables: list[At] = [(*step.at, "verifier", "environment")] if step.at else []
    tables.append(("verifier", "environment"))
    return next((at for at in tables if settings.has(*at)), ("environment",))


def _network(settings: Settings, step: Step, separate: bool, agents: env.Policy) -> Network | None:
    phases: list[At] = [(*step.at, "verifier")] if step.at else []
    phases.append(("verifier",))
    base = _described(settings, step) if separate else ("environment",)
    wanted = env.network(settings, *phases, base) or (Network.PUBLIC, ())
    if wanted == agents:
        return None
    if wanted[0] is Network.ALLOWLIST:
        raise NotRunnableError(
            f"the verifier may reach only some hosts ({', '.join(wanted[1])}): there is no network between none and "
            "public here; ship what it needs in its image"
        )
    return wanted[0]


def _artifacts(task: Task, settings: Settings, step: Step) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What is carried over from the agent's container, and from other services."""
    main, others = dict.fromkeys([ARTIFACTS]), list[tuple[str, str]]()
    workdir = settings.text("environment", "workdir") or (task.environment.workdir if task.environment else None)
    for at in [("artifacts",), *([(*step.at, "artifacts")] if step.at else [])]:
        for n, item in enumerate(settings.items(*at)):
            entry = {"source": item} if isinstance(item, str) else item
            source = entry.get("source") if isinstance(entry, dict) else None
            if not isinstance(source, str) or ".." in source.split("/"):
                raise settings.wrong((*at, n), "a path, or a table with `source`, without `..`")
            service = entry.get("service") or "main"
            if service != "main":
                others.append((str(service), source))
            else:
                main[posixpath.join(workdir or "/", source)] = None
    return tuple(main), tuple(others)


def _hooks(settings: Settings, step: Step) -> list[Hook]:
    out = []
    for at in [("verifier", "collect"), *([(*step.at, "verifier", "collect")] if step.at else [])]:
        for n in range(len(settings.items(*at))):
            command = settings.text(*at, n, "command")
            if not command:
                raise NotRunnableError(f"`{'.'.join(map(str, (*at, n)))}` in {settings.file} has no command")
            service = settings.text(*at, n, "service") or "main"
            timeout = settings.positive(*at, n, "timeout_sec") or 60.0
            run = bash(command, env.user_of(settings, (*at, n)), timeout)
            out.append(Hook(run, "" if service == "main" else service))
    return out
