"""A container that is given rights over the machine it runs on."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source import shell
from scenlint.source.data import parse
from scenlint.source.text import Fragment, Span
from scenlint.task.images import services
from scenlint.task.installs.model import arguments
from scenlint.task.model import Document

_HELP = "leave it out; where the task really needs it, say why in a suppression"
# Keys whose value `host` joins a namespace of the machine.
_NAMESPACES = {"network_mode": "network", "pid": "process", "ipc": "memory", "userns_mode": "user", "uts": "host-name"}


@rule(
    "unsafe-environment",
    "SL411",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    aliases=[
        "compose-privileged",
        "compose-additional-capabilities",
        "compose-writable-bind-mount",
        "compose-external-bind-mount",
    ],
    refute="the harness overrides the setting before it starts the container",
)
def unsafe_environment(task: Task) -> Iterator[Finding]:
    for document in task.environment.compose if task.environment else []:
        for name, service in services(document).items():
            for at, what in _of_service(task, document, name, service):
                yield Finding.at(at, f"service `{name}` {what}", help=_HELP)
    apps = task.files.read(task.key) if task.shared else None
    if apps is not None:
        data = parse(Fragment.of(apps, "yaml"))
        listed = data.get("apps")
        for name in listed if isinstance(listed, dict) else ():
            for at, what in _of_command(data.text("apps", name, "start", language="shell")):
                yield Finding.at(at, f"application `{name}` {what}", help=_HELP)


def _of_service(task: Task, document: Document, name: str, service: dict[str, Any]) -> Iterator[tuple[Span, str]]:
    data, here = document.data, ("services", name)
    if service.get("privileged") is True:
        yield data.key_span(*here, "privileged"), "is privileged: root in it is root on the machine"
    for key, what in _NAMESPACES.items():
        if service.get(key) == "host":
            yield data.key_span(*here, key), f"shares the machine's {what} namespace (`{key}: host`)"
    if service.get("cap_add"):
        added = ", ".join(f"`{c}`" for c in service["cap_add"]) if isinstance(service["cap_add"], list) else ""
        yield data.key_span(*here, "cap_add"), f"is given further capabilities: {added}"
    options = service.get("security_opt")
    for n, option in enumerate(options if isinstance(options, list) else []):
        if re.search(r"unconfined|label[:=]disable|no-new-privileges[:=]false", str(option)):
            yield data.span(*here, "security_opt", n), f"switches a protection off (`{option}`)"
    volumes = service.get("volumes")
    folder = posixpath.dirname(document.fragment.path.relative_to(task.files.root).as_posix()) if volumes else ""
    for n, volume in enumerate(volumes if isinstance(volumes, list) else []):
        source = volume.get("source") if isinstance(volume, dict) else str(volume).partition(":")[0]
        if what := _mount(str(source or ""), folder):
            yield data.span(*here, "volumes", n), what


def _mount(source: str, folder: str) -> str:
    """What is wrong with mounting this into a container; "" for named volumes, the task's own files and variables."""
    if source.endswith(("docker.sock", "containerd.sock", "podman.sock")):
        return f"is given the machine's container engine (`{source}`)"
    if source.startswith(("/", "~", "$HOME", "${HOME")):
        return f"mounts `{source}` of the machine"
    if source.startswith("..") and posixpath.normpath(posixpath.join(folder, source)).startswith(".."):
        return f"mounts `{source}`, which lies outside the task"
    return ""


def _of_command(line: Fragment) -> Iterator[tuple[Span, str]]:
    """What a `docker run` line gives a container."""
    for command in shell.parse(line).deep():
        args = arguments(command, {})
        if len(args) < 3 or args[0].text not in ("docker", "podman") or args[1].text not in ("run", "create"):
            continue
        for option, value in zip(args[2:], [*args[3:], None], strict=True):
            flag, equals, given = option.text.partition("=")
            given = given if equals else value.text if value else ""
            if flag == "--privileged" and given != "false":
                yield option.span, "is privileged: root in it is root on the machine"
            elif flag in ("--network", "--net", "--pid", "--ipc", "--userns", "--uts") and given == "host":
                yield option.span, f"shares a namespace of the machine (`{flag} host`)"
            elif flag == "--cap-add":
                yield option.span, f"is given a further capability: `{given}`"
            elif flag == "--security-opt" and re.search(r"unconfined|label[:=]disable", given):
                yield option.span, f"switches a protection off (`{given}`)"
            elif flag in ("-v", "--volume", "--mount") and (what := _mount(_source(given), "")):
                yield option.span, what


def _source(volume: str) -> str:
    """What a volume option mounts, in its short or its long form."""
    long = re.search(r"(?:^|,)(?:source|src)=([^,]+)", volume)
    return long[1] if long else "" if "," in volume else volume.partition(":")[0]
