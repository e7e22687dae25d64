"""Waza: an eval.yaml that names task files, with graders of the eval and of the task, some of them programs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenlint.formats.base import TaskRef, below, fragments_of, read_document, sniff, text_at, value_at
from scenlint.formats.waza.graders import DEFAULT_TIMEOUT, read_graders
from scenlint.formats.waza.suite import DEFAULT_TASKS, EVAL_FILES, Places, is_eval, task_keys
from scenlint.source.data import Data, parse
from scenlint.source.files import FileTree
from scenlint.source.text import Fragment
from scenlint.task.model import (
    Brief,
    Budget,
    Claim,
    Contract,
    Document,
    Environment,
    HarnessVariable,
    HarnessVariables,
    Isolation,
    Limit,
    Requirement,
    Role,
    Task,
    Value,
    Verifier,
)
from scenlint.task.policy import Policy

if TYPE_CHECKING:
    from scenlint.formats.starter import Starter
    from scenlint.task.plan import RunPlan

CODE = {"python", "shell", "javascript", "typescript", "powershell", "ruby", "perl", "go"}
VARIABLES = ("WAZA_WORKSPACE_DIR", "WAZA_GRADING_CONTEXT")


class Waza:
    """See `scenlint.formats.base.Format`."""

    name = "waza"
    title = "Waza"
    schemas: Mapping[str, str] = {"eval.yaml": "waza_eval", "task file": "waza_task"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        name = next((n for n in EVAL_FILES if n in names), None)
        text = sniff(folder / name) if name else ""
        if name is None or not is_eval(text, folder):
            return []
        keys = task_keys(folder, text) or [""]
        return [TaskRef(self.name, folder, key, folder / name) for key in keys]

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        return []

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        task = Task(ref.key or ref.folder.resolve().name, self.name, ref.folder, FileTree(ref.folder), ref.key, policy)
        task.suite = ref.suite
        name = next((n for n in EVAL_FILES if n in task.files), EVAL_FILES[0])
        suite = read_document(task.files, name, "yaml", name, "waza_eval")
        own = read_document(task.files, ref.key, "yaml", ref.key, "waza_task") if ref.key else None
        task.documents = [d for d in (own, suite) if d is not None]
        places = Places(task.files)
        if own is None and suite is not None and suite.data.get("tasks_from") is None:
            patterns = suite.data.get("tasks", default=[DEFAULT_TASKS])
            wanted = ", ".join(map(str, patterns)) if isinstance(patterns, list) else str(patterns)
            why = f"no file matches what `tasks` in {name} names, so the eval runs nothing and passes"
            task.requirements.append(Requirement(wanted, why, met=False))
        _read_task(task, own)
        _read_environment(task, own, places)
        _read_verifier(task, suite, own, places)
        _read_budget(task, suite, own)
        task.absent[Role.ORACLE] = "Waza has no place for a reference solution"
        task.known_files |= _named_files(task, name)
        documents = [(name, suite), (ref.key, own)]
        unread = [n for n, d in documents if n in task.files and (d is None or not isinstance(d.data.value, dict))]
        if unread:  # what it names, and which limits it sets, is not known
            task.known_files |= set(task.files.entries)
            task.budget, task.absent[Role.BUDGET] = None, f"{unread[0]} cannot be read"
            task.absent[Role.VERIFIER] = f"{unread[0]} cannot be read"
        return task

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.waza.plan import plan

        return plan(task)

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import Starter, check_name, template

        check_name(name)
        task = f"{name}-001"
        made = template(self.name, {"product-eval": name, "product-001": task, "TASK-001": task})
        oracle = f"oracles/{task}.py"
        files = {path if path == oracle else f"{name}/{path}": text for path, text in made.items()}
        settings = '# Waza has no place for a solution.\n[oracles]\n"*" = "{here}oracles/{id}.py"\n'
        edit = [
            (f"{name}/tasks/product.yaml", "under `prompt` what is asked, under `files` what the agent is given"),
            (f"{name}/graders/check_product.py", "a check for each criterion, named by its number"),
            (f"{name}/eval.yaml", "the skill, the model and the graders"),
            (oracle, "the work itself, from what the agent is given alone"),
        ]
        return Starter(name, files, edit, settings=settings)


FORMAT = Waza()


def _read_task(task: Task, own: Document | None) -> None:
    if own is None:
        task.absent[Role.BRIEF] = (
            f"{task.key} is unreadable" if task.key else "no task file is at hand; rows of a table are not read"
        )
        return
    stated = value_at(own.data, "id")
    if isinstance(stated.value, str):
        task.id = stated.value
        task.claims = [Claim("id", task.id, stated.span, task.id)]  # the file's name says nothing about it
    if text_at(own.data, "inputs", "prompt") is None:
        task.absent[Role.BRIEF] = f"{own.name} has no inputs.prompt"
        return
    task.briefs = [Brief(own.data.text("inputs", "prompt", language="markdown"))]
    further = own.data.get("inputs", "follow_up_prompts")
    for n, prompt in enumerate(further if isinstance(further, list) else []):
        if isinstance(prompt, str):
            text = own.data.text("inputs", "follow_up_prompts", n, language="markdown")
            task.briefs.append(Brief(text, step=f"follow-up {n + 1}"))


def _read_environment(task: Task, own: Document | None, places: Places) -> None:
    given = {name: HarnessVariable(name) for name in VARIABLES}
    environment = task.environment = Environment(workdir=".")
    environment.variables = HarnessVariables(given, pattern=r"WAZA_\w+")
    inputs = own.data.get("inputs", "files") if own else None
    context = (text_at(own.data, "context_dir") if own else None) or "fixtures"
    for n, item in enumerate(inputs if isinstance(inputs, list) else []):
        path = item.get("path") if isinstance(item, dict) else None
        if own is None or not isinstance(item, dict):
            continue
        if item.get("content"):
            name = path if isinstance(path, str) else f"file {n + 1}"
            environment.inline[name] = own.data.text("inputs", "files", n, "content", language="text")
        elif isinstance(path, str):
            place = posixpath.normpath(posixpath.join(context, path))
            if place in task.files:
                environment.files.append(place)
            elif places.find(place) is None and not path.startswith("/"):
                why = "inputs.files names it; Waza warns, and the agent works without it"
                task.requirements.append(Requirement(place, why, met=False))


def _read_verifier(task: Task, suite: Document | None, own: Document | None, places: Places) -> None:
    timeout = _default_timeout(places)
    verifier = Verifier([], Contract.EXIT_STATUS, Isolation.HOST)
    verifier.folder = "graders" if task.files.has_dir("graders") else ""
    for document, scope in ((suite, "suite"), (own, "task")):
        if document is None:
            continue
        for grader, code in read_graders(document.data, scope, timeout, places):
            verifier.graders.append(grader)
            verifier.files += [f for f in code if all(f.path != g.path or f.pieces != g.pieces for g in verifier.files)]
            verifier.truth += [path for path in _truth(grader.config) if path in task.files]
    verifier.files += _scripts(task, verifier.files)
    if verifier.folder:
        data = fragments_of(task.files, below(task.files, verifier.folder))
        verifier.truth += [f.path.relative_to(task.folder).as_posix() for f in data if f.language in ("data", "text")]
    if verifier.graders:
        task.verifier = verifier
    else:
        task.absent[Role.VERIFIER] = "no grader is declared, so Waza passes every trial"


def _scripts(task: Task, code: list[Fragment]) -> list[Fragment]:
    """The code files of the eval that the graders' code names, step by step: what a shell line starts, a helper."""
    given = set(task.environment.files if task.environment else ())
    paths = [p for p in below(task.files, "") if not p.startswith("fixtures/") and p not in given]
    files = [f for f in fragments_of(task.files, paths) if f.language in CODE]
    out: list[Fragment] = []
    while True:
        taken = {f.path for f in [*code, *out]}
        texts = [f.text for f in [*code, *out]]
        more = [f for f in files if f.path not in taken and any(_names(t, f.path.name) for t in texts)]
        if not more:
            return out
        out += more


