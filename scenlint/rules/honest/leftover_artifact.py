"""A trace of the author's own work in the agent's image that gives the solution or the tests away."""

import json
import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.json_reader import loads
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.asserted import asserted, says
from scenlint.task.image import Given
from scenlint.task.leaks import agent_image, in_briefs, secrets

_COMPILED = regex(r"(?:^|/)(?:__pycache__/)?(?P<module>\w+)(?:\.(?:cpython|pypy)[\w-]*)?\.pyc$")
_TEST_CACHE = regex(r"/\.pytest_cache/v/cache/(?:nodeids|lastfailed)$")
_BACKUP = regex(
    r"(?:^|/)(?:(?P<tilde>[^/]+)~|\.(?P<swap>[^/]+)\.sw[op]|#(?P<auto>[^/]+)#|(?P<old>[^/]+)\.(?:bak|orig|old))$"
)
_HISTORY = regex(r"(?:^|/)\.(?:bash|python|zsh|node_repl|psql|mysql|sqlite)_history$|(?:^|/)nohup\.out$")
_SPEAKS_OF_LOGS = regex(r"\blogs?\b|\boutput files?\b|\bexisting (?:\w+ ){0,3}outputs?\b", re.I)
_LEAST = 8  # characters of a line that two files share by more than chance
_HELP = "delete it, and keep such files out with .dockerignore"


@rule(
    "leftover-artifact",
    "SL412",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the file is part of the task, or nothing in it helps",
)
def leftover_artifact(task: Task) -> Iterator[Finding]:
    given = agent_image(task).given
    for item in given.values():
        if item.file is None or item.folder or in_briefs(task, item.path):
            continue
        if why := _trace(task, item, given):
            yield Finding.at(_place(task, item), f"the agent gets `{item.path}`: {why}", help=_HELP)


def _place(task: Task, item: Given) -> Span | Path:
    return task.folder / (item.file or "")


def _trace(task: Task, item: Given, given: dict[str, Given]) -> str:
    """What a file gives away; "" for one that is no leftover or says nothing."""
    path = item.path
    if compiled := _COMPILED.search(path):
        return _compiled(task, compiled["module"], given)
    if _TEST_CACHE.search(path):
        return "it lists the tests by name" if _names_tests(task, item) else ""
    if backup := _BACKUP.search(path):
        name = next(g for g in backup.groups() if g)
        return f"an old state of `{name}` that holds lines of the solution" if _solved(task, item, name, given) else ""
    if _HISTORY.search(path) and not _in_material(task, path):
        return "it records commands that were run while the task was made"
    if path.endswith(".ipynb") or (
        path.endswith((".log", ".out")) and not (_is_input(task, path) or _in_material(task, path))
    ):
        text = _outputs(task, item) if path.endswith(".ipynb") else _text(task, item)
        found = [v for v in asserted(task) if len(v) > 2 and says(text, v)]
        return f"its output shows `{found[0]}`, which the verifier expects" if found else ""
    return ""


def _compiled(task: Task, module: str, given: dict[str, Given]) -> str:
    hidden = {posixpath.basename(p).removesuffix(".py") for p in secrets(task) if p.endswith(".py")}
    if module in hidden:
        return f"the compiled code of `{module}.py`, which is the verifier's or the solution's"
    sources = {posixpath.basename(p) for p in given}
    return "" if f"{module}.py" in sources else f"the compiled code of `{module}.py`, which the agent is not given"


def _text(task: Task, item: Given) -> str:
    source = task.files.read(item.file) if item.file else None
    return source.text if source is not None else ""


def _names_tests(task: Task, item: Given) -> bool:
    text = _text(task, item)
    return any(posixpath.basename(p) in text for p, role in secrets(task).items() if role == "test")


def _solved(task: Task, item: Given, name: str, given: dict[str, Given]) -> bool:
    """Whether a backup holds lines that the solution has and the file of today has not."""
    oracle = task.oracle
    today = next((g for p, g in given.items() if posixpath.basename(p) == name), None)
    if oracle is None:
        return False
    solution = {line for f in (oracle.entry, *oracle.files) for line in _lines(f.text)}
    return len((_lines(_text(task, item)) & solution) - (_lines(_text(task, today)) if today else set())) > 1


def _lines(text: str) -> set[str]:
    return {s for line in text.splitlines() if len(s := line.strip()) >= _LEAST and not s.startswith(("#", "//"))}


def _is_input(task: Task, path: str) -> bool:
    """Whether the brief or the solution speaks of the folder that a file lies in, or of files of its kind."""
    folder = posixpath.dirname(path)
    names = [posixpath.basename(path), *([] if folder == task.visible.workdir else [f"/{posixpath.basename(folder)}/"])]
    texts = [b.prose.text for b in task.briefs]
    texts += [f.text for f in (task.oracle.entry, *task.oracle.files)] if task.oracle else []
    return any(_SPEAKS_OF_LOGS.search(t) or any(n in t for n in names) for t in texts)


def _in_material(task: Task, path: str) -> bool:
    """Whether the brief names a folder around it, which is then what the task is about."""
    around = [
        f.as_posix() for f in PurePosixPath(path).parents if len(f.parts) > 2 and f.as_posix() != task.visible.workdir
    ]
    return any(re.search(rf"{re.escape(f)}(?![\w-])", b.prose.text) for f in around for b in task.briefs)


def _outputs(task: Task, item: Given) -> str:
    """What the cells of a notebook have printed."""
    with suppress(ValueError, AttributeError, TypeError):
        cells = loads(_text(task, item)).get("cells", [])
        return "\n".join(json.dumps(c.get("outputs", "")) for c in cells)
    return ""
