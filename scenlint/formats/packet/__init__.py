"""The generic packet: packet.json with a brief, a working directory and checks that are shell lines."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
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
from scenlint.source.data import Data
from scenlint.source.files import FileTree
from scenlint.source.json_reader import loads
from scenlint.source.regex import regex
from scenlint.source.shell import parse as parse_shell
from scenlint.source.text import Fragment
from scenlint.task.finding import Severity
from scenlint.task.model import (
    Brief,
    Budget,
    Claim,
    Contract,
    Environment,
    Grader,
    HarnessVariable,
    HarnessVariables,
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

FILE = "packet.json"
VARIABLE = "SCENLINT_VERIFIER"
_SCHEMA = regex(r'"\$schema"\s*:\s*"https?://json-schema\.org/')
_KEYS = regex(r'"(verification|checks|workdir|brief|oracle|verifier)"')
DEFAULTS = {"brief": "brief.md", "workdir": "work", "oracle": "solve.sh"}


class Packet:
    """See `scenlint.formats.base.Format`."""

    name = "packet"
    title = "packet"
    schemas: Mapping[str, str] = {FILE: "packet"}

    def find(self, folder: Path, names: frozenset[str]) -> list[TaskRef]:
        if FILE not in names or not _claimed(sniff(folder / FILE), names):
            return []
        return [TaskRef(self.name, folder, suite=folder.resolve().parent)]

    def shared(self, refs: Sequence[TaskRef], policy: Policy) -> list[Task]:
        return []

    def load(self, ref: TaskRef, policy: Policy) -> Task:
        folder = ref.folder.resolve()
        task = Task(folder.name, self.name, ref.folder, FileTree(ref.folder), policy=policy, suite=ref.suite)
        document = read_document(task.files, FILE, "json", FILE, "packet")
        data = document.data if document else None
        task.documents = [document] if document else []
        named = {key: _path(data, key) or default for key, default in DEFAULTS.items()}
        stated = value_at(data, "id")
        if isinstance(stated.value, str):
            task.id = stated.value
            task.claims = [Claim("id", stated.value, stated.span, folder.name, binding=False)]
        task.requirements = [
            require(task.files, named["brief"], "it is what the agent is told"),
            require(task.files, named["workdir"], "it is the folder that the agent is handed", Severity.WARNING),
        ]
        if text_at(data, "oracle"):
            task.requirements.append(require(task.files, named["oracle"], f"{FILE} names it as the oracle"))
        if folder_name := text_at(data, "verifier"):
            task.requirements.append(
                require(task.files, posixpath.normpath(folder_name), "the checks find it by SCENLINT_VERIFIER")
            )
        _read_brief(task, named["brief"])
        _read_environment(task, data, named["workdir"])
        _read_oracle(task, named["oracle"])
        _read_verifier(task, data)
        task.known_files |= {FILE, *named.values()}
        if data is None or not isinstance(data.value, dict):
            task.absent[Role.BUDGET] = f"{FILE} cannot be read"
            task.known_files |= set(task.files.entries)  # what it names is not known
            return task
        limits = (("agent", "agent_sec"), ("verifier", "verifier_sec"))
        task.budget = Budget([Limit(n, value_at(data, "budget", k), f"budget.{k} in {FILE}") for n, k in limits])
        return task

    def plan(self, task: Task) -> RunPlan:
        from scenlint.formats.packet.plan import plan

        return plan(task)

    def starter(self, name: str) -> Starter:
        from scenlint.formats.starter import Starter, check_name, template

        check_name(name)
        settings = (
            "# A packet has no place for a second container: its checks run in the working directory.\n"
            '[[suppressions]]\nrule = "shared-verifier"\npath = "{here}*/packet.json"\n'
            'reason = "the checks run isolated (python3 -I) and run no file of the agent\'s"\n'
        )
        edit = [
            (f"{name}/brief.md", "what is asked; number every criterion"),
            (f"{name}/work", "what the agent is given"),
            (f"{name}/checks", "one check for each criterion, named by its number"),
            (f"{name}/solve.sh", "the work itself, from what the agent is given alone"),
            (f"{name}/packet.json", "the checks' commands and the budget"),
        ]
        files = template(self.name, {'"id": "packet"': f'"id": "{name}"'}, f"{name}/")
        return Starter(name, files, edit, settings=settings)


FORMAT = Packet()


def _claimed(text: str, names: frozenset[str]) -> bool:
    """Whether a packet.json is a task's (a JSON Schema of packets is none); where it is broken, what lies beside it."""
    if _SCHEMA.search(text):
        return False
    keys = set(_KEYS.findall(text))
    if keys & {"verification", "checks", "workdir"}:
        return True
    try:
        sound = loads(text)
    except ValueError:
        sound = None
    if isinstance(sound, dict) and sound and not keys:
        return False
    beside = names & {*DEFAULTS.values(), "verifier", "checks"}
    return DEFAULTS["brief"] in beside or len(beside) > 1


