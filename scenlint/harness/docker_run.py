"""Reads a `docker run …` command line into what the engine is asked for, and into what of it is unsafe."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenlint.harness import unsafe
from scenlint.task.plan import NotRunnableError

_SHORT = {
    "a": "attach", "c": "cpu-shares", "d": "detach", "e": "env", "h": "hostname", "i": "interactive", "l": "label",
    "m": "memory", "p": "publish", "P": "publish-all", "q": "quiet", "t": "tty", "u": "user", "v": "volume",
    "w": "workdir",
}  # fmt: skip
_ALONE = {
    "detach", "disable-content-trust", "init", "interactive", "no-healthcheck", "privileged", "publish-all", "quiet",
    "read-only", "rm", "sig-proxy", "tty",
}  # fmt: skip
# The harness decides these itself, or they say how the client behaves.
_IGNORED = {
    "attach", "cidfile", "detach", "detach-keys", "disable-content-trust", "dns", "dns-option", "dns-search", "ip",
    "log-driver", "log-opt", "name", "network-alias", "publish-all", "pull", "quiet", "rm", "sig-proxy",
}  # fmt: skip
_TEXTS = {  # option -> the engine's name for it, in the container's configuration
    "domainname": "domainname", "hostname": "hostname", "platform": "platform", "stop-signal": "stop_signal",
    "user": "user", "workdir": "working_dir",
}  # fmt: skip
_HOST_TEXTS = {
    "memory": "mem_limit", "memory-reservation": "mem_reservation", "memory-swap": "memswap_limit",
    "shm-size": "shm_size",
}  # fmt: skip
_HOST_LISTS = {"cap-add": "cap_add", "cap-drop": "cap_drop", "group-add": "group_add", "security-opt": "security_opt",
               "volumes-from": "volumes_from"}  # fmt: skip
_NAMESPACES = {"pid": "pid_mode", "ipc": "ipc_mode", "uts": "uts_mode", "userns": "userns_mode",
               "cgroupns": "cgroupns", "network": "network_mode", "net": "network_mode"}  # fmt: skip
_HEALTH = {"health-interval": "interval", "health-timeout": "timeout", "health-start-period": "start_period"}
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass
class Line:
    """One `docker run`: the image, its command, and what the engine's calls take as configuration."""

    image: str = ""
    command: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    env: list[str] = field(default_factory=list)
    published: list[tuple[str, str]] = field(default_factory=list)  # (port on the host or "", port in it/protocol)
    volumes: list[tuple[str, str, str]] = field(default_factory=list)  # (source or "", target, "rw" or "ro")
    tmpfs: dict[str, str] = field(default_factory=dict)
    health: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    unsafe: set[str] = field(default_factory=set)


def read(argv: Sequence[str]) -> Line:
    """What a command line asks for; NotRunnableError names what in it is not understood."""
    words = list(argv)
    if len(words) < 3 or words[0] not in ("docker", "podman") or words[1] != "run":
        raise NotRunnableError(f"`{shlex.join(words)}` is no `docker run … IMAGE`")
    out, rest = Line(), iter(words[2:])
    for word in rest:
        if not word.startswith("-") or word == "--":
            left = [*([] if word == "--" else [word]), *rest]
            out.image, out.command = (left[0] if left else ""), left[1:]
            break
        for name, value in _options(word, rest):
            try:
                _take(out, name, value)
            except (ValueError, IndexError):
                raise NotRunnableError(f"`--{name} {value}` of a `docker run` is not understood") from None
    if not out.image:
        raise NotRunnableError(f"`{shlex.join(words)}` names no image")
    if out.health:
        out.config["healthcheck"] = out.health
    return out


