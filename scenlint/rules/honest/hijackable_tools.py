"""A test runner that obeys files which the agent can plant where the verifier runs."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source.shell import Command
from scenlint.task.checks.shells import decides
from scenlint.task.model import Isolation, Verifier
from scenlint.task.runs import verifier_runs
from scenlint.task.users import agent_is_root

_WORKSPACE = "WAZA_WORKSPACE_DIR"  # the variable that names the agent's folder to a grader on the host
_PINNED = (
    "run it as `python3 -I -m pytest -c /dev/null --rootdir=/tests --noconftest`, or run the verifier in a container"
)
_OWN = "call the tools themselves, with settings of the verifier's own, or run the verifier in a container of its own"


@rule(
    "hijackable-tools",
    "SL407",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="a task with such a file planted by the agent is still graded 0",
    fix="unsafe",
)
def hijackable_tools(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or verifier.isolation not in (Isolation.SHARED, Isolation.HOST):
        return
    found: list[tuple[Command, list[str], str]] = []
    for run in verifier_runs(task):
        if verifier.isolation is Isolation.SHARED or _in_workspace(run.command):
            holes, cure = _holes(task, verifier, run.command)
            found += [(run.command, holes, cure)] if holes else []
    if found:
        command, holes, cure = max(found, key=lambda f: len(f[1]))
        name = " ".join(w.raw for w in command.tool_words[: 2 if cure is _OWN else 1])
        yield Finding.at(
            command.span,
            f"`{name}` obeys what the agent can leave behind: {'; '.join(holes)}",
            help=cure,
            fix=_shielded(verifier, command, holes),
        )


def _shielded(verifier: Verifier, command: Command, holes: list[str]) -> Fix | None:
    """pytest with settings of its own, where the tests are the verifier's, have no `conftest.py`, and that is all."""
    tool = command.tool_words[0]
    ours = {f.path.name for f in verifier.files}
    runs_ours = any(posixpath.basename(w.pattern.partition("::")[0]) in ours for w in command.tool_words[1:])
    if command.tool != "pytest" or not runs_ours or "conftest.py" in ours or "$" in tool.raw:
        return None
    if any("working directory" in hole for hole in holes):
        return None
    given = {w.pattern.partition("=")[0] for w in command.tool_words}
    options = f"-c /dev/null --rootdir={verifier.mount or '/tests'}" if any("ini" in hole for hole in holes) else ""
    if options and given & {"-c", "--config-file", "--rootdir"}:
        return None
    options += " --noconftest" if any("conftest" in hole for hole in holes) else ""
    at = tool.start + len(tool.raw)
    edit = command.fragment.edit(at, at, f" {options.strip()}")
    return Fix.of(f"run it with `{options.strip()}`", edit, safe=False)


def _holes(task: Task, verifier: Verifier, command: Command) -> tuple[list[str], str]:
    """What could be planted, and what to do against it."""
    words = [w.pattern for w in command.tool_words]
    if command.tool in ("pytest", "py.test"):
        return [*_pytest(task, verifier, words), *_shadowed(verifier, command, "pytest")], _PINNED
    if command.tool == "unittest":
        return _shadowed(verifier, command, "unittest"), "run it with `python3 -I`"
    if command.program in ("npm", "yarn", "pnpm", "make") and decides(command):
        file = "Makefile" if command.program == "make" else "package.json"
        verbs = [w for w in words[1:] if not w.startswith("-")]
        tests = verbs[:1] == ["run"] or any(re.fullmatch(r"tests?|check|verify|lint", v) for v in verbs[:1])
        ours = any(posixpath.basename(e.path) == file for e in task.files.under(verifier.folder or "."))
        if tests and not ours and not {"-f", "--prefix"} & set(words):
            return [f"whatever the `{file}` says that lies where it worked"], _OWN
    return [], ""


def _pytest(task: Task, verifier: Verifier, words: list[str]) -> Iterator[str]:
    if not agent_is_root(task) and verifier.isolation is Isolation.SHARED:
        return  # the folders around the tests are root's
    ini = next(_settings(task, verifier), None)
    line = " ".join(words)
    given = re.search(r"(?:^| )(?:-c[ =]?|--config-file[ =])(\S+)", line)
    mount = (verifier.mount or "/tests").rstrip("/") + "/"
    if ini is None and not (given and re.match(rf"/dev/null|\*|\$|{re.escape(mount)}", given[1])):
        yield "a `pytest.ini` or `pyproject.toml` in a folder above the tests"
    if "--noconftest" not in words and "--noconftest" not in (ini or ""):
        yield "a `conftest.py` beside or above the tests"


def _settings(task: Task, verifier: Verifier) -> Iterator[str]:
    """The settings files of pytest beside the tests: with one there, those further up do not count."""
    for entry in task.files.under(verifier.folder) if verifier.folder else []:
        name = posixpath.basename(entry.path)
        if name in ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"):
            source = task.files.read(entry.path)
            if source is not None and (name.endswith("pytest.ini") or re.search(r"\[(?:tool[:.])?pytest", source.text)):
                yield source.text


def _shadowed(verifier: Verifier, command: Command, module: str) -> list[str]:
    """Whether `python -m` takes the module from a working directory of the agent's."""
    words = [w.pattern for w in command.words]
    flags = words[1 : next((n for n, w in enumerate(words) if re.fullmatch(r"-[A-Za-z]*m", w)), 1) + 1]
    if not re.match(r"python|pypy", command.program or "") or any(re.match(r"-[A-Za-z]*[IP]", f) for f in flags):
        return []
    if not flags or "PYTHONSAFEPATH" in command.script.fragment.text:
        return []
    own = (verifier.mount or "/tests").rstrip("/")
    here = _folder(command)
    return [] if here.startswith((own, "$TEST_DIR")) else [f"a `{module}.py` in the working directory"]


def _folder(command: Command) -> str:
    """The folder that the script has gone to before, as it is written; "" where it stays where it began."""
    gone = [c for c in command.script.commands if c.program == "cd" and c.arguments and c.start < command.start]
    return gone[-1].arguments[-1].raw.strip("\"'") if gone else ""


def _in_workspace(command: Command) -> bool:
    return _WORKSPACE in _folder(command) or any(_WORKSPACE in w.raw for w in command.argv)
