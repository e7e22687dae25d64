"""What the agent must not see, and where copies of it lie in the agent's image."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scenlint.source import dockerfile
from scenlint.source.json_reader import loads
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.context import Context
from scenlint.task.image import Given, Image, read_image
from scenlint.task.model import Place, Task, once_a_task

SMALLEST = 60  # bytes; shorter files are equal by chance
LARGEST = 4 * 1024 * 1024  # bytes of a file that is compared
# Names that say what a file is for.
ANSWERLIKE = regex(
    r"(?:^|[^a-z])(?:answers?(?:[_-]?keys?)?|expected|solutions?|solve|golden|ground[_-]?truth|truth|oracle"
    r"|(?:reference|correct)[_-]?(?:answers?|outputs?|results?|solutions?|values?))(?:[^a-z]|$)",
    re.I,
)


@dataclass(frozen=True)
class Leak:
    """A file that only the verifier or the oracle should have, and the copy of it that the agent gets."""

    secret: str  # the task's path of the file to be hidden
    role: str  # "test", "solution" or "verifier data"
    given: Given
    span: Span | None
    same_file: bool  # it is that very file; otherwise another one with the same content


def agent_image(task: Task) -> Image:
    """What the agent starts with, the hidden folders included where the build copies them."""
    return read_image(task, hide=False)


def secrets(task: Task) -> dict[str, str]:
    """The task's paths of what must stay hidden, with the role of each."""
    root, out = task.files.root, dict[str, str]()
    if task.verifier:
        out |= {_relative(f.path, root): "test" for f in task.verifier.files}
        out |= dict.fromkeys(task.verifier.truth, "verifier data")
    if task.oracle:
        out |= {_relative(f.path, root): "solution" for f in [task.oracle.entry, *task.oracle.files]}
    out.pop("", None)
    return out


@once_a_task
def copies(task: Task) -> Iterator[Leak]:
    """Every hidden file that the agent's image holds, as itself or as another file with the same content."""
    hidden, image = secrets(task), agent_image(task)
    mounted = dict(_mounted(task))
    by_content: dict[str, list[str]] = {}
    for path in hidden:
        if print_ := fingerprint(task, path):
            by_content.setdefault(print_, []).append(path)
    for given in image.given.values():
        if given.file is None:
            continue
        span = given.span or mounted.get(given.file)
        if given.file in hidden:
            yield Leak(given.file, hidden[given.file], given, span, same_file=True)
        else:
            for secret in by_content.get(fingerprint(task, given.file), []):
                yield Leak(secret, hidden[secret], given, span, same_file=False)
    yield from _from_root(task, hidden)


def _from_root(task: Task, hidden: dict[str, str]) -> Iterator[Leak]:
    """Hidden files that a Dockerfile copies as if it were built from the task's own folder, or by a way upwards."""
    whole = Context(task.files, "")
    for build in task.environment.builds if task.environment else []:
        if build.place is not Place.AGENT or not build.context:
            continue
        parsed = dockerfile.parse(build.fragment, build.arguments)
        for step in (i for stage in parsed.used(build.target) for i in stage.instructions):
            for word in step.sources if step.keyword in ("COPY", "ADD") and step.local else []:
                source = re.sub(r"^(?:\.{1,2}/)+", "", word.text or "")
                if source and not Context(task.files, build.context).holds(source):
                    for path in whole.below(source):
                        if path in hidden:
                            goes = Given(step.destination or source, path, word.span)
                            yield Leak(path, hidden[path], goes, word.span, same_file=True)


def fingerprint(task: Task, path: str) -> str:
    """What files that say the same have in common, layout of JSON and order of rows aside; "" for short ones."""
    return task.memo(("fingerprint", path), lambda: _fingerprint(task, path))


def _fingerprint(task: Task, path: str) -> str:
    entry = task.files.entries.get(path)
    if entry is None or entry.problem or not SMALLEST <= entry.size <= LARGEST:
        return ""
    source = task.files.read(path)
    if source is None or source.truncated:
        return ""
    text = source.text
    if entry.suffix == ".json":
        with suppress(ValueError):
            text = json.dumps(loads(text), sort_keys=True)
    elif entry.suffix in (".csv", ".tsv"):
        head, *rows = [line.strip() for line in text.splitlines() if line.strip()] or [""]
        text = "\n".join([head, *sorted(rows)])
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if len(text) >= SMALLEST else ""


def in_briefs(task: Task, path: str) -> bool:
    """Whether a brief names the file at this path of the image, so that the agent is meant to have it."""
    base = posixpath.basename(path)
    for brief in task.briefs:
        if base not in brief.prose.text:
            continue
        for found in re.finditer(rf"[\w./~-]*(?<![\w-]){re.escape(base)}(?![\w-])", brief.prose.text):
            said = found[0]
            # Another file of the same name, if it is named in full and lies in another folder.
            other = said.startswith("/") and path.startswith("/") and said.split("/")[-2:] != path.split("/")[-2:]
            if not other:
                return True
    return False


def baked_answers(task: Task, code: list[Fragment]) -> Iterator[tuple[Given, Span]]:
    """Files of the agent's image that are called answers, that no brief names and that this code opens, and where."""
    for given in agent_image(task).given.values():
        name = posixpath.basename(given.path)
        if given.folder or not ANSWERLIKE.search(name) or in_briefs(task, given.path):
            continue
        for fragment in code:
            inside = given.path in fragment.text
            found = re.search(rf"(?<![\w.-]){re.escape(given.path)}(?![\w/])", fragment.text) if inside else None
            if found:
                yield given, fragment.span(*found.span())
                break


def _mounted(task: Task) -> Iterator[tuple[str, Span]]:
    """The task's files that compose files put into the agent's container, with the volume that does."""
    environment = task.environment
    if environment is None:
        return
    builds = [b.service for b in environment.builds if b.place is Place.AGENT]
    agents = {*builds, *(i.service for i in environment.images if i.place is Place.AGENT)} or {"main", "client"}
    for document in environment.compose:
        folder = posixpath.dirname(_relative(document.fragment.path, task.files.root))
        for service in agents:
            volumes = document.data.get("services", service, "volumes")
            for n, volume in enumerate(volumes if isinstance(volumes, list) else []):
                source = volume.get("source") if isinstance(volume, dict) else str(volume).partition(":")[0]
                if not isinstance(source, str) or not source.startswith("."):
                    continue
                place = posixpath.normpath(posixpath.join(folder, source))
                below = [e.path for e in task.files.under("" if place == "." else place)]
                span = document.data.span("services", service, "volumes", n)
                yield from ((path, span) for path in ([place] if place in task.files else below))


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