def _options(word: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    """The options of one word, by their long names; a value that is missing is taken from the next word."""
    if word.startswith("--"):
        name, has_value, value = word[2:].partition("=")
        if not has_value:
            value = "true" if name in _ALONE else next(rest, "")
        yield name, value
        return
    letters = word[1:]
    for n, letter in enumerate(letters):
        name = _SHORT.get(letter, "")
        if not name:
            raise NotRunnableError(f"the option `-{letter}` of a `docker run` is not known here")
        if name not in _ALONE:
            yield name, letters[n + 1 :].removeprefix("=") or next(rest, "")
            return
        yield name, "true"


def _take(out: Line, name: str, value: str) -> None:
    if name in _ALONE and value.lower() in ("false", "f", "0"):
        return
    match name:
        case _ if name in _IGNORED:
            pass
        case "env":
            out.env += [value] if "=" in value else []  # a name alone would hand in a variable of this machine
        case "publish":
            _, _, rest = value.rpartition("]:") if "]:" in value else ("", "", value)
            *host, inner = rest.split(":")
            out.published.append((host[-1] if host else "", inner if "/" in inner else f"{inner}/tcp"))
        case "expose":
            out.config.setdefault("ports", []).append(value)
        case "volume":
            _volume(out, *value.split(":"))
        case "mount":
            _mount(out, dict(part.partition("=")[::2] for part in value.split(",")))
        case "tmpfs":
            path, _, options = value.partition(":")
            out.tmpfs[path] = options
        case "label":
            key, _, text = value.partition("=")
            out.labels[key] = text
        case "entrypoint":
            out.config["entrypoint"] = [value] if value else []
        case "interactive":
            out.config["stdin_open"] = True
        case "tty":
            out.config["tty"] = True
        case "stop-timeout":
            out.config["stop_timeout"] = int(value)
        case "privileged":
            out.unsafe.add("privileged")
            out.host["privileged"] = True
        case "init" | "read-only":
            out.host[name.replace("-", "_")] = True
        case "cpus":
            out.host["nano_cpus"] = int(float(value) * 1e9)
        case "cpu-shares" | "pids-limit" | "oom-score-adj":
            out.host[name.replace("-", "_")] = int(value)
        case "restart":
            policy, _, count = value.partition(":")
            out.host["restart_policy"] = {"Name": policy, "MaximumRetryCount": int(count or 0)}
        case "add-host":
            host_name, _, address = value.partition(":")
            out.host.setdefault("extra_hosts", {})[host_name] = address
        case "sysctl":
            key, _, text = value.partition("=")
            out.host.setdefault("sysctls", {})[key] = text
        case "ulimit":
            key, _, text = value.partition("=")
            soft, _, hard = text.partition(":")
            out.host.setdefault("ulimits", []).append({"Name": key, "Soft": int(soft), "Hard": int(hard or soft)})
        case "device":
            out.unsafe.add("devices")
            out.host.setdefault("devices", []).append(value)
        case "gpus":
            out.unsafe.add("devices")
            number = -1 if value == "all" else int(value)
            out.host["device_requests"] = [{"Driver": "", "Count": number, "Capabilities": [["gpu"]]}]
        case "no-healthcheck":
            out.health = {"test": ["NONE"]}
        case "health-cmd":
            out.health["test"] = ["CMD-SHELL", value]
        case "health-retries":
            out.health["retries"] = int(value)
        case _ if name in _HEALTH:
            out.health[_HEALTH[name]] = int(_seconds(value) * 1e9)
        case _ if name in _NAMESPACES:
            _namespace(out, name, value)
        case _ if name in _TEXTS:
            out.config[_TEXTS[name]] = value
        case _ if name in _HOST_TEXTS:
            out.host[_HOST_TEXTS[name]] = value
        case _ if name in _HOST_LISTS:
            _listed(out, name, value)
        case _:
            raise NotRunnableError(f"the option `--{name}` of a `docker run` is not known here")


def _listed(out: Line, name: str, value: str) -> None:
    if name == "cap-add":
        out.unsafe.add("cap-add")
    elif name == "volumes-from":
        out.unsafe.add(unsafe.OTHER)
    elif name == "security-opt":
        out.unsafe |= set(unsafe.security_option(value))
    out.host.setdefault(_HOST_LISTS[name], []).append(value)


def _namespace(out: Line, name: str, value: str) -> None:
    key = _NAMESPACES[name]
    out.unsafe |= set(unsafe.namespace({"net": "network", "cgroupns": "cgroup"}.get(name, name), value))
    if key != "network_mode" or value in ("host", "none") or value.startswith("container:"):
        out.host[key] = value  # any other network is the trial's own


def _volume(out: Line, *parts: str) -> None:
    source, target = (parts[0], parts[1]) if len(parts) > 1 else ("", parts[0])
    mode = "ro" if len(parts) > 2 and "ro" in parts[2].split(",") else "rw"
    if not target.startswith("/"):
        raise ValueError(target)
    if "/" in source or source.startswith((".", "~")):
        out.unsafe |= set(unsafe.bind(source, mode == "rw"))
    out.volumes.append((source, target, mode))


def _mount(out: Line, parts: dict[str, str]) -> None:
    target = next((parts[k] for k in ("target", "destination", "dst") if k in parts), "")
    if not target.startswith("/"):
        raise ValueError(target)
    mode = "ro" if parts.get("readonly", parts.get("ro", "false")) in ("", "true", "1") else "rw"
    source = parts.get("source", parts.get("src", ""))
    match parts.get("type", "volume"):
        case "tmpfs":
            out.tmpfs[target] = f"size={parts['tmpfs-size']}" if "tmpfs-size" in parts else ""
        case "bind":
            out.unsafe |= set(unsafe.bind(source, mode == "rw"))
            out.volumes.append((source, target, mode))
        case "volume" if "/" not in source:
            if "volume-opt" in parts:
                raise ValueError("volume-opt")
            out.volumes.append((source, target, mode))
        case kind:
            raise ValueError(kind)


def _seconds(text: str) -> float:
    """Seconds of `1m30s`."""
    found = re.findall(r"([\d.]+)(h|ms|m|us|µs|ns|s)", text)
    if "".join(number + unit for number, unit in found) != text or not found:
        raise ValueError(text)
    return sum(float(number) * _UNITS[unit] for number, unit in found)
