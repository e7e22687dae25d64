"""The files that list what to install: requirements files line by line, and manifests with the lock beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.source.json_reader import loads
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.installs.model import Arg, Install, Origin
from scenlint.task.installs.python import read_requirement
from scenlint.task.model import Task

_LINE = regex(r"(?:[^\n\\]|\\(?!\r?\n)|\\\r?\n)+")
_LOCKS = {
    "package.json": (
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
    ),
    "pyproject.toml": ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.lock"),
    "Gemfile": ("Gemfile.lock",),
}


def read_manifest(task: Task, install: Install, folder: str | None) -> list[Install]:
    """What a file named by an install lists; [] where it is not at hand. `folder` of the task is where it is sought."""
    if install.origin is not Origin.MANIFEST or folder is None:
        return []
    path = _find(task, PurePosixPath(install.package).name, folder)
    if path is None:
        return []
    name = PurePosixPath(path).name
    if name in _LOCKS:
        beside = PurePosixPath(path).parent
        locked = any((beside / lock).as_posix() in task.files for lock in _LOCKS[name])
        return [] if locked else list(_open_manifest(task, path, install))
    source = task.files.read(path)
    return list(read_requirements(Fragment.of(source, "text"), install.manager)) if source and not source.binary else []


def _find(task: Task, name: str, folder: str) -> str | None:
    """The one file of that name in a folder; the verifier's and the oracle's do not count where they lie below it."""
    own = [r.folder for r in (task.verifier, task.oracle) if r and r.folder]
    hidden = tuple(f.strip("/") + "/" for f in own if not (folder.strip("/") + "/").startswith(f.strip("/") + "/"))
    found = [e.path for e in task.files.under(folder) if e.name == name and not e.path.startswith(hidden)]
    return found[0] if len(found) == 1 else None


def read_requirements(fragment: Fragment, manager: str = "pip") -> Iterator[Install]:
    """The requirements of a requirements file, each with the place of its text."""
    text = fragment.text
    if re.search(r"^[ \t]*--(?:require-hashes|no-index)", text, re.M):
        return
    for line in _LINE.finditer(text):
        body = re.sub(r"(?:^|\s)#.*", "", line[0].replace("\\\r\n", " ").replace("\\\n", " "))
        wanted = re.split(r"\s+--", body.strip())[0].strip()
        editable = re.match(r"(?:-e|--editable)[\s=]+(?P<target>.+)", wanted)
        if not wanted or (wanted.startswith("-") and not editable) or "--hash" in body:
            continue
        begin = line.start() + len(line[0]) - len(line[0].lstrip())
        span = fragment.span(begin, begin + len(wanted))
        yield read_requirement(editable["target"] if editable else wanted, Arg(wanted, span), manager)


def _open_manifest(task: Task, path: str, install: Install) -> Iterator[Install]:
    """package.json with version ranges and no lock beside it: everything it leaves open, as one."""
    source = task.files.read(path)
    if source is None or not path.endswith("package.json"):
        return
    try:
        data = loads(source.text)
    except ValueError:
        return
    groups = [data.get(key) for key in ("dependencies", "devDependencies")] if isinstance(data, dict) else []
    wanted = {n: v for g in groups if isinstance(g, dict) for n, v in g.items() if isinstance(v, str)}
    loose = [n for n, v in wanted.items() if re.match(r"[\^~*><x]|\d+(?:\.(?:\d+|x))?$|latest|next", v)]
    if loose:
        shown = ", ".join(f"`{n}`" for n in loose[:3]) + (" …" if loose[3:] else "")
        why = f"gives ranges ({shown}) and has no lock file beside it"
        yield Install(install.manager, path, install.span, None, why, Origin.MANIFEST)
