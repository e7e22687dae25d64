"""Terminal-Bench tasks before Harbor: task.yaml, docker-compose.yaml, run-tests.sh, solution.sh and tests/."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.formats.base import (
    TaskRef,
    below,
    context_files,
    fragment_of,
    fragments_of,
    image_settings,
    language_of,
    read_document,
    require,
    sniff,
    text_at,
    value_at,
)
from scenlint.formats.compose import Compose, read_compose
from scenlint.source import dockerfile
from scenlint.source.data import Data, parse
from scenlint.source.files import FileTree
from scenlint.source.regex import regex
from scenlint.task.model import (
    Brief,
    Budget,
    Contract,
    Environment,
    Grader,
    Isolation,
    Limit,
    Oracle,
    Place,
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

AGENT_TIMEOUT, TEST_TIMEOUT = 360, 60
TEST_FOLDER = "/tests"
SOLUTIONS = ("solution.sh", "solution.yaml")
OWN_FILES = {"task.yaml", "docker-compose.yaml", "run-tests.sh", *SOLUTIONS}
_BRIEF = regex(r"^(?:instruction|descriptions)[ \t]*:", re.MULTILINE)
_TASKFILE = regex(r"^(?:tasks|apiVersion|runs|on)[ \t]*:", re.MULTILINE)


class TerminalBench:
    """One folder is one task and its own build context; the tests are copied in after the agent is done."""

    name = "terminal-bench"
    title = "Terminal-Bench"
    schemas: Mapping[str, str] = {"task.yaml": "terminal_bench_task"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        claimed = _claimed(folder, names)
        return [TaskRef(self.name, folder, suite=folder.parent)] if claimed else []

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        return []

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        tree = FileTree(ref.folder)
        name = os.path.basename(os.path.abspath(ref.folder))
        task = Task(name, self.name, ref.folder, tree, ref.key, policy, ref.suite)
        document = read_document(tree, "task.yaml", "yaml", "task.yaml", "terminal_bench_task")
        task.documents += [document] if document else []
        data = document.data if document and document.data.error is None else None
        task.requirements += [
            require(tree, "task.yaml", "Terminal-Bench reads the instruction and the settings from it"),
            require(tree, "docker-compose.yaml", "Terminal-Bench starts the containers with it"),
            require(tree, "run-tests.sh", "it runs the tests, whose summary is the verdict"),
        ]
        if text_at(data, "instruction"):
            assert data is not None
            task.briefs.append(Brief(data.text("instruction", language="markdown")))
        task.absent[Role.BRIEF] = "task.yaml states no instruction that could be read"
        _read_environment(task)
        _read_verifier(task, data)
        _read_oracle(task)
        _read_budget(task, data)
        _know(task)
        task.absent.setdefault(Role.METADATA, "task.yaml is missing or cannot be read")
        task.absent.setdefault(Role.STEPS, "Terminal-Bench reads no work list from the instruction")
        task.absent.setdefault(Role.SITES, "Terminal-Bench tasks declare no applications")
        return task

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.terminal_bench.plan import plan

        return plan(task)

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import Starter, check_name, template

        check_name(name)
        edit = [
            (f"{name}/task.yaml", "under `instruction` what is asked; number every criterion"),
            (f"{name}/Dockerfile", "what the agent is given"),
            (f"{name}/tests/test_outputs.py", "one check for each criterion, named by its number"),
            (f"{name}/solution.sh", "the work itself, from what the agent is given alone"),
        ]
        return Starter(name, template(self.name, {}, f"{name}/"), edit)


FORMAT = TerminalBench()


def _claimed(folder: Path, names: frozenset[str]) -> bool:
    """Whether it is such a task; a Taskfile or a workflow may be called task.yaml, too."""
    if "task.toml" in names:
        return False
    runs = "run-tests.sh" in names
    solved = bool(names & set(SOLUTIONS))
    if "task.yaml" not in names:
        return runs and solved and bool(names & {"Dockerfile", "docker-compose.yaml"})
    text = sniff(folder / "task.yaml")
    if _BRIEF.search(text):
        return runs or solved or bool(names & {"Dockerfile", "docker-compose.yaml", "tests"})
    return (runs or solved) and not _TASKFILE.search(text)


def _read_environment(task: Task) -> None:
    tree = task.files
    compose = read_compose(tree, "docker-compose.yaml", _place)
    if compose is None:
        task.absent[Role.ENVIRONMENT] = "docker-compose.yaml is missing or cannot be read"
        return
    if task.documents:  # the first document is the metadata
        task.documents.append(compose.document)
    if compose.document.data.error is not None:
        task.absent[Role.ENVIRONMENT] = "docker-compose.yaml cannot be read"
    if not compose.built("client") and compose.document.data.get("services", "client", "build"):
        why = "service `client` in docker-compose.yaml is built from it"
        task.requirements.append(Requirement("Dockerfile", why, met="Dockerfile" in tree))
    out = Environment(compose.builds, compose.images, [compose.document])
    out.files = [p for p in _context(tree, compose) if p not in OWN_FILES and not p.startswith("tests/")]
    client = next((b for b in compose.builds if b.place is Place.AGENT), None)
    out.workdir, out.user = image_settings(client)
    out.workdir = text_at(compose.document.data, "services", "client", "working_dir") or out.workdir
    task.environment = out


def _place(service: str) -> Place:
    return Place.AGENT if service == "client" else Place.SERVICE


def _context(tree: FileTree, compose: Compose) -> list[str]:
    """The files that some image of the task may be built from."""
    found: dict[str, None] = {}
    for build in compose.builds:
        if build.context is not None:
            found |= dict.fromkeys(context_files(tree, build.context))
    return list(found)


def _read_verifier(task: Task, data: Data | None) -> None:
    script = fragment_of(task.files, "run-tests.sh", "shell")
    paths = ["run-tests.sh"] if script is not None else []
    paths += below(task.files, "tests")
    if not paths:
        task.absent[Role.VERIFIER] = "run-tests.sh is missing"
        return
    limit = _test_limit(data)
    graders = [Grader("run-tests.sh", script.span(), script=script, timeout=limit.value)] if script else []
    code = ("python", "shell", "dockerfile")
    task.verifier = Verifier(
        graders,
        Contract.TEST_SUMMARY,
        Isolation.SHARED,
        files=fragments_of(task.files, paths),
        folder="tests",
        mount=TEST_FOLDER,
        workdir=task.environment.workdir if task.environment else None,
        env={"TEST_DIR": Value(TEST_FOLDER), "T_BENCH_TEST_DIR": Value(TEST_FOLDER)},
        truth=[p for p in paths if language_of(p, task.files.read(p)) not in code],
    )


def _read_oracle(task: Task) -> None:
    task.oracle_place = "solution.sh"
    entry = fragment_of(task.files, "solution.sh", "shell")
    if entry is not None:
        task.oracle = Oracle(entry, [entry])
        return
    listed = fragment_of(task.files, "solution.yaml", "data")
    if listed is None:
        task.absent[Role.ORACLE] = "solution.sh is missing"
        return
    data = parse(listed, "yaml")
    commands = data.value if isinstance(data.value, list) else []
    steps = [n for n, item in enumerate(commands) if isinstance(item, dict) and isinstance(item.get("command"), str)]
    task.oracle = Oracle(listed, [data.text(n, "command", language="shell") for n in steps])


def _read_budget(task: Task, data: Data | None) -> None:
    if data is None and "task.yaml" in task.files:
        task.absent[Role.BUDGET] = "task.yaml cannot be read"
        return
    agent = value_at(data, "max_agent_timeout_sec", default=AGENT_TIMEOUT)
    task.budget = Budget([Limit("agent", agent, "max_agent_timeout_sec in task.yaml"), _test_limit(data)])


def _test_limit(data: Data | None) -> Limit:
    value = value_at(data, "max_test_timeout_sec", default=TEST_TIMEOUT)
    return Limit("verifier", value, "max_test_timeout_sec in task.yaml")


def _know(task: Task) -> None:
    """The harness's own files, the tests, and what a build copies (all of the folder, where it copies that)."""
    known = task.known_files
    known |= OWN_FILES | {"Dockerfile"} | {e.path for e in task.files.under("tests")}
    for build in task.environment.builds if task.environment else []:
        for stage in dockerfile.parse(build.fragment, build.arguments).stages:
            for word in (w for i in stage.instructions if i.keyword in ("COPY", "ADD") and i.local for w in i.sources):
                source = (word.text or word.raw).strip("/").removeprefix("./")
                whole = source in ("", ".") or "*" in source
                base = (build.context or "").strip("/")
                folder = base if whole else f"{base}/{source}".strip("/")
                known |= {folder} | {e.path for e in task.files.under(folder)}
