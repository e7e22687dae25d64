"""Turns a legacy Terminal-Bench task into a RunPlan: one container where its compose file says no more than that."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping
from typing import Any

from scenlint.formats.digests import with_digests
from scenlint.formats.planning import Settings, brief_of, file_in, folder_in, megabytes, named_in
from scenlint.formats.terminal_bench import AGENT_TIMEOUT, OWN_FILES, TEST_TIMEOUT
from scenlint.formats.unsafe import in_compose
from scenlint.source.data import parse
from scenlint.source.regex import regex
from scenlint.task.model import Task
from scenlint.task.plan import (
    Build,
    Check,
    Command,
    Compose,
    Container,
    Image,
    Limits,
    Network,
    NotRunnableError,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

TESTS, SCRIPT = "/tests", "run-tests.sh"
LOGS = {"T_BENCH_TASK_LOGS_PATH": "/logs", "T_BENCH_TASK_AGENT_LOGS_PATH": "/agent-logs"}
VARIABLES = {
    "T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME": "{trial}-client",
    "T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME": "{trial}-client",
    "T_BENCH_TASK_DOCKER_NAME_PREFIX": "{trial}",
    "T_BENCH_TEST_DIR": TESTS,
    "T_BENCH_CONTAINER_LOGS_PATH": "/logs",
    "T_BENCH_CONTAINER_AGENT_LOGS_PATH": "/agent-logs",
    **{name: "{logs}" + path for name, path in LOGS.items()},
}
_COMPOSE, _CLIENT = "docker-compose.yaml", "client"
_KEPT_ALIVE = regex(r"(?:(?:/bin/)?(?:ba)?sh -c )?(?:exec )?(?:sleep (?:infinity|\d+)|tail -f /dev/null)")
# Keys of a service that a single container needs nothing of; whatever else is there is left to compose.
_WITHOUT_EFFECT = {"container_name", "tty", "stdin_open", "restart", "init", "hostname", "ports", "expose", "labels",
                   "logging", "pull_policy", "stop_grace_period", "stop_signal"}  # fmt: skip
_READ = {"build", "image", "command", "environment", "volumes", "deploy", "cpus", "mem_limit", "working_dir", "user",
         "network_mode"}  # fmt: skip
_NAME = regex(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")


def plan(task: Task) -> RunPlan:
    """How a trial runs."""
    settings = Settings(task.metadata, "task.yaml")
    document = next((d for d in task.documents if d.name == _COMPOSE), None)
    services = Settings(document, _COMPOSE).table("services")
    if document is None or not isinstance(services.get(_CLIENT), dict):
        raise NotRunnableError(f"{_COMPOSE} has no service `{_CLIENT}`, in which the agent works")
    container = _container(task, document.data.value)
    compose = None if container else _compose(task)
    made = RunPlan(
        task.id,
        task.format,
        task.folder.resolve(),
        (_step(task, settings),),
        container,
        compose,
        network=Network.NONE if services[_CLIENT].get("network_mode") == "none" else Network.PUBLIC,
        unsafe=tuple(sorted(in_compose(document.data.value, "", tuple(VARIABLES)))),
    )
    return with_digests(made, task, apart=[*OWN_FILES, "tests"])


# ---------------------------------------------------------------- environment


def _compose(task: Task) -> Compose:
    file = file_in(task, _COMPOSE)
    here = named_in(file.read_text("utf-8", "replace"), task.policy)
    return Compose((file,), _CLIENT, task.folder.resolve(), (*here, *VARIABLES.items()))


def _container(task: Task, data: Mapping[str, Any]) -> Container | None:
    """The one container that the compose file describes; None where it takes compose to make it."""
    services = data["services"]
    client = {key: value for key, value in services[_CLIENT].items() if value is not None}
    if len(services) > 1 or set(data) - {"services", "version", "name"} or set(client) - _READ - _WITHOUT_EFFECT:
        return None
    try:
        command = _command(client.get("command"))
    except (TypeError, ValueError):  # compose will say what is wrong with it
        return None
    image = _image(task, client)
    volumes = client.get("volumes", [])
    mounts_logs = isinstance(volumes, list) and all(_is_log(volume) for volume in volumes)
    env = _environment(task, client.get("environment", {}))
    limits = _limits(client)
    if image is None or env is None or limits is None or not mounts_logs:
        return None
    if client.get("network_mode") not in (None, "none", "bridge", "default"):
        return None
    return Container(
        image,
        command,
        env,
        workdir=_text(client.get("working_dir")),
        user=_text(client.get("user")),
        limits=limits,
        folders=tuple(LOGS.values()),
    )


def _image(task: Task, client: Mapping[str, Any]) -> Image | None:
    build = client.get("build")
    if build is None:
        stated = client.get("image")
        return Image(stated) if isinstance(stated, str) and "$" not in stated else None
    options = {"context": build} if isinstance(build, str) else build
    if not isinstance(options, dict) or set(options) - {"context", "dockerfile", "target", "args"}:
        return None
    context, file, target = (
        options.get("context") or ".",
        options.get("dockerfile") or "Dockerfile",
        options.get("target"),
    )
    args = _pairs(options.get("args") or {})
    if args is None or not all(isinstance(part, str) and "$" not in part for part in (context, file, target or "")):
        return None
    folder = posixpath.normpath(context)
    if folder.startswith(("..", "/")) or "://" in context:
        return None
    file_in(task, posixpath.normpath(posixpath.join(folder, file)))
    return Image(build=Build(folder_in(task, folder), file, target, args))


def _command(command: Any) -> tuple[str, ...] | None:
    words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command or ()]
    return None if _KEPT_ALIVE.fullmatch(" ".join(words)) or not words else tuple(words)


def _is_log(volume: Any) -> bool:
    """Whether it is one of the mounts by which the format's harness gets at its logs."""
    found = _NAME.match(volume) if isinstance(volume, str) else None
    return found is not None and (found[1] or found[3]) in LOGS


