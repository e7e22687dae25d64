"""SaaS-Bench: description.md, meta.json and verify.py; the applications come from an apps.yaml beside the tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.formats.base import (
    TaskRef,
    below,
    fragment_of,
    fragments_of,
    read_document,
    require,
    sniff,
    text_at,
    value_at,
)
from scenlint.formats.saas_bench.apps import PUBLISHED, Apps, environment, find_apps, list_file, variables
from scenlint.formats.saas_bench.steps import read_steps
from scenlint.source import trace
from scenlint.source.data import parse
from scenlint.source.files import FileTree, read_source
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.finding import Severity
from scenlint.task.model import (
    Brief,
    Budget,
    Claim,
    Contract,
    Environment,
    Grader,
    Isolation,
    Limit,
    Requirement,
    Role,
    Site,
    Task,
    Value,
    Verifier,
)
from scenlint.task.policy import Policy

if TYPE_CHECKING:
    from scenlint.formats.starter import Starter
    from scenlint.task.plan import RunPlan

TIMEOUT = 300.0  # seconds after which the harness kills verify.py and discards what it printed
_META = regex(r'"(?:meta_data|category_id|sites)"')
_POINTS = regex(r"PASS.*pt\)|pt\).*PASS", re.DOTALL)
_FILES = ("description.md", "meta.json", "verify.py")


class SaasBench:
    """See `scenlint.formats.base.Format`."""

    name = "saas-bench"
    title = "SaaS-Bench"
    schemas: Mapping[str, str] = {"meta.json": "saas_bench_meta"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        present = [name for name in _FILES if name in names]
        if len(present) < 2 or names & {"task.toml", "task.yaml", "eval.yaml", "packet.json"}:
            return []
        # Where one is missing, one of the other two must say whose they are.
        ours = (
            len(present) == 3
            or _META.search(sniff(folder / "meta.json"))
            or _POINTS.search(sniff(folder / "verify.py"))
        )
        return [TaskRef(self.name, folder, suite=_suite(folder))] if ours else []

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        found = {find_apps(ref.folder, policy.apps) for ref in refs}
        lists = [apps for path in sorted(p for p in found if p is not None) if (apps := Apps.read(path)) is not None]
        used = {site for ref in refs for site in _sites(ref.folder)}
        return [_shared(apps, used, policy) for apps in lists]

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        folder = ref.folder.resolve()
        task = Task(folder.name, self.name, ref.folder, FileTree(ref.folder), policy=policy, suite=ref.suite)
        task.known_files = set(_FILES)
        task.requirements = [
            require(task.files, "description.md", "the agent is told its text; the loader skips the folder"),
            require(task.files, "meta.json", "it names the applications; the loader skips the folder"),
            require(
                task.files, "verify.py", "without it the result is SKIP: the agent runs and no score is computed",
                Severity.WARNING,
            ),
        ]  # fmt: skip
        apps = Apps.read(find_apps(ref.folder, policy.apps))
        _read_metadata(task, folder, apps)
        _read_brief(task)
        _read_verifier(task)
        task.budget = Budget([Limit("verifier", Value(TIMEOUT), "the harness's own limit for verify.py", TIMEOUT)])
        task.absent[Role.ORACLE] = "SaaS-Bench has no place for a reference solution"
        return task

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.saas_bench.plan import plan

        return plan(task)

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import Starter, check_name, template

        check_name(name, r"[a-z][a-z0-9]*_[a-z0-9_]+", "its category and a number, such as `teamwork_001`")
        category = name.partition("_")[0].capitalize()
        made = template(self.name, {"TASK": name, "CATEGORY": category})
        shared = {path: text for path, text in made.items() if path == "apps.yaml" or path.startswith("docker/")}
        task = f"tasks/uni-m/{category}/{name}"
        settings = '# SaaS-Bench has no place for a solution.\n[oracles]\n"*" = "{here}oracles/{id}.py"\n'
        edit = [
            (f"{task}/description.md", "what is asked; number every step"),
            (f"{task}/meta.json", "the applications"),
            (f"{task}/verify.py", "one check for each step, named by its number"),
            (f"oracles/{name}.py", "the work itself, through what the agent has"),
            ("apps.yaml", "how the applications are started"),
        ]
        files = {path: text for path, text in made.items() if path not in shared}
        return Starter(task, files, edit, shared, settings)


FORMAT = SaasBench()


def _suite(folder: Path) -> Path:
    """The folder of all tasks, which share one space of ids."""
    resolved = folder.resolve()
    return next((above for above in resolved.parents if above.name == "tasks"), resolved.parent)


def _in_category(folder: Path) -> bool:
    """Whether the folder above names a category: a task in the tasks folder itself, or on its own, has none."""
    return folder.parent.name != "tasks" and any(above.name == "tasks" for above in folder.parents)


def _sites(folder: Path) -> list[str]:
    """The applications that a task names, without loading it."""
    source = read_source(folder / "meta.json")
    found = parse(Fragment.of(source, "json")).get("meta_data", "sites") if source else None
    return [site for site in found if isinstance(site, str)] if isinstance(found, list) else []


def _read_metadata(task: Task, folder: Path, apps: Apps | None) -> None:
    task.environment = Environment(variables=variables((), apps.names if apps else ()))
    document = read_document(task.files, "meta.json", "json", "meta.json", "saas_bench_meta")
    if document is None:
        for role in (Role.METADATA, Role.SITES):
            task.absent[role] = "meta.json is missing or unreadable"
        return
    task.documents = [document]
    data = document.data
    task.id = text_at(data, "task_id") or task.id
    parents = {"id": folder.name, "category": folder.parent.name}
    for name, key in (("id", "task_id"), ("category", "category_id")):
        stated = value_at(data, key)
        if isinstance(stated.value, str) and (name == "id" or _in_category(folder)):
            task.claims.append(Claim(name, stated.value, stated.span, parents[name]))
    sites = data.get("meta_data", "sites")
    for n, site in enumerate(sites) if isinstance(sites, list) else ():
        if isinstance(site, str):
            known = site in apps.names if apps else None
            candidates = apps.names if apps else tuple(PUBLISHED)
            task.sites.append(Site(site, data.span("meta_data", "sites", n), known, candidates))
    if not task.sites:
        task.absent[Role.SITES] = "meta.json declares no sites"
    task.environment.variables = variables((s.name for s in task.sites), apps.names if apps else ())
    _read_inputs(task, folder, apps)


def _read_inputs(task: Task, folder: Path, apps: Apps | None) -> None:
    """The files handed to the agent: named from the root of the repository, where the harness is started."""
    inputs = task.documents[0].data.get("multimodal_input")
    for item in inputs if isinstance(inputs, list) else ():
        name = item.get("file") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name or Path(name).is_absolute():
            continue
        roots = [*([apps.root] if apps else []), *folder.parents, folder]
        place = next((root / name for root in roots if trace.is_file(root / name)), None)
        if place is None:
            why = "meta.json names it as an input, and the harness hands it over only where it is there"
            task.requirements.append(Requirement(name, why, Severity.WARNING, met=False))
        elif place.is_relative_to(folder) and task.environment is not None:
            task.environment.files.append(place.relative_to(folder).as_posix())
            task.known_files.add(place.relative_to(folder).as_posix())


def _read_brief(task: Task) -> None:
    prose = fragment_of(task.files, "description.md", "markdown")
    if prose is None:
        task.absent[Role.BRIEF] = task.absent[Role.STEPS] = "description.md is missing or unreadable"
    else:
        task.briefs = [Brief(prose, work_list=read_steps(prose))]


def _read_verifier(task: Task) -> None:
    script = fragment_of(task.files, "verify.py", "python")
    if script is None:
        task.absent[Role.VERIFIER] = "verify.py is missing or unreadable, so the harness reports SKIP"
        return
    helpers = [path for path in below(task.files, "") if path.endswith(".py") and path != "verify.py"]
    data = [path for path in below(task.files, "") if path not in task.known_files and path not in helpers]
    task.verifier = Verifier(
        [Grader("verify.py", script.span(), script=script, timeout=Value(TIMEOUT))],
        Contract.POINT_LINES,
        Isolation.HOST,
        files=[script, *fragments_of(task.files, helpers)],
        folder="",
        truth=data,
    )
    task.known_files |= _imported(script, helpers)


def _imported(script: Fragment, helpers: list[str]) -> set[str]:
    """The helper modules that verify.py imports."""
    names = set(re.findall(r"^[ \t]*(?:from|import)\s+\.?(\w+)", script.text, re.MULTILINE))
    return {path for path in helpers if path.split("/")[0].removesuffix(".py") in names}


def _shared(apps: Apps, used: Set[str], policy: Policy) -> Task:
    """The apps list, as far as the tasks at hand use it, as the environment that they have in common."""
    tree = FileTree(apps.root, limit=0)  # of a whole repository, only what is read here
    place = apps.path.relative_to(apps.root).as_posix()
    list_file(tree, place)
    task = Task(apps.path.name, SaasBench.name, apps.root, tree, key=place, policy=policy, suite=apps.root)
    task.shared = True
    task.environment = environment(apps, tree, used)
    task.known_files = set(tree.entries)
    task.absent = {role: "it is what the tasks of a suite share" for role in Role if role is not Role.ENVIRONMENT}
    return task
