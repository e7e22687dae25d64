"""DeepGym: task.md and a verifier.py that prints one line of JSON, or a patch of tests for a whole repository."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.formats.base import (
    TaskRef,
    below,
    fragment_of,
    language_of,
    read_document,
    require,
    sniff,
    text_at,
    value_at,
)
from scenlint.source import trace
from scenlint.source.data import Data
from scenlint.source.files import FileTree, read_source
from scenlint.source.python import syntax_tree
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.model import (
    Brief,
    Budget,
    Claim,
    Contract,
    Environment,
    Grader,
    ImageUse,
    Isolation,
    Limit,
    Oracle,
    Role,
    Task,
    Value,
    Verifier,
)
from scenlint.task.policy import Policy

if TYPE_CHECKING:
    from scenlint.formats.starter import Starter
    from scenlint.task.plan import RunPlan

DEFAULT_TIMEOUT = 30.0
PATCH = "test_patch.diff"
ORACLES = ("reference_solution.py", "reference_solution.diff", "reference_actions.json")
# Tasks in several turns: what lies beside the verifier is handed to the agent, and support files are put before it.
SESSIONS = ("computer-use", "multi-turn")
_OWN = {"task.md", "verifier.py", "metadata.json", "approval.json", "variants.json", "setup.sh", PATCH, *ORACLES}
_JUDGE = regex(r"\bsolution|\bdef verify\b|\bscore\b|deepgym")


class DeepGym:
    """See `scenlint.formats.base.Format`."""

    name = "deepgym"
    title = "DeepGym"
    schemas: Mapping[str, str] = {"metadata.json": "deepgym_metadata"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        if not _claimed(folder, names):
            return []
        return [TaskRef(self.name, folder, suite=folder.resolve().parent)]

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        return []

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        task = Task(
            ref.folder.resolve().name, self.name, ref.folder, FileTree(ref.folder), policy=policy, suite=ref.suite
        )
        document = read_document(task.files, "metadata.json", "json", "metadata.json", "deepgym_metadata")
        data = document.data if document else None
        task.documents = [document] if document else []
        if document is None:
            task.absent[Role.METADATA] = "there is no metadata.json, which the loader does without"
        stated = value_at(data, "id")
        if isinstance(stated.value, str):
            task.id = stated.value
            task.claims = [Claim("id", stated.value, stated.span, stated.value)]  # free, but one to a suite
        task.requirements = [require(task.files, "task.md", "it is the prompt")]
        prose = fragment_of(task.files, "task.md", "markdown")
        task.briefs = [Brief(prose)] if prose is not None else []
        if prose is None:
            task.absent[Role.BRIEF] = "task.md is missing or unreadable"
        support = _support(task, data)
        _read_verifier(task, data, support)
        _read_environment(task, data)
        _read_oracle(task)
        task.known_files |= _OWN | {_inside(task, f.path) for f in support}
        return task

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.deepgym.plan import plan

        return plan(task)

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import Starter, check_name, template

        check_name(name)
        files = template(self.name, {'"name": "product"': f'"name": "{name}"'}, f"{name}/")
        edit = [
            (f"{name}/task.md", "the function that is asked for; number every criterion"),
            (f"{name}/verifier.py", "cases for each criterion, named by its number"),
            (f"{name}/reference_solution.py", "the function"),
            (f"{name}/metadata.json", "difficulty, domain and tags"),
        ]
        return Starter(name, files, edit)


FORMAT = DeepGym()


def _claimed(folder: Path, names: frozenset[str]) -> bool:
    """Whether it is such a task, one that lost its task.md or its verifier included."""
    others = names & {PATCH, *ORACLES}
    if "task.toml" in names or not ("verifier.py" in names or others):
        return False
    if "task.md" not in names:
        return bool("verifier.py" in names and others) and "score" in sniff(folder / "verifier.py")
    return bool(others) or "metadata.json" in names or _JUDGE.search(sniff(folder / "verifier.py")) is not None


def verifier_shape(script: Fragment, declared: str | None = None) -> str:
    """ "script", "verify_function" or "body": as declared, else as DeepGym reads the file."""
    from scenlint.task.verdict_flow.judge import BODY, FUNCTION, SCRIPT, shape_of

    if declared in (SCRIPT, FUNCTION, BODY):
        return declared
    try:
        return shape_of(syntax_tree(script.text))
    except SyntaxError:
        return BODY


def _support(task: Task, data: Data | None) -> list[Fragment]:
    """The support files that are there, those beside the task's folder included."""
    listed = data.get("support_files") if data else None
    out = []
    for name in listed if isinstance(listed, list) else ():
        if not isinstance(name, str) or Path(name).is_absolute():
            continue
        path = posixpath.normpath(name)
        fragment = _beside(task.folder, path) if path.startswith("..") else fragment_of(task.files, path)
        if fragment is not None:
            out.append(fragment)
    return out


