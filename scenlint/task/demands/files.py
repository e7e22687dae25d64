"""The files of the agent's work that a check opens, runs or wants to exist."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from scenlint.source import shell
from scenlint.source.pyfold import normal
from scenlint.task.checks.model import Access, Check, Dialect, How
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.model import Task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

# Places that no agent writes to, and those of the system, where it may have been asked to.
_NEVER = re.compile(r"/(?:boot|dev|logs|oracle|proc|sys|tests)(?:/|$)")
_SYSTEM = re.compile(r"/(?:bin|etc|lib\w*|opt|run|sbin|usr|var)(?:/|$)")
# What tools make on their way, and what they make of a file beside it, under the same name.
_TOOLS = re.compile(
    r"(?:^|/)\.git(?:/|$)|(?:^|/)(?:build|target|node_modules|__pycache__|\.build_\w+|CMakeFiles|meson-info|None)(?:/|$)|"
    r"/(?:build\.ninja|CMakeCache\.txt|compile_commands\.json|config\.status|package-lock\.json|Cargo\.lock|go\.sum)$"
)
_DERIVED = re.compile(r".*\.(?:log|aux|toc|bbl|o|so|d|pyc|class|map|lock|pid|db-wal|db-shm|index|idx|fai|bai|tbi)")


@dataclass(frozen=True)
class _Wanted:
    access: Access
    check: Check
    visible: Visible

    @property
    def path(self) -> str:
        return self.access.path

    @cached_property
    def stated(self) -> bool:
        """Whether something the agent can read names the path."""
        return bool(self.visible.states_path(self.path))

    @cached_property
    def told(self) -> bool:
        """Whether something the agent can read names the path, the file's name, or its stem and its extension."""
        name = self.path.rstrip("/").rpartition("/")[2]
        if self.stated or self.visible.in_brief(name, word=True):
            return True
        if fits(name, self.visible) or fits(self.path, self.visible):
            return True
        stem, dot, extension = name.rpartition(".")
        if not dot or not (self.visible.in_brief(stem, word=True) or self._beside(stem)):
            return False
        return bool(_DERIVED.fullmatch(name) or self.visible.in_brief(dot + extension, word=True))

    def _beside(self, stem: str) -> bool:
        """Whether there is an input of this name with another extension."""
        inputs = (path.rpartition("/")[2] for path in self.visible.inputs())
        return any(name.rpartition(".")[0] == stem for name in inputs)


def paths(task: Task, *, elsewhere: bool = False) -> Iterator[Demand]:
    """Each path that nothing states once; inputs, the system's files and what the verifier makes itself are left out.

    `elsewhere`: also those of which only the file's name is told, so that it may be another file.
    """
    ground = Ground.of(task)
    groups: dict[tuple[int, int, str], list[_Wanted]] = defaultdict(list)
    made = _made_by_verifier(task) | _given_to_programs(ground)
    for check, visible in ground.checks():
        written = {a.path for a in check.accesses if a.how is How.WRITE}
        for access in check.accesses:
            ours = access.path in written or access.path in made
            if access.how not in (How.LIST, How.WRITE) and "*" not in access.path and not ours:
                span = access.span
                groups[span.start, span.end, str(span.source.path)].append(_Wanted(access, check, visible))
    seen: set[str] = set()
    for group in groups.values():
        every = len({w.path for w in group}) == 1 or _each(task, group[0])
        if not every and any(w.told or w.visible.exists(w.path) for w in group):
            continue  # tried in turn, and one of them is known
        left = [w for w in group if w.path not in seen and _agents(ground, w) and _demanded(task, w, every)]
        left = [w for w in left if not (w.stated if elsewhere else w.told)]
        seen |= {w.path for w in left}
        if left:
            first = Demand(left[0].path, left[0].access.span, left[0].visible, "each" if every else "any")
            yield replace(first, also=tuple(dict.fromkeys(w.path for w in left if w.path != first.what)))