def _path(data: Data | None, key: str) -> str | None:
    text = text_at(data, key)
    return posixpath.normpath(text) if text else None


def _read_brief(task: Task, path: str) -> None:
    prose = fragment_of(task.files, path, "markdown")
    if prose is None:
        task.absent[Role.BRIEF] = f"{path} is missing or unreadable"
    else:
        task.briefs = [Brief(prose)]


def _read_environment(task: Task, data: Data | None, workdir: str) -> None:
    environment = task.environment = Environment(files=below(task.files, workdir), workdir=".")
    task.known_files |= set(environment.files)
    image = value_at(data, "image")
    if isinstance(image.value, str) and image.span is not None:
        environment.images = [ImageUse(image.value, image.span)]
    variables = {VARIABLE: HarnessVariable(VARIABLE)} if text_at(data, "verifier") else {}
    environment.variables = HarnessVariables(variables, pattern=r"SCENLINT_\w+")


def _read_verifier(task: Task, data: Data | None) -> None:
    listed = data.get("verification", "checks") if data else None
    if data is None or not isinstance(listed, list) or not listed:
        readable = data is not None and isinstance(data.value, dict)
        task.absent[Role.VERIFIER] = f"{FILE} declares no checks" if readable else f"{FILE} cannot be read"
        return
    folder = _path(data, "verifier")
    paths = below(task.files, folder) if folder else []
    verifier = Verifier([], Contract.EXIT_STATUS, Isolation.SHARED, folder=folder, workdir=".")
    verifier.mount = f"${VARIABLE}" if folder else None
    for n, check in enumerate(listed):
        at = ("verification", "checks", n)
        if not isinstance(check, dict) or text_at(data, *at, "command") is None:
            continue
        command = data.text(*at, "command", language="shell")
        grader = Grader(f"{check.get('type', 'check')} {n + 1}", data.span(*at, "command"), script=command)
        grader.required = check.get("required") is True
        grader.timeout = value_at(data, "budget", "verifier_sec")
        grader.missing = _missing_script(task, command)
        verifier.graders.append(grader)
        verifier.files.append(command)
    files = fragments_of(task.files, paths)
    verifier.files += files
    code = {f.path.relative_to(task.folder).as_posix() for f in files if f.language not in ("data", "text")}
    verifier.truth = [path for path in paths if path not in code]
    task.known_files |= set(paths)
    task.verifier = verifier


def _missing_script(task: Task, command: Fragment) -> list[Value]:
    """A script in the working directory that a check runs, that is not there and that nobody is told to write."""
    environment = task.environment
    workdir = _workdir(task)
    oracle = task.oracle.entry.text if task.oracle else ""
    out = []
    folder = ""
    for run in parse_shell(command).commands:
        if run.program == "cd":
            target = run.arguments[0].text if len(run.arguments) == 1 else None
            if target is None or target.startswith(("/", "..")):
                break
            folder = posixpath.join(folder, target)
        word = run.script_word
        name = word.text if word is not None else None
        if environment is None or word is None or name is None or not re.fullmatch(r"(?!/|.*\.\./)[\w./-]+\.\w+", name):
            continue
        there = posixpath.normpath(posixpath.join(workdir, folder, name)) in environment.files
        told = any(posixpath.basename(name) in text for text in [oracle, *(b.prose.text for b in task.briefs)])
        if not there and not told:
            out.append(Value(name, word.span))
    return out


def _workdir(task: Task) -> str:
    data = task.documents[0].data if task.documents else None
    return _path(data, "workdir") or DEFAULTS["workdir"]


def _read_oracle(task: Task, path: str) -> None:
    task.oracle_place = path
    entry = fragment_of(task.files, path)
    if entry is None:
        task.absent[Role.ORACLE] = f"{path} is missing or unreadable"
    else:
        task.oracle = Oracle(entry, [entry], posixpath.dirname(path) or None)
