"""A compose project as one trial may run it: judged, and freed of everything that two trials would share.

It works on the canonical model that `docker compose config` prints, in which every value has one shape only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.harness import unsafe
from scenlint.harness.engine import Options
from scenlint.task.plan import Build, Container, Image, Limits, NotRunnableError, Others

Model = dict[str, Any]

_TOP = {"name", "services", "networks", "volumes", "configs", "secrets", "version"}
_SERVICE = {
    "annotations", "attach", "blkio_config", "build", "cap_add", "cap_drop", "cgroup", "command", "configs",
    "container_name", "cpu_count", "cpu_percent", "cpu_period", "cpu_quota", "cpu_shares", "cpus", "cpuset",
    "depends_on", "deploy", "develop", "device_cgroup_rules", "devices", "dns", "dns_opt", "dns_search", "domainname",
    "entrypoint", "env_file", "environment", "expose", "extra_hosts", "gpus", "group_add", "healthcheck", "hostname",
    "image", "init", "ipc", "label_file", "labels", "links", "logging", "mac_address", "mem_limit", "mem_reservation",
    "mem_swappiness", "memswap_limit", "network_mode", "networks", "oom_kill_disable", "oom_score_adj", "pid",
    "pids_limit", "platform", "ports", "post_start", "pre_stop", "privileged", "profiles", "pull_policy", "read_only",
    "restart", "scale", "secrets", "security_opt", "shm_size", "stdin_open", "stop_grace_period", "stop_signal",
    "storage_opt", "sysctls", "tmpfs", "tty", "ulimits", "user", "userns_mode", "uts", "volumes", "volumes_from",
    "working_dir",
}  # fmt: skip
_BUILD = {"context", "dockerfile", "dockerfile_inline", "args", "target", "tags", "labels", "cache_from", "cache_to",
          "no_cache", "pull", "platforms", "provenance", "sbom", "shm_size"}  # fmt: skip
_NAMESPACES = {"pid": "pid", "ipc": "ipc", "uts": "uts", "userns_mode": "userns", "cgroup": "cgroup",
               "network_mode": "network"}  # fmt: skip
NO_ADDRESS = {"com.docker.network.bridge.inhibit_ipv4": "true"}  # this machine is not reachable on the network
NO_WAY_OUT = {"com.docker.network.bridge.enable_ip_masquerade": "false"}
# Names of this machine's own DNS would be resolved, and so asked for outside, even from a network without a way out.
NO_DNS = ["127.0.0.1"]
DNS_OPTIONS = ["timeout:1", "attempts:1"]  # older engines do not answer at all when they cannot ask further


@dataclass(frozen=True)
class Terms:
    """On what terms a project runs in a trial."""

    labels: Mapping[str, str]
    default: Limits  # for services that state none
    cpus: float  # that there are
    public: bool  # whether its networks have a way out
    logs: Path | None = None  # the trial's folder on this machine that files may name for logs; it is not mounted
    port: int | None = None  # the port on this machine that is published, on loopback; all others are not
    keep_names: bool = False  # containers keep the names that the files give them
    main: str = ""
    container: Container | None = None  # what holds for `main`
    others: Others = field(default_factory=Others)
    notes: list[str] = field(default_factory=list)  # limits that could not be held
    folders: list[str] = field(default_factory=list)  # of `main`, to be made in place of mounts for logs


# Judging


def check(model: Model, folder: Path, options: Options, logs: Path | None = None) -> None:
    """NotRunnableError for what is unsafe and not allowed, and for what this harness does not know."""
    unknown = {key for key in model if key not in _TOP and not key.startswith("x-")}
    for name, service in _services(model):
        unknown |= {f"{name}.{key}" for key in service if key not in _SERVICE and not key.startswith("x-")}
        unknown |= {f"{name}.build.{key}" for key in service.get("build") or () if key not in _BUILD}
    if unknown:
        named = ", ".join(f"`{key}`" for key in sorted(unknown))
        raise NotRunnableError(f"the compose file uses {named}, which this harness does not know: do without it")
    unsafe.refuse(set(_asked(model, folder, logs)), options)


def _asked(model: Model, folder: Path, logs: Path | None) -> Iterator[str]:
    for _, service in _services(model):
        yield from _asked_by(service, folder, logs)
    for volume in (model.get("volumes") or {}).values():
        if volume and (volume.get("external") or volume.get("driver", "local") != "local" or volume.get("driver_opts")):
            yield unsafe.MOUNT
    for network in (model.get("networks") or {}).values():
        if network and network.get("external"):
            yield "external-network"
        elif network and network.get("driver", "bridge") not in ("bridge", "default"):
            yield "host-network"
    for kind in ("configs", "secrets"):
        for entry in (model.get(kind) or {}).values():
            file = entry.get("file")
            if entry.get("environment") or entry.get("external"):
                yield unsafe.FILES
            if file and set(unsafe.bind(file, False, folder)):
                yield unsafe.FILES


def _asked_by(service: Model, folder: Path, logs: Path | None) -> Iterator[str]:
    hooks = [*(service.get("post_start") or ()), *(service.get("pre_stop") or ())]
    if service.get("privileged") or any(hook.get("privileged") for hook in hooks):
        yield "privileged"
    if service.get("cap_add"):
        yield "cap-add"
    reserved = ((service.get("deploy") or {}).get("resources") or {}).get("reservations") or {}
    if any(service.get(key) for key in ("devices", "device_cgroup_rules", "gpus")) or reserved.get("devices"):
        yield "devices"
    for option in service.get("security_opt") or ():
        yield from unsafe.security_option(str(option))
    if any(str(other).startswith("container:") for other in service.get("volumes_from") or ()):
        yield unsafe.OTHER
    for key, kind in _NAMESPACES.items():
        yield from unsafe.namespace(kind, str(service.get(key) or ""))
    for volume in service.get("volumes") or ():
        source = str(volume.get("source") or "")
        if volume.get("type") == "bind" and not _is_log(source, logs):
            yield from unsafe.bind(source, not volume.get("read_only"), folder)
        elif volume.get("type") not in ("bind", "volume", "tmpfs"):
            yield unsafe.MOUNT
    build = service.get("build")
    # A context elsewhere: what it holds is not the task's, nor is it known before it is fetched.
    if build and ("://" in str(build.get("context")) or set(unsafe.bind(str(build.get("context")), False, folder))):
        yield unsafe.FILES


# Images


def image_of(service: Model, placeholder: str, instead: Image | None, scratch: Path) -> Image:
    """What a service's containers are made from; an inline Dockerfile is written below `scratch`."""
    build, reference = service.get("build"), service.get("image")
    if not build:
        return instead if reference == placeholder and instead else Image(reference)
    context = Path(str(build.get("context")))
    dockerfile = str(build.get("dockerfile") or "Dockerfile")
    if build.get("dockerfile_inline"):
        scratch.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(_plain(build["dockerfile_inline"]), "utf-8")
        dockerfile = str(scratch)
    args = ((str(k), _plain(v)) for k, v in (build.get("args") or {}).items() if v is not None)
    return Image(build=Build(context, dockerfile, build.get("target") or None, tuple(args)))


