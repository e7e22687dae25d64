"""A RunPlan: the recipe for a trial of one task, in terms that hold for every format; what the harness works from.

`Format.plan(task)` makes it, the harness runs it and knows no format. Paths inside an environment are absolute posix
strings; paths on the host are Paths; times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

# Where a local sandbox has what it is given.
WORKSPACE = "/workspace"  # the working directory of the agent and of the checks
VERIFIER = "/verifier"  # what is overlaid for grading; there only meanwhile, and read-only
SUBMISSION = "/submission/solution.py"  # a file that is handed in as it is (Oracle.submission)


class Where(StrEnum):
    """Where something runs."""

    CONTAINER = "container"  # in the agent's container
    SEPARATE = "separate"  # in a fresh container that gets only the declared artifacts
    LOCAL = "local"  # in the local sandbox (bubblewrap), on a private copy of the working directory


@dataclass(frozen=True)
class Build:
    """An image to build: the context folder, the Dockerfile relative to it, and how."""

    context: Path
    dockerfile: str = "Dockerfile"
    target: str | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    anew: bool = False  # without any cache, and under a name of its own


@dataclass(frozen=True)
class Image:
    """What a container is made from: a reference or a build, never both."""

    reference: str | None = None
    build: Build | None = None


@dataclass(frozen=True)
class Limits:
    """Resources of a container or a local sandbox; None: the harness's default."""

    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    pids: int | None = None
    one_cpu: bool = False  # a single processor is seen, whatever share of time `cpus` gives


@dataclass(frozen=True)
class Command:
    """A program to run. `argv` is never given to a shell. `env` is added to what the environment has already."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    user: str | None = None
    timeout: float | None = None
    stdin: bytes = b""


@dataclass(frozen=True)
class Upload:
    """A host file or folder copied into the environment; `clear` empties the target first: nothing planted survives."""

    source: Path
    target: str
    clear: bool = False
    executable: bool = False
    exclude: tuple[str, ...] = ()  # files and folders below `source`, relative to it, that are left out


@dataclass(frozen=True)
class Probe:
    """How to tell that something is ready: a command in its container, or an HTTP path on a published port."""

    command: Command | None = None
    http_path: str | None = None
    accept: frozenset[int] = frozenset({200, 301, 302, 303, 401, 403})
    interval: float = 1.0
    start_period: float = 0.0
    timeout: float = 300.0  # in all, until the environment counts as failed
    retries: int | None = None


@dataclass(frozen=True)
class Container:
    """The agent's container, or the separate verifier's. `command` None: kept alive doing nothing."""

    image: Image
    command: tuple[str, ...] | None = None
    env: tuple[tuple[str, str], ...] = ()
    workdir: str | None = None
    user: str | None = None
    limits: Limits = Limits()
    folders: tuple[str, ...] = ()  # made before anything runs, writable for everyone (/logs/agent)
    probe: Probe | None = None
    build_timeout: float = 600.0


@dataclass(frozen=True)
class Compose:
    """A compose project whose service `main` is the agent's container; `files` in the order of merging.

    `container` is what holds for `main` unless the files say otherwise: its image or build, command and limits; its
    variables, folders and probe are added to what the files say. In the values of `env`, which is for `${…}` in the
    files, `{trial}` stands for the trial's own name and `{logs}` for a folder of the trial's own on the host.
    """

    files: tuple[Path, ...]
    main: str
    folder: Path  # project directory, to which relative paths in the files are relative
    env: tuple[tuple[str, str], ...] = ()
    container: Container | None = None
    anew: bool = False  # what is built is built without any cache, and under names of its own


@dataclass(frozen=True)
class Others:
    """What an experiment changes in the containers beside the agent's: apps, and the services of a compose project."""

    env: tuple[tuple[str, str], ...] = ()
    files: tuple[Upload, ...] = ()  # are there before anything runs
    texts: tuple[tuple[str, str], ...] = ()  # likewise: path, content
    one_cpu: bool = False  # a single processor is seen; the agent's container of a project is meant too


@dataclass(frozen=True)
class App:
    """A SaaS-Bench application, started by `docker run …` or from a compose template.

    In the argv stand {container}, {port}, {hostname} and perhaps {pg_port}, a second free port.

    The harness gives each trial its own port and names; `variables` tells which environment variables carry them.
    """

    name: str
    run: tuple[str, ...] = ()
    template: Path | None = None  # compose file with $prefix, $port, $hostname
    container: str = ""  # name with {prefix} of the app's container, for <APP>_CONTAINER
    database: str | None = None  # name with {prefix} of the database's container, for <APP>_DB_CONTAINER
    variable: str = ""  # stem of the variables, e.g. MATTERMOST
    probe: Probe = Probe()