def _environment(task: Task, stated: Any) -> tuple[tuple[str, str], ...] | None:
    known = {**dict(named_in(str(stated), task.policy)), **VARIABLES}
    pairs = _pairs(stated)
    if pairs is None or any("{trial}" in known.get(m[1] or m[3], "") for _, v in pairs for m in _NAME.finditer(v)):
        return None
    return tuple((name, _NAME.sub(lambda m: known.get(m[1] or m[3], m[2] or ""), value)) for name, value in pairs)


def _pairs(stated: Any) -> tuple[tuple[str, str], ...] | None:
    """NAME and value from a mapping or from a list of NAME=value; None where a value is this machine's."""
    if isinstance(stated, dict):
        items = [(str(name), value) for name, value in stated.items()]
    elif isinstance(stated, list) and all(isinstance(item, str) for item in stated):
        items = [(name, value if sep else None) for name, sep, value in (item.partition("=") for item in stated)]
    else:
        return None
    if any(value is None for _, value in items):
        return None
    return tuple((name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in items)


def _limits(client: Mapping[str, Any]) -> Limits | None:
    stated: Any = client
    for key, inside in (("deploy", "resources"), ("resources", "limits"), ("limits", None)):
        stated = stated.get(key) or {}
        if not isinstance(stated, dict) or (inside and set(stated) - {inside}):
            return None
    cpus, memory = stated.get("cpus", client.get("cpus")), stated.get("memory", client.get("mem_limit"))
    try:
        return Limits(float(cpus) if cpus else None, megabytes(str(memory)) if memory else None)
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


# ---------------------------------------------------------------- the step


def _step(task: Task, settings: Settings) -> Step:
    timeout = settings.positive("max_test_timeout_sec") or float(TEST_TIMEOUT)
    overlay = [Upload(folder_in(task, "tests"), TESTS, clear=True)] if task.files.has_dir("tests") else []
    overlay.append(Upload(file_in(task, SCRIPT), f"{TESTS}/{SCRIPT}"))
    # In a shell of their own the tests are root's, whoever the agent is.
    user = None if settings.flag("run_tests_in_same_shell") else "root"
    command = Command(("bash", f"{TESTS}/{SCRIPT}"), env=(("TEST_DIR", TESTS),), user=user)
    verify = Verify(
        Where.CONTAINER,
        (Check(SCRIPT, command),),
        Reader.TEST_SUMMARY,
        overlay=tuple(overlay),
        parser=settings.text("parser_name") or "pytest",
        timeout=timeout,
    )
    limit = settings.positive("max_agent_timeout_sec") or float(AGENT_TIMEOUT)
    return Step(brief_of(task), verify, oracle=_oracle(task), agent_timeout=limit)


def _oracle(task: Task) -> Oracle | None:
    if "solution.sh" in task.files:
        script = "/oracle/solution.sh"
        return Oracle((Upload(file_in(task, "solution.sh"), script),), Command(("bash", script)))
    if "solution.yaml" not in task.files or task.oracle is None:
        return None
    steps = parse(task.oracle.entry, "yaml").value
    if not isinstance(steps, list) or not all(_is_plain(item) for item in steps):
        raise NotRunnableError(
            "solution.yaml types into a terminal (keys that are no commands, or commands that are not waited for); "
            "only a list of plain commands is run here: write it as solution.sh"
        )
    return Oracle(command=Command(("bash", "-c", "\n".join(item["command"] for item in steps))))


def _is_plain(item: Any) -> bool:
    """A command that is typed with a line end and waited for."""
    if not isinstance(item, dict) or not isinstance(item.get("command"), str):
        return False
    return item.get("block") is True and item.get("append_enter", True) is True