def _names(text: str, file: str) -> bool:
    stem = re.escape(Path(file).stem)
    return file in text or re.search(rf"^[ \t]*(?:from|import)\s+(?:\w+\.)*{stem}\b", text, re.MULTILINE) is not None


def _default_timeout(places: Places) -> Value:
    """`graders.programTimeout` of the nearest .waza.yaml, else Waza's own default."""
    path = places.find(".waza.yaml")
    source = places.read(path) if path is not None else None
    data = parse(Fragment.of(source, "yaml")) if source is not None else None
    return value_at(data, "graders", "programTimeout", default=DEFAULT_TIMEOUT)


def _truth(config: Any) -> list[str]:
    """Snapshots and schemas that only the graders see."""
    if not isinstance(config, dict):
        return []
    named = [config.get("schema_file")]
    expected = config.get("expected_files")
    named += [e.get("snapshot") for e in expected if isinstance(e, dict)] if isinstance(expected, list) else []
    return [posixpath.normpath(name) for name in named if isinstance(name, str)]


def _read_budget(task: Task, suite: Document | None, own: Document | None) -> None:
    limit = value_at(own.data, "timeout_seconds") if own else Value(None)
    where = f"timeout_seconds in {own.name}" if own else ""
    if limit.span is None:
        data: Data | None = suite.data if suite else None
        limit, where = (
            value_at(data, "config", "timeout_seconds"),
            f"config.timeout_seconds in {suite.name if suite else 'eval.yaml'}",
        )
    task.budget = Budget([Limit("agent", limit, where)])
    if task.verifier is not None:
        limits = [g.timeout for g in task.verifier.graders if g.timeout is not None]
        if limits:
            task.budget.limits.append(Limit("verifier", limits[0], "config.timeout of the program graders"))


def _named_files(task: Task, eval_name: str) -> set[str]:
    """The files that the eval, one of its tasks or a grader's script names; task files and fixtures among them."""
    out = {eval_name, task.key, "README.md", "trigger_tests.yaml", ".waza.yaml"} - {""}
    texts = [d.fragment.text for d in task.documents] + [f.text for f in (task.verifier.files if task.verifier else ())]
    for key in task_keys(task.folder, task.documents[-1].fragment.text) if task.documents else ():
        out.add(key)
        source = task.files.read(key)
        texts.append(source.text if source else "")
    # Where the eval lies in the skill's own folder, the other files are the skill's.
    skill = "SKILL.md" in task.files
    for entry in task.files:
        own = entry.path.startswith("fixtures/") or (skill and not entry.path.startswith("graders/"))
        if own or any(entry.name in text for text in texts):
            out.add(entry.path)
    return out