class Reader(StrEnum):
    """How the verdict is read once the verifier has ended."""

    REWARD_FILE = "reward file"
    TEST_SUMMARY = "test summary"
    POINT_LINES = "point lines"
    EXIT_STATUS = "exit status"
    JSON_LINE = "json line"
    PACKET = "packet"  # every required check's exit status


@dataclass(frozen=True)
class Check:
    """One command of the verifier: its id, what it is, whether it counts, and the command."""

    id: str
    command: Command
    required: bool = True
    weight: float = 1.0
    kind: str = ""


@dataclass(frozen=True)
class Hook:
    """A command that is run when the agent has ended, before anything is carried over; if it fails, that is noted."""

    command: Command
    service: str = ""  # of a compose project; "": the agent's own container


@dataclass(frozen=True)
class Verify:
    """The grading of one step: what is overlaid, the commands in order, and how the verdict is read."""

    where: Where
    checks: tuple[Check, ...]
    reader: Reader
    overlay: tuple[Upload, ...] = ()
    container: Container | None = None  # for Where.SEPARATE
    artifacts: tuple[str, ...] = ()  # paths carried over to a separate verifier
    service_artifacts: tuple[tuple[str, str], ...] = ()  # (service, path): likewise, from another service's container
    collect: tuple[Hook, ...] = ()
    network: Network | None = None  # None: the plan's own
    verdict_paths: tuple[str, ...] = ()  # for Reader.REWARD_FILE, in the order of precedence
    parser: str = "pytest"  # for Reader.TEST_SUMMARY
    timeout: float = 600.0
    agent_output: bool = False  # what the agent printed is every check's stdin, and `output` in private JSON files
    workspace_variable: str | None = None  # LOCAL: variable that names the working directory (WAZA_WORKSPACE_DIR)
    private_files: tuple[
        tuple[str, str, str], ...
    ] = ()  # LOCAL: (variable, file name, content), 0700 folder, 0600 file
    helper: str = ""  # a helper module the harness provides beside the verifier ("deepgym_solution")


@dataclass(frozen=True)
class Oracle:
    """How the reference solution is run: uploads first, then the command; or the files it hands in."""

    uploads: tuple[Upload, ...] = ()
    command: Command | None = None
    submission: Path | None = None  # LOCAL, DeepGym: the file that is handed in as it is


@dataclass(frozen=True)
class Step:
    """One step of a trial. Single-step tasks have exactly one, with name ""."""

    brief: str
    verify: Verify
    name: str = ""
    uploads: tuple[Upload, ...] = ()
    setup: Command | None = None
    probe: Probe | None = None  # what must succeed after the set-up, before the agent
    oracle: Oracle | None = None
    agent_timeout: float | None = None  # None: no limit stated
    agent_user: str | None = None  # whom the agent works as; None: the container's own user
    min_reward: float | None = None  # a lower reward ends the trial after this step
    min_rewards: tuple[tuple[str, float], ...] = ()  # likewise for other keys of a reward.json


class Network(StrEnum):
    NONE = "none"
    PUBLIC = "public"
    ALLOWLIST = "allowlist"


@dataclass(frozen=True)
class RunPlan:
    """Everything the harness needs to know of a task; without container, compose and apps it runs locally."""

    task: str
    format: str
    folder: Path
    steps: tuple[Step, ...]
    container: Container | None = None
    compose: Compose | None = None
    apps: tuple[App, ...] = ()
    others: Others = Others()
    workdir: Path | None = None  # LOCAL: folder copied for each trial and handed to the agent
    inline_files: tuple[tuple[str, str], ...] = ()  # LOCAL: further files of the workdir, path -> content
    limits: Limits = Limits()  # LOCAL; containers have their own
    network: Network = Network.NONE
    allowed_hosts: tuple[str, ...] = ()
    reward_strategy: str = "mean"  # over steps: "mean" or "final"
    unsafe: tuple[str, ...] = ()  # what it asks for that is refused unless allowed by name
    digests: tuple[tuple[str, str], ...] = ()  # part (brief, environment, verifier, oracle, metadata) -> sha256


class NotRunnableError(Exception):
    """The task cannot be run as it stands; the message says why and what to do."""
