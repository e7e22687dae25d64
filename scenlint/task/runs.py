"""Every command that building, verifying or solving a task runs, scripts that call scripts followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeVar, cast

from scenlint.source import dockerfile, shell
from scenlint.source.dockerfile import Instruction
from scenlint.source.lazy import cached_property
from scenlint.source.shell import Command
from scenlint.source.text import Fragment
from scenlint.task.fetches import Fetch, read_fetches
from scenlint.task.installs import Arg, Install, arguments, read_installs
from scenlint.task.model import BuildFile, Place, Task, once_a_task
from scenlint.task.subprocesses import started

_DEPTH = 4  # scripts that call scripts that call scripts
Find = Callable[[str], Fragment | None]
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One command, the text it stands in, the variables it finds set, and the RUN of a Dockerfile behind it."""

    command: Command
    script: Fragment
    variables: Mapping[str, str] = field(default_factory=dict)
    instruction: Instruction | None = None
    build: BuildFile | None = None
    _memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def memo(self, key: str, make: Callable[[], T]) -> T:
        """Whatever is computed from this command is computed once."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast(T, self._memo[key])

    @cached_property
    def arguments(self) -> list[Arg]:
        return arguments(self.command, self.variables)

    @cached_property
    def installs(self) -> list[Install]:
        return list(read_installs(self.arguments))

    @cached_property
    def fetches(self) -> list[Fetch]:
        return list(read_fetches(self.arguments))


def build_runs(task: Task, *places: Place) -> list[Run]:
    """What the stages in use run while the images are built; of every place where none is named."""
    return [run for run in _build_runs(task) if not places or (run.build and run.build.place in places)]


@once_a_task
def _build_runs(task: Task) -> Iterator[Run]:
    for build in task.environment.builds if task.environment else []:
        parsed = dockerfile.parse(build.fragment, build.arguments)
        find = _context_finder(task, build)
        for stage in parsed.used(build.target):
            for step in stage.instructions:
                if step.keyword == "RUN" and not step.onbuild:
                    for script in step.scripts:
                        yield from _follow(script, find, step.variables, step, build)


@once_a_task
def verifier_runs(task: Task) -> Iterator[Run]:
    """What grading runs: graders' scripts, the verifier's own scripts they call, and what its Python code starts."""
    verifier = task.verifier
    if verifier is None:
        return
    find = _finder(verifier.files)
    seen: set[int] = set()
    entries = [g.script for g in verifier.graders if g.script is not None]
    for script in [*entries, *verifier.code("python")]:
        if script.language in ("shell", "python"):
            yield from _follow(script, find, {}, seen=seen)


@once_a_task
def oracle_runs(task: Task) -> Iterator[Run]:
    """What the reference solution runs."""
    if task.oracle is not None:
        yield from _follow(task.oracle.entry, _finder(task.oracle.files), {})


def _follow(
    script: Fragment,
    find: Find,
    variables: Mapping[str, str],
    instruction: Instruction | None = None,
    build: BuildFile | None = None,
    seen: set[int] | None = None,
    depth: int = _DEPTH,
) -> Iterator[Run]:
    seen = set() if seen is None else seen
    if id(script) in seen or not depth:
        return
    seen.add(id(script))
    for text in [script] if script.language == "shell" else started(script) if script.language == "python" else []:
        for command in shell.parse(text).deep():
            yield Run(command, script, variables, instruction, build)
            called = command.script_word
            inner = find(called.pattern) if called is not None else None
            for code in (inner, *(c for c in (command.inline, command.heredoc) if c and c.language == "python")):
                if code is not None:
                    yield from _follow(code, find, variables, instruction, build, seen, depth - 1)


def _finder(files: list[Fragment]) -> Find:
    """Finds a script by the end of its path, or by its name where only one has it."""

    def find(path: str) -> Fragment | None:
        name = PurePosixPath(path).name
        named = [f for f in files if f.path.name == name and f.language in ("shell", "python")]
        tail = path.replace("*", "").lstrip("./")
        exact = [f for f in named if f.path.as_posix().endswith("/" + tail)]
        return (exact or named)[0] if len(exact or named) == 1 else None

    return find


def _context_finder(task: Task, build: BuildFile) -> Find:
    """Finds a script of the build context by its name, where only one has it."""

    def find(path: str) -> Fragment | None:
        if build.context is None:
            return None
        name = PurePosixPath(path).name
        named = [e.path for e in task.files.under(build.context.removeprefix("./")) if e.name == name]
        source = task.files.read(named[0]) if len(named) == 1 else None
        language = {".sh": "shell", ".bash": "shell", ".py": "python"}.get(PurePosixPath(name).suffix)
        return Fragment.of(source, language) if source is not None and language else None

    return find
