"""What an agent's work changed in its environment, kept as files on the host, so that it can be restored and altered.

A folder `snapshot` in the trial's folder: `manifest.json` (layers: step -> items) and `files/`. A layer holds what the
work of one step changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from scenlint.harness.environment import Environment, Fault
from scenlint.task.plan import NotRunnableError

FOLDER, MANIFEST = "snapshot", "manifest.json"
PROBLEM = "problem.txt"  # in the folder, instead of a manifest: why there is no snapshot
LIMIT = 512 * 1024 * 1024  # bytes of a snapshot
ENTRIES = 50_000  # items of a layer
OUTPUT = "<output>"  # the path of what the agent printed, where the verifier grades that
# What no work is made of: the system's own, caches, and what this harness puts there.
_IGNORED = ("/proc", "/sys", "/dev", "/run", "/scenlint", "/logs/verifier", "/logs/agent", "/etc/mtab")
_OWN_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/.dockerenv")  # made by the engine for each container
Before = Mapping[str, str]  # path -> signature
_NOISE = frozenset({"__pycache__", ".pytest_cache", ".cache", ".npm", ".mypy_cache", ".ruff_cache", ".git"})


@dataclass(frozen=True)
class Item:
    """A path that the work changed. `kind`: "file", "folder", "link", or "deleted" where there is none any more."""

    path: str  # absolute, in the environment; or OUTPUT
    kind: str = "file"
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    size: int = 0
    mtime: float = 0.0
    digest: str = ""  # sha256 of a file's content
    target: str = ""  # of a link
    new: bool = True  # nothing lay there before
    stored: str = ""  # name below `files/`

    @property
    def result(self) -> bool:
        """Whether it looks like a result of the work: a file that is neither cache nor log nor the system's."""
        if self.kind != "file":
            return False
        parts = PurePosixPath(self.path).parts
        system = len(parts) > 1 and parts[1] in ("usr", "var", "etc", "lib", "bin", "sbin", "root")
        return not system and not _NOISE.intersection(parts) and not self.path.endswith((".pyc", ".log"))


@dataclass
class Snapshot:
    """The layers of one trial, by step (single-step tasks: "")."""

    folder: Path
    layers: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what it cannot hold: volumes, services still running

    @property
    def items(self) -> tuple[Item, ...]:
        """All that the work changed, as it was after the last step."""
        return tuple({i.path: i for layer in self.layers.values() for i in layer}.values())

    @property
    def results(self) -> list[Item]:
        """The files that look like results, in the order of their paths."""
        return sorted((i for i in self.items if i.result), key=lambda i: i.path)

    def item(self, path: str) -> Item | None:
        """The item of a path, as it was after the last step."""
        return next((i for i in self.items if i.path == path), None)

    def read(self, item: Item | str) -> bytes:
        """A file's content."""
        found = self.item(item) if isinstance(item, str) else item
        if found is None or not found.stored:
            raise KeyError(str(item))
        return (self.folder / "files" / found.stored).read_bytes()

    @staticmethod
    def problem(trial: Path) -> str:
        """Why a trial's work could not be kept; "" where nothing is known."""
        try:
            return (trial / FOLDER / PROBLEM).read_text("utf-8")
        except OSError:
            return ""

    @cached_property
    def digest(self) -> str:
        """One digest for all layers, wherever the folder lies; times of change are left out."""
        told = {name: [_decisive(i) for i in layer] for name, layer in self.layers.items()}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def save(self) -> None:
        """Write the manifest."""
        self.folder.mkdir(parents=True, exist_ok=True)
        layers = {name: [asdict(i) for i in layer] for name, layer in self.layers.items()}
        text = json.dumps({"version": 1, "layers": layers, "notes": self.notes}, indent=1)
        (self.folder / MANIFEST).write_text(text, "utf-8")

    @classmethod
    def load(cls, trial: Path) -> Snapshot | None:
        """The snapshot in a trial's folder; None where there is none, or not a whole one."""
        folder = trial / FOLDER
        try:
            data = json.loads((folder / MANIFEST).read_text("utf-8"))
            layers = {name: tuple(Item(**i) for i in layer) for name, layer in data["layers"].items()}
        except (OSError, ValueError, TypeError, KeyError):
            return None
        stored = {i.stored for layer in layers.values() for i in layer if i.stored}
        whole = all((folder / "files" / name).is_file() for name in stored)
        return cls(folder, layers, list(data.get("notes", ()))) if whole else None


class Layer:
    """Takes in the items of one layer as an environment hands them over. Without a snapshot it only looks at them."""

    def __init__(
        self, snapshot: Snapshot | None = None, skip: tuple[str, ...] = (), before: Before | None = None
    ) -> None:
        self.snapshot, self.skip, self.before = snapshot, skip, before or {}
        self.items: dict[str, Item] = {}
        self._left = LIMIT

    def wanted(self, path: str) -> bool:
        """Whether a path may belong to the work at all."""
        return path not in _OWN_FILES and not any(
            path == p or path.startswith(p + "/") for p in (*_IGNORED, *self.skip)
        )

    def add(self, item: Item, content: IO[bytes] | None = None) -> None:
        """Keep one item, and a file's content."""
        if not self.wanted(item.path):
            return
        if len(self.items) >= ENTRIES:
            raise Fault(f"the work changed more than {ENTRIES} files and folders, too many for a snapshot")
        if content is not None:
            item = self._stored(item, content)
        if self.before.get(item.path) != signature(item):
            self.items[item.path] = replace(item, new=item.new and item.path not in self.before)

    def close(self, step: str) -> None:
        """The layer is whole."""
        assert self.snapshot is not None
        self.snapshot.layers[step] = tuple(self.items[path] for path in sorted(self.items))
        self.snapshot.save()

    def _stored(self, item: Item, content: IO[bytes]) -> Item:
        data = content.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise Fault(f"the work changed more than {LIMIT // 1024**2} MB of files, too much for a snapshot")
        digest = hashlib.sha256(data).hexdigest()
        item = replace(item, size=len(data), digest=digest)
        if self.snapshot is None:
            return item
        place = self.snapshot.folder / "files" / digest
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return replace(item, stored=digest)


class State(Protocol):
    """An environment as one whose state can be kept and restored."""

    def look(self) -> Before:
        """What differs already before the agent acts, to be handed to `changed`."""
        ...

    def changed(self, before: Before, layer: Layer) -> list[str]:
        """Hand every path that changed since to `layer.add`; notes on what cannot be kept."""
        ...

    def restore(self, items: Sequence[tuple[Item, bytes]]) -> None:
        """Make every path as its item says, in their order."""
        ...


def state(environment: Environment) -> State:
    """The environment's state; of apps it is that of the agent's own sandbox, not of the apps."""
    from scenlint.harness.container import ContainerEnvironment
    from scenlint.harness.container_state import ContainerState
    from scenlint.harness.local import LocalEnvironment
    from scenlint.harness.local_state import LocalState

    inner = getattr(environment, "desk", environment)
    if isinstance(inner, LocalEnvironment):
        return LocalState(inner)
    if isinstance(inner, ContainerEnvironment):
        return ContainerState(inner)
    raise NotRunnableError("the state of this environment cannot be kept")


def signature(item: Item) -> str:
    """What a path is, times left out: two items with the same one are the same work."""
    return json.dumps(_decisive(item))


def _decisive(item: Item) -> list[object]:
    return [item.path, item.kind, item.mode, item.uid, item.gid, item.digest, item.target]
