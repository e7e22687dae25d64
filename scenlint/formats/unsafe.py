"""What a task asks of the machine it runs on that could harm it: names for `--allow-unsafe`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenlint.source.regex import regex

SOCKET = "docker-socket"
MOUNT = "host-mount"
FILES = "host-files"  # files of the machine that lie outside of the task
_SOCKETS = regex(r"(?:docker|podman|containerd)\.sock\b")
_NAMESPACES = {"pid": "pid", "ipc": "ipc", "uts": "uts", "userns_mode": "userns", "userns": "userns",
               "cgroup": "cgroup", "cgroupns": "cgroup", "network_mode": "network", "network": "network",
               "net": "network"}  # fmt: skip
_HARMLESS = regex(r"no-new-privileges(?:[:=]true)?|label[:=].*|(?:seccomp|apparmor)[:=](?!unconfined).*")
# Options of `docker run` that stand alone; every other one written without `=` takes the next word.
_ALONE = regex(r"--(?:detach|rm|init|privileged|interactive|tty|read-only|no-healthcheck|publish-all|help)|-[ditP]+")
_VARIABLE = regex(r"\$(?:\{(\w+)(?:[:?+-][^}]*)?\}|(\w+))")


def in_compose(data: Mapping[str, Any], folder: str = "", own: Sequence[str] = ()) -> set[str]:
    """What a compose file asks for. `folder`: where it lies in the task; `own`: variables that the harness sets."""
    out = set[str]()
    services = data.get("services")
    for service in services.values() if isinstance(services, dict) else ():
        if isinstance(service, dict):
            out |= set(_service(service, folder, own))
    if any(_leads_out(path, folder) for path in _included(data.get("include"))):
        out.add(FILES)
    volumes, networks = data.get("volumes"), data.get("networks")
    for volume in volumes.values() if isinstance(volumes, dict) else ():
        if isinstance(volume, dict) and (volume.get("external") or _options(volume).get("device")):
            out.add(MOUNT)
    for network in networks.values() if isinstance(networks, dict) else ():
        if isinstance(network, dict) and (network.get("external") or network.get("driver") in ("host", "macvlan")):
            out.add("host-network" if network.get("driver") else "external-network")
    for kind in ("configs", "secrets"):
        entries = data.get(kind)
        for entry in entries.values() if isinstance(entries, dict) else ():
            if isinstance(entry, dict) and (entry.get("environment") or _leads_out(entry.get("file"), folder)):
                out.add(FILES)
    return out


def in_docker_run(argv: Sequence[str], root: str) -> set[str]:
    """What a `docker run` asks for; mounts below `root` that cannot be written to are its own files."""
    out = set[str]()
    for name, value in _docker_options(argv):
        match name:
            case "privileged" if value != "false":
                out.add("privileged")
            case "volume" | "v" | "mount":
                out |= set(_mount(_parts(name, value), "", (), root))
            case "cap-add":
                out.add("cap-add")
            case "device" | "gpus" | "device-cgroup-rule":
                out.add("devices")
            case "security-opt" if not _HARMLESS.fullmatch(value):
                out.add("security-opt")
            case "env-file":
                out.add(FILES)
            case "volumes-from":
                out.add("other-container")
            case _ if name in _NAMESPACES:
                out |= set(_namespace(name, value))
    return out


def _service(service: Mapping[str, Any], folder: str, own: Sequence[str]) -> Iterator[str]:
    if service.get("privileged") not in (None, False, "false"):
        yield "privileged"
    if service.get("cap_add"):
        yield "cap-add"
    deploy = service.get("deploy")
    reserved = _at(deploy, "resources", "reservations", "devices")
    if service.get("devices") or service.get("device_cgroup_rules") or service.get("gpus") or reserved:
        yield "devices"
    if any(not _HARMLESS.fullmatch(str(item)) for item in _listed(service.get("security_opt"))):
        yield "security-opt"
    if service.get("volumes_from"):
        yield "other-container"
    for key in ("pid", "ipc", "uts", "userns_mode", "cgroup", "network_mode"):
        yield from _namespace(key, str(service.get(key) or ""))
    for volume in _listed(service.get("volumes")):
        yield from _mount(_volume(volume), folder, own)
    yield from _files(service, folder, own)


def _files(service: Mapping[str, Any], folder: str, own: Sequence[str]) -> Iterator[str]:
    """Files outside of the task that are read while the project is set up."""
    build, extends = service.get("build"), service.get("extends")
    paths: list[Any] = [extends.get("file")] if isinstance(extends, dict) else []
    paths += [item.get("path") if isinstance(item, dict) else item for item in _listed(service.get("env_file"))]
    if isinstance(build, dict):
        contexts = build.get("additional_contexts")
        paths += [build.get("context"), *(contexts.values() if isinstance(contexts, dict) else ())]
        if build.get("privileged") or build.get("entitlements"):
            yield "privileged"
        if build.get("ssh"):
            yield FILES
        yield from _namespace("network", str(build.get("network") or ""))
    else:
        paths.append(build)
    if any(_leads_out(path, folder) and not _is_own(path, own) for path in paths):
        yield FILES


def _namespace(key: str, value: str) -> Iterator[str]:
    if value == "host":
        yield f"host-{_NAMESPACES[key]}"
    elif value.startswith("container:"):
        yield "other-container"


# ---------------------------------------------------------------- mounts


def _mount(mount: tuple[str, bool], folder: str, own: Sequence[str], root: str = "") -> Iterator[str]:
    """`mount`: source ("" for none, a name for a volume) and whether it can be written to."""
    source, writable = mount
    if _SOCKETS.search(source):
        yield SOCKET
    elif not source or re.fullmatch(r"[A-Za-z0-9][\w.-]*", source) or _is_own(source, own):
        return
    elif root and source.startswith(f"{root}/") and ".." not in source:
        yield from [MOUNT] if writable else []
    elif _leads_out(source, folder) or writable:
        yield MOUNT


def _volume(volume: Any) -> tuple[str, bool]:
    """Source and whether it can be written to, of a service's volume in the short or the long form."""
    if isinstance(volume, dict):
        if volume.get("type", "volume") in ("bind", "npipe") or "bind" in volume:
            return str(volume.get("source") or "/"), not volume.get("read_only")
        return "", True
    return _parts("volume", str(volume))


