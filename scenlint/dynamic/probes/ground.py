"""The ground of an attack: what an agent could find out about a task and its verifier, and where it would strike."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scenlint.dynamic.probes.attack import Attack, digest
from scenlint.harness.snapshot import Item, Snapshot
from scenlint.task.model import Task
from scenlint.task.outputs import asked_outputs
from scenlint.task.paths import extension, find_paths
from scenlint.task.plan import SUBMISSION, VERIFIER, WORKSPACE, Reader, RunPlan, Step, Upload, Where
from scenlint.task.record import CheckResult

MOST = 40  # outputs that are written to
FILES = 400  # files of a folder that are looked at
LONGEST = 20_000  # characters that an attack copies from a brief or a file
PROGRAMS = {
    "py",
    "sh",
    "bash",
    "js",
    "mjs",
    "cjs",
    "ts",
    "rb",
    "pl",
    "go",
    "rs",
    "c",
    "cpp",
    "java",
    "php",
    "lua",
    "r",
    "jl",
}
_NOT_OURS = re.compile(
    r"/(?:proc|sys|dev|run|bin|sbin|lib(?:32|64|x32)?|boot|tests|logs|solution|oracle|verifier|private|submission)(?:/|$)"
)
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp)/tmp\w*")


@dataclass(frozen=True)
class Ground:
    """One step of a task as an attacker sees it. `made`: what the oracle left there, path -> (new, content)."""

    task: Task
    plan: RunPlan
    step: Step
    snapshot: Snapshot | None = None
    checks: tuple[CheckResult, ...] = field(default=(), repr=False)  # as the oracle's trial recorded them

    # ---------------------------------------------------------------- what kind of task it is

    @property
    def deepgym(self) -> bool:
        """Whether one file is handed in, which the judge runs with the harness's helpers."""
        return bool(self.step.verify.helper)

    @property
    def local(self) -> bool:
        """Whether agent and verifier have sandboxes of their own over one folder: nothing else is shared."""
        return not (self.plan.container or self.plan.compose or self.plan.apps)

    @property
    def shared(self) -> bool:
        """Whether the verifier runs in the agent's container."""
        return self.step.verify.where is Where.CONTAINER

    @property
    def in_files(self) -> bool:
        """Whether the work consists of files that the verifier looks at."""
        return not self.plan.apps

    @property
    def says(self) -> bool:
        """Whether what the agent says is graded."""
        return self.step.verify.agent_output

    @property
    def reader(self) -> Reader:
        return self.step.verify.reader

    @property
    def verifier_folder(self) -> str:
        """Where the verifier's files lie while it runs."""
        return VERIFIER if self.step.verify.where is Where.LOCAL else "/tests"

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The paths from which the verdict is read."""
        return self.step.verify.verdict_paths

    @cached_property
    def python(self) -> bool:
        """Whether the verifier runs Python."""
        languages = {f.language for f in self.task.verifier.files} if self.task.verifier else set()
        return "python" in languages or "python" in self.verifier_text or "pytest" in self.verifier_text

    # ---------------------------------------------------------------- where things lie

    @cached_property
    def workdir(self) -> str:
        """The agent's working folder; "" where only the image knows."""
        if self.plan.container and self.plan.container.workdir:
            return self.plan.container.workdir
        stated = self.task.environment.workdir if self.task.environment else None
        return WORKSPACE if self.local else stated or ""

    @cached_property
    def made(self) -> dict[str, Item]:
        """What the oracle changed in this step that looks like its work, the files of earlier steps left out."""
        if self.snapshot is None or self.step.name not in self.snapshot.layers:
            return {}
        names = [s.name for s in self.plan.steps]
        earlier = self.snapshot.layers.get(names[max(names.index(self.step.name) - 1, 0)], ())
        before = {i.path: i.digest for i in earlier} if names.index(self.step.name) else {}
        layer = (i for i in self.snapshot.layers[self.step.name] if i.result and before.get(i.path) != i.digest)
        return {i.path: i for i in layer if i.path.startswith("/") and not _NOT_OURS.match(i.path)}

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The files of which the work consists: what the oracle made, what brief and verifier name."""
        if self.deepgym:
            return (f"{WORKSPACE}/{posixpath.basename(SUBMISSION)}",)
        if not self.in_files:
            return ()
        found = dict.fromkeys(sorted(self.made, key=lambda p: (p not in self.named, p)))
        found |= dict.fromkeys(p for p in self.named if not self._given(p))
        return tuple(found)[:MOST]

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The paths of results that the brief asks for or a check opens."""
        accesses = [a.path for c in self.task.checks for a in c.accesses]
        paths = [*asked_outputs(self.task), *accesses]
        out = (path for p in paths if not re.search(r"[*$<>{}]", path := self.absolute(p)))
        keep = (p for p in out if extension(p) or p in self.made or not p.endswith("/"))
        return tuple(p for p in dict.fromkeys(keep) if not _NOT_OURS.match(p) and not _TEMPORARY.match(p))

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Those of the named paths that are folders: what the oracle made below them says so."""
        return tuple(p for p in self.outputs if any(o.startswith(f"{p}/") for o in self.outputs))

    @cached_property
    def files(self) -> tuple[str, ...]:
        return tuple(p for p in self.outputs if p not in self.folders)

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """The outputs that are programs."""
        return tuple(p for p in self.files if extension(p) in PROGRAMS or self.content(p).startswith(b"#!"))

    @property
    def scripts(self) -> tuple[str, ...]:
        """The programs in Python."""
        return tuple(p for p in self.programs if self.language(p) == "py")

    def language(self, path: str) -> str:
        """The extension that says what a program is written in."""
        first = self.content(path).partition(b"\n")[0]
        if extension(path) in PROGRAMS or not first.startswith(b"#!"):
            return extension(path)
        return "py" if b"python" in first else "js" if b"node" in first else "sh"

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The files that the agent is given, those that a brief names first."""
        given = {} if self.local else self.task.visible.inputs()
        paths = [self.absolute(p) for p, g in given.items() if not g.folder and "*" not in p]
        if self.plan.workdir is not None:
            paths += [f"{WORKSPACE}/{p}" for p in _files(self.plan.workdir)]
        paths += [f"{WORKSPACE}/{p}" for p, _ in self.plan.inline_files]
        paths += [u.target for u in self.step.uploads if u.source.is_file()]
        brief = self.brief
        ours = dict.fromkeys(p for p in paths if p.startswith("/") and not _NOT_OURS.match(p))
        return tuple(sorted(ours, key=lambda p: (posixpath.basename(p) not in brief, p not in ours)))

    @cached_property
    def truth(self) -> tuple[str, ...]:
        """The verifier's own files where they lie when it runs, data first."""
        targets = [t for u in self.step.verify.overlay for t in _targets(u)]
        return tuple(sorted(dict.fromkeys(targets), key=lambda p: (extension(p) in PROGRAMS, p)))

    def absolute(self, path: str) -> str:
        path = path.replace("$WAZA_WORKSPACE_DIR", WORKSPACE)
        return posixpath.normpath(posixpath.join(self.workdir, path)) if self.workdir else posixpath.normpath(path)

    def _given(self, path: str) -> bool:
        """Whether it is there before the agent acts and the oracle left it alone."""
        if path in self.made:
            return False
        return path in self.inputs or bool(self.task.visible.exists(path))

    def content(self, path: str) -> bytes:
        """What the oracle left there, or handed in; nothing where that is not known."""
        handed_in = self.step.oracle.submission if self.step.oracle else None
        if self.deepgym and handed_in is not None and path in self.outputs:
            return handed_in.read_bytes() if handed_in.stat().st_size <= LONGEST else b""
        item = self.made.get(path)
        return self.snapshot.read(item) if self.snapshot and item and item.stored else b""

    # ---------------------------------------------------------------- what brief and verifier say

    @property
    def brief(self) -> str:
        return self.step.brief

    @cached_property
    def verifier_text(self) -> str:
        return "\n".join(f.text for f in self.task.verifier.files) if self.task.verifier else ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names that the verifier may want of the agent's modules."""
        found = {n.name for c in self.task.checks for n in c.names if n.kind != "argument"}
        found |= set(re.findall(r"call_solution\([^)\n]*?[\"'](\w+)[\"']", self.verifier_text))
        found |= set(re.findall(r"`(\w+)\(", self.brief)) | set(re.findall(r"\bdef (\w+)\(", self.brief))
        return tuple(sorted(n for n in found if n.isidentifier() and not n.startswith("__")))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Keys and columns that the verifier reads."""
        return tuple(dict.fromkeys(k.name for c in self.task.checks for k in c.keys))

    @cached_property
    def mentioned(self) -> tuple[str, ...]:
        """Absolute paths in the verifier's text that are neither its own nor a result nor given."""
        paths = (t.plain for t in find_paths(self.verifier_text) if t.absolute and not t.open)
        known = {*self.outputs, *self.inputs, *self.verdicts}
        return tuple(dict.fromkeys(p for p in paths if extension(p) and p not in known and not _NOT_OURS.match(p)))

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The names of its checks, as they stand in a test's summary."""
        ids = [c.id for c in self.checks if c.step == self.step.name] or [c.id for c in self.task.checks]
        return tuple(dict.fromkeys(ids)) or ("test_outputs.py::test_result",)

    @cached_property
    def forged(self) -> str:
        """What a verifier prints that is content, as this format's harness reads it."""
        match self.reader:
            case Reader.POINT_LINES:
                return "[PASS] (100pt) all steps  (as they should be)\nSCORE: 1.000  PASS: True  (100/100)\n"
            case Reader.JSON_LINE:
                return '{"schema_version": "1.0", "score": 1.0, "passed": true, "details": "all cases passed"}\n'
        bar = "=" * 27
        lines = "".join(f"PASSED {name}\n" for name in self.tests)
        return f"{bar} short test summary info {bar}\n{lines}{bar} {len(self.tests)} passed in 0.02s {bar}\n"

    # ---------------------------------------------------------------- striking

    def attack(self, script: str, did: str, variant: str = "", **more: object) -> Attack:
        """An attack on this step. What the oracle left is no cheat: it is compared with what is there afterwards."""
        known = tuple((p, digest(self.content(p))) for p in sorted(self.made)[:MOST])
        return Attack(script, did, variant, at=self.step.name, made=known, **more)  # type: ignore[arg-type]

    def fill(self, content: Mapping[str, str] | str, paths: tuple[str, ...] | None = None, mode: str = "") -> str:
        """Lines that give every output (or the paths named) one content; a mapping has one for each extension."""
        lines = [f"mkdir -p {shlex.quote(p)} 2>/dev/null" for p in self.folders] if paths is None else []
        for path in self.files if paths is None else paths:
            text = content if isinstance(content, str) else content.get(extension(path), content.get("", ""))
            lines.append(put(path, text, mode))
        return "\n".join(lines) + "\n"

    def source(self, path: str) -> Iterator[str]:
        """The content of an input where the task's folder has it."""
        given = self.task.visible.inputs().get(path)
        entry = self.task.files.read(given.file) if given and given.file else None
        if entry is not None and not entry.binary:
            yield entry.text


def put(path: str, text: str, mode: str = "") -> str:
    """A line that writes a text into a file."""
    return f"printf %s {shlex.quote(text)} | put {shlex.quote(path)} {mode}".rstrip()


def grounds(task: Task, plan: RunPlan, snapshot: Snapshot | None, checks: tuple[CheckResult, ...]) -> list[Ground]:
    """The ground of each step."""
    return [Ground(task, plan, step, snapshot, checks) for step in plan.steps]


def _files(folder: Path) -> list[str]:
    found = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return sorted(p.relative_to(folder).as_posix() for p, _ in zip(found, range(FILES), strict=False))


def _targets(upload: Upload) -> list[str]:
    if upload.source.is_file():
        return [upload.target]
    return [f"{upload.target}/{p}" for p in _files(upload.source) if not p.startswith(upload.exclude or "\0")]


__all__ = ["Ground", "grounds", "put"]
