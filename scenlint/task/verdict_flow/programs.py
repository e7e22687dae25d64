"""A verifier's Python programs, followed: what each prints, writes and ends with."""

from __future__ import annotations

import ast
import posixpath
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import HOLE, Ref, constants, texts, truth
from scenlint.task.checks.facts import Failure, Output
from scenlint.task.checks.runner import Entry, started
from scenlint.task.checks.scripts import Script, follow
from scenlint.task.checks.world import setup

if TYPE_CHECKING:
    from scenlint.task.checks.program import Setup
    from scenlint.task.model import Task

# What runs code, or takes in something, in ways that the follower does not see.
_DYNAMIC = frozenset(
    """
    exec eval compile globals locals vars __import__ runpy importlib code ctypes signal threading multiprocessing
    concurrent asyncio subprocess socket input fileinput
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Line:
    """A line that may be printed, HOLE for unknown parts. `stream`: "stdout", "stderr", or "" where that is open."""

    text: str
    stream: str
    output: Output
    ended: bool = True  # False: what is printed next is glued to it


@dataclass
class Program:
    """One followed program. Without `complete` it was too large and nothing can be ruled out."""

    entry: Entry
    flow: Script

    @property
    def complete(self) -> bool:
        return self.flow.complete and self.entry.module.fault is None

    @cached_property
    def lines(self) -> list[Line]:
        """Every line that it may print, in the order in which the program is followed."""
        out = []
        for output in self.flow.outputs:
            if output.kind == "exit" or (output.kind == "write" and not stream(output)):
                continue
            for text in texts(output.value):
                *whole, last = text.split("\n")
                pairs = [*((line, True) for line in whole), (last, _ends_its_line(output, last))]
                out += [Line(line, stream(output), output, ended) for line, ended in pairs if line.strip()]
        return out

    @property
    def prints(self) -> list[Output]:
        return [o for o in self.flow.outputs if o.kind != "exit" and stream(o) != "stderr" and not self.paths(o)]

    @property
    def exits(self) -> list[Output]:
        return [o for o in self.flow.outputs if o.kind == "exit"]

    def paths(self, output: Output) -> list[str]:
        """The files that an output goes to, `*` for unknown parts; [] for a stream."""
        if output.to is None:
            return []
        return [text.replace(HOLE, "*") for text in texts(output.to)]

    @property
    def failures(self) -> list[Failure]:
        return self.flow.failures

    @cached_property
    def always_succeeds(self) -> bool:
        """Whether it ends with status 0 whatever happens."""
        succeeds = self.complete and not self.failures and all(truth(o.value) is False for o in self.exits)
        return succeeds and not self.reads_logs() and not self._dynamic

    @cached_property
    def blind(self) -> bool:
        """Whether it looks at nothing that the agent can have made, so that its outcome says nothing of the work."""
        if not self.complete or self.flow.facts.produced or self.reads_logs() or self._dynamic:
            return False
        roots = {name.split(".")[0] for m in self.flow.modules for name in m.imports.values()}
        own = {PurePath(m.fragment.path).stem for m in self.flow.modules}
        outside = any(c.startswith(("/", "~", ".")) for c in self._texts if not self.flow.setup.own(c))
        return roots <= sys.stdlib_module_names | own and not outside

    @property
    def _texts(self) -> list[str]:
        nodes = (n for m in self.flow.modules for n in m.nodes if isinstance(n, ast.Constant))
        return [n.value for n in nodes if isinstance(n.value, str)]

    @property
    def _dynamic(self) -> bool:
        """Whether it runs code or reads input in ways that cannot be followed."""
        names = {n.id for m in self.flow.modules for n in m.nodes if isinstance(n, ast.Name)}
        names |= {name.split(".")[0] for m in self.flow.modules for name in m.imports.values()}
        return bool(names & _DYNAMIC)

    def reads_logs(self, besides: tuple[str, ...] = ()) -> bool:
        """Whether it names a file that an earlier step left in the logs; the follower takes those for absent."""
        texts = [text.rstrip("/") for text in self._texts if text.startswith("/")]
        return any(self.flow.setup.hidden(text + "/") and text not in besides for text in texts)

    def fixed(self, written: list[Output], verdicts: tuple[str, ...]) -> str | None:
        """The one text that it writes whatever it finds: it looks at nothing, or does nothing under a condition."""
        values = [c for o in written for c in (constants(o.value) if not o.value.open else [None])]
        if not self.complete or self.failures or len({str(v) for v in values}) != 1 or values[0] is None:
            return None
        besides = (*verdicts, *(posixpath.dirname(v) for v in verdicts))
        blind = not self.flow.facts.produced and not self.reads_logs(besides) and not self._dynamic
        return str(values[0]) if blind or not self._branches else None

    @property
    def _branches(self) -> bool:
        kinds = (ast.If, ast.IfExp, ast.Try, ast.While, ast.Match, ast.BoolOp, ast.Compare, ast.Assert)
        found = [n for m in self.flow.modules for n in m.nodes if isinstance(n, kinds)]
        return any("__name__" not in ast.unparse(n)[:60] for n in found)


def _ends_its_line(output: Output, last: str) -> bool:
    """Whether a line end follows what is printed: `print` adds one, `write` does not."""
    node = output.place.node
    if not isinstance(node, ast.Call) or last.endswith(HOLE):
        return True
    if isinstance(node.func, ast.Attribute) and node.func.attr == "write":
        return False
    end = next((k.value for k in node.keywords if k.arg == "end"), None)
    return not isinstance(end, ast.Constant) or not isinstance(end.value, str) or "\n" in end.value


def stream(output: Output) -> str:
    """Which standard stream an output goes to; "" for a file and where it is open."""
    if output.to is None:
        return "stdout" if output.kind == "print" else ""
    names = {o.name.removeprefix("sys.").strip("_") for o in output.to.options if isinstance(o, Ref)}
    if output.to.open or len(names) != 1 or len(output.to.options) != 1:
        return ""
    name = names.pop()
    return name if name in ("stdout", "stderr") else ""


def programs(task: Task) -> Iterator[Program]:
    """The Python programs (not the test files) that the task's graders run, each followed once."""
    if task.verifier is None:
        return
    world: Setup | None = None
    for entry in started(task).entries:
        if entry.kind in ("script", "points", "judge"):
            world = world or setup(task, task.verifier)
            yield Program(entry, follow(entry, world))