# Adapting


def adapt(model: Model, images: Mapping[str, str], terms: Terms) -> Model:
    """The project to be started: images by id, the run's labels and limits on everything, nothing fixed or shared."""
    services = {name: _service(name, service, images[name], terms) for name, service in _services(model)}
    networks = model.get("networks") or {}
    if any("default" in (service.get("networks") or ()) for service in services.values()):
        networks = {"default": None, **networks}
    return {
        "services": services,
        "networks": {name: _network(network or {}, services, terms) for name, network in networks.items()},
        "volumes": {
            name: volume if (volume or {}).get("external") else _labelled(_without(volume, "name"), terms)
            for name, volume in (model.get("volumes") or {}).items()
        },
        **{kind: model[kind] for kind in ("configs", "secrets") if kind in model},
    }


def _service(name: str, service: Model, image: str, terms: Terms) -> Model:
    out = _labelled(_without(service, "build", "develop", "profiles", "env_file", "label_file", "ports"), terms)
    out |= {"image": image, "pull_policy": "never"}
    # Everything in the container may write to PID 1's output.
    out["logging"] = {"driver": "json-file", "options": {"max-size": "10m", "max-file": "1"}}
    if out.get("network_mode") in ("bridge", "default"):
        del out["network_mode"]
        out["networks"] = {"default": None}
    fixed = out.get("container_name")
    if fixed and not terms.keep_names:
        del out["container_name"]
        # Other services may call it by that name.
        out["networks"] = {key: _aliased(value or {}, fixed) for key, value in (out.get("networks") or {}).items()}
    if not terms.public and "network_mode" not in out:
        out |= {"dns": NO_DNS, "dns_opt": DNS_OPTIONS}
    ports = [p for p in service.get("ports") or () if terms.port and str(p.get("published")) == str(terms.port)]
    if ports:
        out["ports"] = [{**_without(port, "name"), "host_ip": "127.0.0.1"} for port in ports]
    environment = {key: value for key, value in (service.get("environment") or {}).items() if value is not None}
    extra = terms.container if name == terms.main else None
    added = terms.others.env if name != terms.main else extra.env if extra else ()
    out["environment"] = environment | {key: escaped(value) for key, value in added}
    out["volumes"] = list(_volumes(name, out.get("volumes") or [], terms))
    out |= _limits(out, extra.limits if extra else Limits(), terms)
    deploy = dict(out.get("deploy") or {})
    if "resources" in deploy:
        deploy["resources"] = _without(deploy["resources"], "limits")
    return out | ({"deploy": deploy} if deploy else {})


