"""How Harbor's [environment], or a verifier's own, becomes a container: image, variables, limits, network, health."""

from __future__ import annotations

from scenlint.formats.planning import Settings, folder_in, megabytes, passed_on
from scenlint.task.model import Task
from scenlint.task.plan import Build, Command, Container, Image, Limits, Network, NotRunnableError, Probe

At = tuple[str | int, ...]
Policy = tuple[Network, tuple[str, ...]]  # a network and, for an allowlist, its hosts

LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
BUILD_TIMEOUT = 600.0
_MODES = {"public": Network.PUBLIC, "no-network": Network.NONE, "allowlist": Network.ALLOWLIST}
# Harbor's defaults for a healthcheck.
_INTERVAL, _TIMEOUT, _RETRIES = 5.0, 30.0, 3


def bash(line: str, user: str | None = None, timeout: float | None = None) -> Command:
    """A command line as Harbor runs them all."""
    return Command(("bash", "-c", line), user=user, timeout=timeout)


def container(task: Task, settings: Settings, at: At, image: Image) -> Container:
    """The container that a table of the [environment] kind describes."""
    _refuse(settings, at)
    return Container(
        image,
        env=passed_on(settings.table(*at, "env"), task.policy, f"[{_shown(at)}.env]"),
        workdir=settings.text(*at, "workdir"),
        limits=Limits(
            settings.positive(*at, "cpus"),
            _size(settings, at, "memory"),
            _size(settings, at, "storage"),
        ),
        folders=LOGS,
        probe=probe(settings, (*at, "healthcheck")),
        build_timeout=settings.positive(*at, "build_timeout_sec") or BUILD_TIMEOUT,
    )


def build(task: Task, folder: str) -> Image:
    """The image that a folder's Dockerfile builds."""
    return Image(build=Build(folder_in(task, folder)))


def user_of(settings: Settings, *tables: At) -> str | None:
    """The user that the first of some tables names, by name or by number."""
    for at in tables:
        stated = settings.data.get(*at, "user")
        if isinstance(stated, bool) or not isinstance(stated, str | int | None):
            raise settings.wrong((*at, "user"), "the name or number of a user")
        if stated is not None:
            return str(stated)
    return None


def probe(settings: Settings, at: At) -> Probe | None:
    """A healthcheck."""
    if not settings.has(*at):
        return None
    command = settings.text(*at, "command")
    if not command:
        raise NotRunnableError(f"`{_shown(at)}` in {settings.file} has no command")
    timeout = settings.positive(*at, "timeout_sec") or _TIMEOUT
    interval = settings.number(*at, "interval_sec")
    interval = _INTERVAL if interval is None else max(interval, 0.0)
    grace = max(settings.number(*at, "start_period_sec") or 0.0, 0.0)
    retries = settings.count(*at, "retries") or _RETRIES
    # The retries end it; the time in all only has to be enough for them.
    return Probe(
        bash(command, timeout=timeout),
        interval=interval,
        start_period=grace,
        retries=retries,
        timeout=grace + (retries + 1) * (interval + timeout),
    )


def network(settings: Settings, *tables: At) -> Policy | None:
    """What the first of some tables that speaks of the network says."""
    for at in tables:
        mode = settings.text(*at, "network_mode")
        hosts = settings.texts(*at, "allowed_hosts")
        if mode is None and hosts:
            raise NotRunnableError(
                f"`{_shown(at)}` in {settings.file} has `allowed_hosts`, which Harbor takes only with "
                '`network_mode = "allowlist"`'
            )
        if mode is not None:
            if mode not in _MODES:
                raise settings.wrong((*at, "network_mode"), f"one of {', '.join(_MODES)}")
            return (Network.NONE, ()) if mode == "allowlist" and not hosts else (_MODES[mode], tuple(hosts))
        internet = settings.flag(*at, "allow_internet")
        if internet is not None:
            return (Network.PUBLIC if internet else Network.NONE), ()
    return None


def _refuse(settings: Settings, at: At) -> None:
    system = settings.text(*at, "os") or "linux"
    if system.lower() != "linux":
        raise NotRunnableError(
            f"`{_shown(at)}.os` in {settings.file} is {system!r}; only Linux containers are run here"
        )
    if settings.number(*at, "gpus"):
        raise NotRunnableError(f"`{_shown(at)}.gpus` in {settings.file} asks for a GPU; containers are given none here")
    if settings.has(*at, "tpu"):
        raise NotRunnableError(f"`{_shown(at)}.tpu` in {settings.file} asks for a TPU; containers are given none here")


def _size(settings: Settings, at: At, what: str) -> int | None:
    """`memory_mb`, or the older `memory = "2G"`."""
    stated = settings.count(*at, f"{what}_mb")
    if stated is not None or not settings.has(*at, what):
        return stated
    found = megabytes(str(settings.data.get(*at, what)))
    if found is None:
        raise settings.wrong((*at, what), "a size such as 2G")
    return found


def _shown(at: At) -> str:
    return ".".join(map(str, at))
