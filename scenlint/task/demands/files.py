"""The files of the agent's work that a check opens, runs or wants to exist."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from scenlint.source.regex import regex
from scenlint.task.checks.model import Access, Check, How
from scenlint.task.demands.asking import chosen, each, needed
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.model import Task
from scenlint.task.visible import Visible

# Places that no agent writes to, and those of the system, where it may have been asked to.
_NEVER = regex(r"/(?:boot|dev|logs|oracle|proc|sys|tests)(?:/|$)")
_SYSTEM = regex(r"/(?:bin|etc|lib\w*|opt|run|sbin|usr|var)(?:/|$)")
# What tools make on their way, and what they make of a file beside it, under its name.
_TOOLS = regex(
    r"(?:^|/)\.git(?:/|$)|(?:^|/)(?:target|node_modules|__pycache__|\.build_\w+|CMakeFiles|meson-info|META-INF|None)(?:/|$)|"
    r"(?:^|/)build(?:[_-]?(?:test|dir|out|tmp))?/|"
    r"/(?:build\.ninja|CMakeCache\.txt|compile_commands\.json|config\.status|package-lock\.json|Cargo\.lock|go\.sum|"
    r"\w+_wrap\.c\w*|Makefile\.in|aclocal\.m4|configure|config\.h(?:\.in)?|great_expectations\.yml|MLmodel)$|"
    r"/\w*(?:model|checkpoint)\w*/(?:config\.json|tokenizer\S*|\S*\.safetensors|pytorch_model\.bin|saved_model\.pb)$"
)
_DERIVED = regex(
    r".*\.(?:log|aux|toc|bbl|o|so|d|pyc|class|map|lock|pid|db-wal|db-shm|index|idx|fai|bai|tbi|vo|vok|glob|hi|beam|cm\w+)"
)


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
        folder = self.path.rpartition("/")[0]
        if self.visible.image.named(name) and folder and self.visible.mentions(folder, word=True):
            return True  # one for each input, under its name
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
    own = chosen(ground)
    for check, visible in ground.checks():
        written = {a.path for a in check.accesses if a.how is How.WRITE}
        for access in check.accesses:
            ours = access.path in written or access.path in own
            if access.how not in (How.LIST, How.WRITE) and "*" not in access.path and not ours:
                span = access.span
                groups[span.start, span.end, str(span.source.path)].append(_Wanted(access, check, visible))
    seen: set[str] = set()
    for group in groups.values():
        every = len({w.path for w in group}) == 1 or each(task, group[0].check, group[0].access)
        if not every and any(w.told or w.visible.exists(w.path) for w in group):
            continue  # tried in turn, and one of them is known
        left = [
            w for w in group if w.path not in seen and _agents(ground, w, elsewhere) and needed(task, w.check, w.access)
        ]
        left = [w for w in left if not (w.stated if elsewhere else w.told)]
        seen |= {w.path for w in left}
        if left:
            first = Demand(left[0].path, left[0].access.span, left[0].visible, "each" if every else "any")
            yield replace(first, also=tuple(dict.fromkeys(w.path for w in left if w.path != first.what)))


def _agents(ground: Ground, wanted: _Wanted, elsewhere: bool) -> bool:
    """Whether the file is the agent's to make."""
    path = wanted.path
    name = path.rstrip("/").rpartition("/")[2]
    verifier = ground.task.verifier
    if not path.startswith("/"):
        own = verifier is not None and any(f.path.name == name for f in verifier.files)
        if own or (wanted.access.how is How.RUN and ground.solution is None):
            return False
    folder = path.rpartition("/")[0]
    if folder.startswith("/tmp/") and not wanted.visible.mentions(folder, word=True):
        return False
    if not name or _NEVER.match(path) or _TOOLS.search(path) or wanted.visible.exists(path):
        return False
    if set(path.split("/")) & ground.cloned or (ground.task.oracle and path.startswith("/solution/")):
        return False
    if not wanted.visible.unlisted and not _SYSTEM.match(path):
        # A solution that makes no such file is no witness; it may make another that the brief names, though.
        return elsewhere or ground.solution is None or ground.solved(name)
    # Where files may exist that are not known here, only what the solution itself makes is surely an output.
    return ground.creates(name)