def _missing_support(task: Task, data: Data | None) -> list[Value]:
    """The support files that are neither in the folder nor, for shared ones, beside it."""
    listed = data.get("support_files") if data else None
    out = []
    for n, name in enumerate(listed if isinstance(listed, list) else ()):
        path = posixpath.normpath(name) if isinstance(name, str) and name else ""
        there = trace.is_file(task.folder.resolve() / path) if path.startswith("..") else path in task.files
        if data is not None and path and not there:
            out.append(Value(name, data.span("support_files", n)))
    return out


def _beside(folder: Path, name: str) -> Fragment | None:
    """A shared file of the suite: registered tasks may name files up to the folder of all tasks."""
    source = read_source((folder.resolve() / name).resolve())
    return None if source is None or source.binary else Fragment.of(source, language_of(source.path.name, source))


def _inside(task: Task, path: Path) -> str:
    return path.relative_to(task.folder).as_posix() if path.is_relative_to(task.folder) else str(path)


def _read_verifier(task: Task, data: Data | None, support: list[Fragment]) -> None:
    timeout = value_at(data, "timeout", default=DEFAULT_TIMEOUT)
    task.budget = Budget([Limit("verifier", timeout, "timeout in metadata.json")])
    patch = fragment_of(task.files, PATCH, "diff")
    if patch is not None:
        command = value_at(data, "test_command")
        grader = Grader(PATCH, patch.span(), "test_patch", [command] if command.value else [], patch, timeout=timeout)
        task.verifier = Verifier([grader], Contract.EXIT_STATUS, Isolation.SEPARATE, [patch], "")
        return
    script = fragment_of(task.files, "verifier.py", "python")
    task.requirements.append(require(task.files, "verifier.py", "it judges the solution"))
    if script is None:
        task.absent[Role.VERIFIER] = "verifier.py is missing or unreadable"
        return
    kind = verifier_shape(script, text_at(data, "verifier_mode"))
    verifier = Verifier(
        [Grader("verifier.py", script.span(), kind, script=script, timeout=timeout)],
        Contract.JSON_LINE,
        Isolation.JUDGE,
    )
    verifier.files = [script, *support]
    verifier.graders[0].missing = _missing_support(task, data)
    verifier.folder, verifier.workdir = "", "."
    verifier.truth = [_inside(task, f.path) for f in support if f.language in ("data", "text")]
    task.verifier = verifier


def _read_environment(task: Task, data: Data | None) -> None:
    environment = task.environment = Environment(workdir=".")
    image = value_at(data, "image")
    if isinstance(image.value, str) and image.span is not None:
        environment.images = [ImageUse(image.value, image.span)]
    if text_at(data, "type") in SESSIONS:
        hidden = _OWN | {_inside(task, f.path) for f in (task.verifier.files if task.verifier else [])}
        environment.files = [
            path for path in below(task.files, "") if path not in hidden and not path.startswith("_shared/")
        ]
        task.known_files |= set(environment.files)
        steps, seconds = value_at(data, "max_steps", default=10), value_at(data, "timeout_per_step", default=30)
        if task.budget and isinstance(steps.value, int) and isinstance(seconds.value, int | float):
            limit = Value(float(steps.value * seconds.value), steps.span or seconds.span)
            task.budget.limits.append(Limit("agent", limit, "max_steps times timeout_per_step in metadata.json"))


def _read_oracle(task: Task) -> None:
    task.oracle_place = ORACLES[0]
    name = next((name for name in ORACLES if name in task.files), None)
    entry = fragment_of(task.files, name, "diff" if name.endswith(".diff") else None) if name else None
    if entry is None:
        task.absent[Role.ORACLE] = f"{ORACLES[0]} is missing or unreadable"
    else:
        task.oracle = Oracle(entry, [entry])