def _volumes(name: str, volumes: list[Model], terms: Terms) -> Iterator[Model]:
    """Mounts of the trial's folder for logs become folders of the container's own."""
    for volume in volumes:
        if not _is_log(str(volume.get("source") or ""), terms.logs):
            yield volume
        elif name == terms.main:
            terms.folders.append(volume["target"])
        else:
            yield {"type": "volume", "target": volume["target"]}


def _limits(service: Model, own: Limits, terms: Terms) -> Model:
    stated = ((service.get("deploy") or {}).get("resources") or {}).get("limits") or {}
    asked = float(stated.get("cpus") or service.get("cpus") or own.cpus or 0)
    cpus = asked or float(terms.default.cpus or 0)
    if cpus > terms.cpus:
        terms.notes.append(f"{cpus:g} CPUs are asked for, {terms.cpus:g} are there")
        cpus = terms.cpus
    megabytes = own.memory_mb or terms.default.memory_mb
    memory = stated.get("memory") or service.get("mem_limit") or (f"{megabytes}m" if megabytes else 0)
    pids = stated.get("pids") or service.get("pids_limit") or own.pids or terms.default.pids
    if terms.others.one_cpu and asked > 1:
        raise NotRunnableError(f"a service of the task asks for {asked:g} processors")
    out: Model = {"cpus": cpus, "mem_limit": memory, "memswap_limit": memory, "pids_limit": pids}
    if terms.others.one_cpu:
        out["cpuset"] = "0"
    return {key: value for key, value in out.items() if value}


def _network(network: Model, services: Model, terms: Terms) -> Model:
    if network.get("external"):
        return network
    out = _labelled(_without(network, "name"), terms)
    if not _has_addresses(services):
        out.pop("ipam", None)  # two trials at once would want the same addresses
    if not terms.public:
        way = NO_WAY_OUT if terms.port else NO_ADDRESS
        out |= {"driver_opts": {**(out.get("driver_opts") or {}), **way}, "enable_ipv6": False}
        # Without a way out from it no port of a network can be published either.
        out["internal"] = not terms.port
    return out


def _has_addresses(services: Model) -> bool:
    return any(
        key in (at or {})
        for service in services.values()
        for at in (service.get("networks") or {}).values()
        for key in ("ipv4_address", "ipv6_address")
    )


def _aliased(network: Model, name: str) -> Model:
    return {**network, "aliases": [*(network.get("aliases") or ()), name]}


def _labelled(thing: Model | None, terms: Terms) -> Model:
    given = {key: escaped(value) for key, value in terms.labels.items()}
    return {**(thing or {}), "labels": {**((thing or {}).get("labels") or {}), **given}}


def escaped(text: str) -> str:
    """Literal text for a file in which `$` begins a variable."""
    return text.replace("$", "$$")


def _plain(value: Any) -> str:
    return str(value).replace("$$", "$")


def _without(thing: Model | None, *keys: str) -> Model:
    return {key: value for key, value in (thing or {}).items() if key not in keys}


def _services(model: Model) -> Iterator[tuple[str, Model]]:
    services: Mapping[str, Model] = model.get("services") or {}
    yield from services.items()


def _is_log(source: str, logs: Path | None) -> bool:
    return logs is not None and bool(re.match(re.escape(str(logs)) + r"(?:/|$)", source)) and ".." not in source
