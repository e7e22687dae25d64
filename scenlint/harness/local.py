"""The local sandbox as an environment, for tasks without an image: bubblewrap on a private copy of the workdir.

Each command has a sandbox of its own over the same files, so nothing that an agent started lives on into the grading.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath

from scenlint.harness import bubblewrap, cgroups, solutions
from scenlint.harness.box import Box, Mount
from scenlint.harness.cgroups import Group
from scenlint.harness.environment import Environment, Fault, GoneError, InfrastructureError, Ran
from scenlint.harness.private import private_files
from scenlint.harness.scene import Prepared, Scene, plain
from scenlint.harness.tree import Tree
from scenlint.task.plan import (
    SUBMISSION,
    WORKSPACE,
    Command,
    Limits,
    Network,
    NotRunnableError,
    Step,
    Upload,
    Verify,
)

_HANDED_IN = "solution.py"  # what an agent writes in the working directory where a file is to be handed in
_HOME = "sandbox"  # in the trial's folder
_RESERVED = frozenset(
    (
        *("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "nix", "gnu"),
        *("proc", "dev", "sys", "tmp", "run", "var", "private", ".scenlint"),
    )
)
_LEAST_FREE_MB = 256  # below this the machine's disk counts as full


def prepare(scene: Scene) -> Prepared:
    """See whether a sandbox can be made here at all. Nothing is built: the record only names the sandbox."""
    if scene.plan.network is not Network.NONE:
        raise NotRunnableError("the local sandbox has no network; a task that needs one must name an image")
    version = bubblewrap.version()
    bubblewrap.identity()
    scene.folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(scene.folder).free // 1024**2
    if free < scene.options.min_free_mb:
        raise InfrastructureError(f"only {free} MB of disk are free, a trial needs {scene.options.min_free_mb} MB")
    cgroups.sweep()
    return Prepared(f"local sandbox ({version})")


def start(scene: Scene, prepared: Prepared | None = None) -> LocalEnvironment:
    """A sandbox with a private copy of the working directory."""
    home = scene.folder / _HOME
    _discard(home)  # an earlier trial in this folder was killed
    environment = LocalEnvironment(scene, home)
    try:
        if scene.plan.workdir is not None:
            environment.work.put(Upload(scene.plan.workdir, WORKSPACE), "")
        for path, content in scene.plan.inline_files:
            environment.work.write(path, content.encode("utf-8", "surrogateescape"))
    except BaseException:
        environment.close()
        raise
    return environment


def grader(scene: Scene, step: Step, environment: Environment) -> LocalEnvironment:
    """Where a step is graded: the same working directory with the verifier's files, which the agent never saw.

    An environment of another kind (apps, a container) is graded from a sandbox with an empty working directory; if it
    has a method `equip`, that gets the grader, to add to its `mounts`, `variables` and `closing`.
    """
    if isinstance(environment, LocalEnvironment):
        return LocalEnvironment(scene, environment.home / f"grading-{plain(step.name)}", environment.work, step.verify)
    home = scene.folder / f"{_HOME}-verifier"
    _discard(home)
    out = LocalEnvironment(scene, home, None, step.verify)
    try:
        equip: Callable[[LocalEnvironment], None] | None = getattr(environment, "equip", None)
        if equip is not None:
            equip(out)
    except BaseException:
        out.close()
        raise
    return out


class LocalEnvironment:
    """Commands in sandboxes over the same files. With `verify` it grades; then it shows the verifier's files too."""

    def __init__(self, scene: Scene, home: Path, work: Tree | None = None, verify: Verify | None = None) -> None:
        self.scene, self.home, self.verify = scene, home, verify
        self.identity = bubblewrap.identity().another() if work is None else work.owner or bubblewrap.identity()
        self.limits = _limits(scene)
        self.notes: list[str] = []  # limits that could not be held
        self.problem = ""  # why `close` could not remove everything
        self.mounts: list[Mount] = []  # further ones, for graders of other environments
        self.variables: dict[str, str] = {}
        self.before: tuple[str, ...] = ()  # a program with arguments that is put before every command
        self.closing: list[Callable[[], None]] = []
        self._closed = False
        self._writable: set[str] = set()  # folders outside of the working directory that a command may write
        self.files = Tree.make(home / "files")  # uploads outside of the working directory
        self.work = work or Tree.make(home / "work", self.identity)
        self._group = Group(self.limits)
        if missing := [k for k in ("memory", "pids") if k not in self._group.held]:
            self.notes.append(f"no control group for {' and '.join(missing)}: limits hold for each process by itself")

    # Files

    def upload(self, upload: Upload) -> None:
        tree, path = self._place(upload.target)
        tree.put(upload, path)

    def fresh(self, folders: tuple[str, ...]) -> None:
        for folder in folders:
            tree, path = self._place(folder)
            tree.fresh(path)
            if tree is self.files:
                self._writable.add(PurePosixPath(folder).parts[1])

    def read(self, path: str, limit: int = 1024 * 1024) -> bytes | None:
        tree, inner = self._place(path)
        return tree.read(inner, limit)

    def remove(self, path: str) -> None:
        tree, inner = self._place(path)
        tree.remove(inner)

    def collect(self, path: str, target: Path, limit: int = 512 * 1024 * 1024) -> bool:
        tree, inner = self._place(path)
        return tree.collect(inner, target, limit)

    def _place(self, path: str) -> tuple[Tree, str]:
        """The tree that holds a path of the sandbox, and the path in it."""
        pure = PurePosixPath(path)
        if not pure.is_absolute() or ".." in pure.parts:
            raise Fault(f"`{path}` is no absolute path of the sandbox")
        if pure.is_relative_to(WORKSPACE):
            return self.work, str(pure.relative_to(WORKSPACE))
        if len(pure.parts) < 2 or pure.parts[1] in _RESERVED:
            raise Fault(f"nothing can be placed at `{path}` in a local sandbox: that is the system's")
        return self.files, str(pure.relative_to("/"))

    # Commands

    def run(self, command: Command, log: Path | None, *, split: bool = False) -> Ran:
        with ExitStack() as stack:
            extra, mounts, argv, timeout = self._grading(command, stack)
            box = Box(
                (*self._mounts(), *mounts),
                {**self.variables, **dict(command.env), **extra},
                command.cwd or WORKSPACE,
                self.limits,
                self.identity,
                self._group,
            )
            return bubblewrap.run(
                box,
                (*self.before, *argv),
                log,
                timeout=timeout,
                stdin=command.stdin,
                split=split,
                stop=self.scene.stop,
                look=self._look,
            )

    def _grading(
        self, command: Command, stack: ExitStack
    ) -> tuple[dict[str, str], tuple[Mount, ...], tuple[str, ...], float | None]:
        """What a grader's command has besides: variables, mounts, the judge before its argv, and its time limit."""
        verify = self.verify
        if verify is None:
            return {}, (), command.argv, command.timeout
        files = private_files(verify.private_files, self.home / "private", self.identity)
        variables, mounts = stack.enter_context(files)
        if verify.workspace_variable:
            variables[verify.workspace_variable] = WORKSPACE
        if verify.helper == solutions.HELPER:
            self._hand_in()
            helper = solutions.Solutions(self.home, self.limits, self.identity, self.scene.stop)
            stack.enter_context(helper)
            argv, timeout, env = helper.judged(command)
            return {**variables, **env}, (*mounts, *helper.mounts), argv, timeout
        if verify.helper:
            raise NotRunnableError(f"the helper `{verify.helper}` of the verifier is not known here")
        return variables, mounts, command.argv, command.timeout

    def _hand_in(self) -> None:
        """The submission as the grader finds it: what was handed in, else the agent's own file, else an empty one."""
        handed = Tree(self.home.parent / "files").read(SUBMISSION, solutions.LIMIT)
        if handed is None:
            handed = self.work.read(_HANDED_IN, solutions.LIMIT)
        self.files.write(SUBMISSION, handed or b"")

    def _mounts(self) -> list[Mount]:
        out = [Mount(self.work.root, WORKSPACE, True)]
        for path in sorted(self.files.root.iterdir()):
            out.append(Mount(path, f"/{path.name}", path.name in self._writable))
        return out + self.mounts

    def _look(self) -> None:
        """While a command runs: a full disk is found before it hurts anybody else."""
        if self.limits.storage_mb:
            self.work.check_size(self.limits.storage_mb)
        if shutil.disk_usage(self.home).free < _LEAST_FREE_MB * 1024**2:
            raise GoneError("the disk of this machine is full")

    def processes(self) -> list[str]:
        """What still runs between commands: nothing ever does."""
        return []

    # Its end

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for callback in self.closing:
            with suppress(Exception):
                callback()
        self._group.close()
        try:
            _discard(self.home)
        except OSError as exc:
            self.problem = f"`{self.home}` could not be removed: {exc.strerror or exc}"


def left(folder: Path) -> list[Path]:
    """What a trial whose process was killed left in its folder beside its outputs."""
    return [path for name in (_HOME, f"{_HOME}-verifier") if (path := folder / name).exists()]


def clear(folder: Path) -> None:
    """Remove what a trial whose process was killed left."""
    for path in left(folder):
        with suppress(Fault, OSError):
            _discard(path)


def _limits(scene: Scene) -> Limits:
    default, stated = scene.options.limits, scene.plan.limits
    return Limits(
        cpus=stated.cpus or default.cpus,
        memory_mb=stated.memory_mb or default.memory_mb,
        storage_mb=stated.storage_mb or default.storage_mb,
        pids=stated.pids or default.pids,
        one_cpu=stated.one_cpu,
    )


def _discard(home: Path) -> None:
    Tree(home).discard()
