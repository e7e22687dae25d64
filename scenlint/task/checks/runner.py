"""Which of a verifier's files are run, and how, read from what the harness starts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from scenlint.source import shell
from scenlint.source.pyfold import normal
from scenlint.source.python import PyModule, parse
from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.source.text import Fragment
from scenlint.task.model import Contract

if TYPE_CHECKING:
    from scenlint.task.model import Grader, Task, Verifier

TEST_FILE = regex(r"test_.*\.py|.*_test\.py")
_SHARED_FILE = regex(r"(?:conftest|__init__|setup)\.py")
RUNNERS = ("pytest", "py.test", "unittest", "nose2", "nosetests", "ctrf")


@dataclass
class Entry:
    """Code that a grader runs: `kind` is "pytest", "unittest", "script", "points", "judge" or "assertions"."""

    kind: str
    module: PyModule
    grader: Grader
    command: Command | None = None  # the shell command that starts it
    only: set[str] = field(default_factory=set)  # `file.py::name`: the names selected
    cwd: str = ""  # the folder that the script has gone to before, as it writes it


@dataclass
class Started:
    """What a grader starts: entries that are at hand, and test files that a runner is given but that are not."""

    entries: list[Entry] = field(default_factory=list)
    shells: list[tuple[Grader, Fragment]] = field(default_factory=list)  # shell scripts on the way
    runners: list[tuple[Command, list[str]]] = field(default_factory=list)  # test runners and the paths they are given


def home(verifier: Verifier, fragment: Fragment, folder: PurePosixPath) -> str:
    """Where one of the verifier's files lies when it runs."""
    try:
        relative = PurePosixPath(fragment.path.as_posix()).relative_to(folder)
    except ValueError:
        return fragment.path.as_posix()
    inside = PurePosixPath(verifier.folder or "")
    if verifier.mount and relative.is_relative_to(inside):
        return normal(posixpath.join(verifier.mount, relative.relative_to(inside).as_posix()))
    return normal(posixpath.join("/verifier", relative.as_posix()))


def started(task: Task) -> Started:
    """Everything that the task's graders start, as far as it can be read."""
    out = Started()
    verifier = task.verifier
    if verifier is None:
        return out
    for grader in verifier.graders:
        script = grader.script
        if script is None:
            continue
        if verifier.contract is Contract.JSON_LINE:
            out.entries.append(Entry("judge", parse(script), grader))
        elif verifier.contract is Contract.POINT_LINES:
            out.entries.append(Entry("points", parse(script), grader))
        elif script.language == "python":
            code = grader.kind == "code"
            out.entries.append(Entry("assertions", parse(script), grader) if code else _program(script, grader, None))
        elif script.language == "shell":
            _follow(script, grader, verifier, out, set())
    return out


def _follow(script: Fragment, grader: Grader, verifier: Verifier, out: Started, seen: set[Fragment]) -> None:
    if script in seen or len(seen) > 20:
        return
    seen.add(script)
    out.shells.append((grader, script))
    cwd = ""
    for command in shell.parse(script).deep():
        first = len(out.entries)
        if command.program == "cd" and command.arguments:
            cwd = posixpath.join(cwd, command.arguments[-1].pattern)
        code = command.inline or command.heredoc
        if command.tool in RUNNERS:
            _runner(command, script, grader, verifier, out)
        elif code is not None and code.language == "python":
            out.entries.append(_program(code, grader, command))
        elif command.script_word is not None:
            file = find(verifier, command.script_word.pattern, script)
            if file is not None and file.language == "python":
                out.entries.append(_program(file, grader, command))
            elif file is not None and file.language == "shell":
                _follow(file, grader, verifier, out, seen)
        for entry in out.entries[first:]:
            entry.cwd = entry.cwd or cwd


def _program(script: Fragment, grader: Grader, command: Command | None) -> Entry:
    """A script, or a test module that starts its runner itself (`unittest.main()`)."""
    module = parse(script)
    for name, kind in (
        ("unittest.main", "unittest"),
        ("unittest.TextTestRunner", "unittest"),
        ("pytest.main", "pytest"),
    ):
        if any(module.calls(name)):
            return Entry(kind, module, grader, command)
    return Entry("script", module, grader, command)


def _runner(command: Command, script: Fragment, grader: Grader, verifier: Verifier, out: Started) -> None:
    kind = "unittest" if command.tool == "unittest" else "pytest"
    words = [w.pattern for w in command.tool_words[1:]]
    targets = [w for n, w in enumerate(words) if not w.startswith("-") and not _takes(words[n - 1] if n else "")]
    paths = [
        t for t in targets if "/" in t or t.split("::")[0].endswith(".py") or kind == "unittest" or t in (".", "tests")
    ]
    out.runners.append((command, paths))
    found: dict[Fragment, set[str]] = {}
    for target in paths:
        path, _, name = target.partition("::")
        dotted = kind == "unittest" and not path.endswith(".py")
        file = find(verifier, path.replace(".", "/") + ".py" if dotted else path, script)
        if file is not None and file.language == "python":
            found.setdefault(file, set()).update([name.split("::")[0].split("[")[0]] if name else [])
        elif not path.endswith(".py"):
            found.update({f: set() for f in test_files(verifier)})
    if not paths:
        found.update({f: set() for f in test_files(verifier)})
    out.entries += [Entry(kind, parse(f), grader, command, only) for f, only in found.items()]


_VALUED = regex(
    r"-[kmcpoWnr]|--(?:ctrf|rootdir|junitxml|junit-xml|timeout|tb|maxfail|confcutdir|override-ini|color|durations|cov|"
    r"json-report-file|report-log|import-mode|basetemp|html|ignore|deselect|cache-dir|log-file)"
)


def _takes(word: str) -> bool:
    return bool(_VALUED.fullmatch(word))


def test_files(verifier: Verifier) -> list[Fragment]:
    """The files that pytest collects when it is given their folder."""
    return [f for f in verifier.code("python") if TEST_FILE.fullmatch(f.path.name)]


def find(verifier: Verifier, path: str, beside: Fragment | None = None) -> Fragment | None:
    """The verifier's file that a path in a script means: the one whose own path it ends like.

    Of several, that which lies nearest `beside`, the script: each step of a task has a verifier of its own.
    """
    tail = [p for p in path.split("/") if p not in ("", ".", "..")]
    best: tuple[tuple[int, int], Fragment] | None = None
    for file in verifier.files:
        common = _alike(tail[::-1], file.path.parts[::-1])
        rank = (common, _alike(file.path.parts, beside.path.parts) if beside is not None else 0)
        if common and (best is None or rank > best[0]):
            best = (rank, file)
    return best[1] if best else None


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two paths have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def helpers(verifier: Verifier) -> Iterator[Fragment]:
    """Python files that are no tests by their name."""
    return (f for f in verifier.code("python") if not TEST_FILE.fullmatch(f.path.name))