def _made_by_verifier(task: Task) -> frozenset[str]:
    """What the verifier's shell scripts copy and write themselves."""
    out: set[str] = set()
    for fragment in task.verifier.code("shell") if task.verifier else ():
        for command in shell.parse(fragment).deep():
            out |= {r.target.pattern for r in command.redirects if r.writes and r.target}
            words = [w.pattern for w in command.arguments if not w.is_option]
            if command.program in ("cp", "mv", "install", "ln") and len(words) > 1:
                out |= {words[-1], *(posixpath.join(words[-1], posixpath.basename(w)) for w in words[:-1])}
            elif command.program in ("mkdir", "touch", "tee", "tar", "unzip", "wget", "curl", "git"):
                out |= set(words)
    return frozenset(normal(p) for p in out)


def _given_to_programs(ground: Ground) -> frozenset[str]:
    """Temporary files that the verifier names when it starts a program."""
    return frozenset(
        access.path
        for check, _ in ground.checks()
        for access in check.accesses
        if access.path.startswith(("/tmp/", "/var/tmp/")) and _argument(ground.task, check, access)
    )


def _each(task: Task, wanted: _Wanted) -> bool:
    """Whether a place of the code that touches several paths wants every one of them."""
    found = locate(task, wanted.check, wanted.access.span)
    if found is None:
        return wanted.check.dialect is not Dialect.TEST
    module, node = found
    tried = any(
        isinstance(up, ast.Call) and isinstance(up.func, ast.Name) and up.func.id in ("any", "next")
        for up in module.parents(node)
    )
    return not tried and (wanted.access.how is not How.EXISTS or stance(module, node) is Stance.WANTED)


def _demanded(task: Task, wanted: _Wanted, every: bool) -> bool:
    """Whether the check fails without the file: "if it is there, look at it" is no demand."""
    access, check = wanted.access, wanted.check
    if check.node is None:
        return True
    asked = [a for a in check.accesses if a.path == access.path and a.how is How.EXISTS]
    stances = {stance(*f) if (f := locate(task, check, a.span)) else Stance.OPEN for a in asked}
    enough = {Stance.WANTED} if every else {Stance.WANTED, Stance.EITHER}
    if access.how is How.EXISTS:
        opened = any(a.path == access.path and a.how is not How.EXISTS for a in check.accesses)
        return bool(stances & enough) or (check.existence_only and not opened)
    return (not asked or stances != {Stance.OPEN}) and not _argument(task, check, access)


def _argument(task: Task, check: Check, access: Access) -> bool:
    """Whether a path is an argument of a program that the verifier starts: its own choice."""
    found = locate(task, check, access.span) if access.how is How.READ else None
    if found is None or not isinstance(found[1], ast.Call):
        return False
    called = found[0].dotted(found[1].func)
    temporary = access.path.startswith(("/tmp/", "/var/tmp/"))  # `connect` makes the database where there is none
    return called.startswith(("subprocess.", "os.system", "os.popen")) or (temporary and called.endswith(".connect"))


def _agents(ground: Ground, wanted: _Wanted) -> bool:
    """Whether the file is the agent's to make."""
    path = wanted.path
    name = path.rstrip("/").rpartition("/")[2]
    verifier = ground.task.verifier
    if not path.startswith("/"):
        own = verifier is not None and any(f.path.name == name for f in verifier.files)
        if own or (wanted.access.how is How.RUN and ground.solution is None):
            return False
    if not name or _NEVER.match(path) or _TOOLS.search(path) or wanted.visible.exists(path):
        return False
    if set(path.split("/")) & ground.cloned or (ground.task.oracle and path.startswith("/solution/")):
        return False
    if not wanted.visible.unlisted and not _SYSTEM.match(path):
        return ground.solution is None or ground.solved(name)
    # Where files may exist that are not known here, only what the solution itself makes is surely an output.
    return ground.creates(name)