def _parts(option: str, value: str) -> tuple[str, bool]:
    if option == "mount":
        pairs = dict(part.partition("=")[::2] for part in value.split(","))
        source = pairs.get("source") or pairs.get("src") or ""
        read_only = pairs.get("readonly", pairs.get("ro", "false")) in ("", "true", "1")
        return (source if pairs.get("type") == "bind" else ""), not read_only
    # A colon inside ${NAME:-default} divides nothing.
    pieces = re.split(r":(?![^{]*\})", value)
    source = pieces[0] if len(pieces) > 1 else ""
    return source, len(pieces) < 3 or "ro" not in pieces[2].split(",")


def _is_own(path: Any, own: Sequence[str]) -> bool:
    found = _VARIABLE.match(path) if isinstance(path, str) else None
    return found is not None and (found[1] or found[2]) in own and ".." not in path


def _leads_out(path: Any, folder: str) -> bool:
    """Whether a path that counts from a folder of the task leads out of the task, or where it leads cannot be told."""
    if not isinstance(path, str) or re.match(r"[\w+.-]+://|git@", path):
        return False
    if path.startswith(("/", "~")) or "$" in path:
        return True
    return posixpath.normpath(posixpath.join(folder or ".", path)).startswith("..")


# ---------------------------------------------------------------- the shapes of compose files and of docker's options


def _included(include: Any) -> Iterator[Any]:
    for item in _listed(include):
        paths = item.get("path") if isinstance(item, dict) else item
        yield from _listed(paths)


def _options(volume: Mapping[str, Any]) -> Mapping[str, Any]:
    options = volume.get("driver_opts")
    return options if isinstance(options, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _docker_options(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options between `docker run` and the image, by their long names where there is `=`."""
    words = iter(argv[2:])
    for word in words:
        if not word.startswith("-"):
            return
        name, has_value, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and not _ALONE.fullmatch(word) and len(word) > 2:
            name, value = word[1], word[2:].lstrip("=")  # -v/a:/b
        elif not has_value and not _ALONE.fullmatch(word):
            value = next(words, "")
        yield name, value
