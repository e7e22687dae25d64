"""A file that a Dockerfile copies, or a compose file names, and that does not exist."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile, trace
from scenlint.source.dockerfile import Word
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.context import Context
from scenlint.task.images import services
from scenlint.task.model import BuildFile, Document

_LEVELS = 4  # folders above the task that a build may be started from
_UNLISTED = regex(r"(?:^|/)(?:\.git|node_modules|\.?venv)(?:/|$)")  # never listed, so nothing is known of them


@rule(
    "missing-build-input",
    "SL121",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the image builds as the task lies there, or a step before the build makes the file",
)
def missing_build_input(task: Task) -> Iterator[Finding]:
    environment = task.environment
    if environment is None or not task.files.complete:
        return
    for build in environment.builds:
        if build.context is not None:
            yield from _of_build(task, build, Context(task.files, build.context))
    for document in [] if task.shared else environment.compose:
        for name, span in _env_files(document):
            folder = posixpath.dirname(document.fragment.path.relative_to(task.files.root).as_posix())
            if _is_plain(name) and posixpath.normpath(posixpath.join(folder, name)) not in task.files:
                yield Finding.at(span, f"`{name}` does not exist beside the compose file", help="add it, or correct it")


def _of_build(task: Task, build: BuildFile, context: Context) -> Iterator[Finding]:
    parsed = dockerfile.parse(build.fragment, build.arguments)
    copies = [i for s in parsed.used(build.target) for i in s.instructions if i.keyword in ("COPY", "ADD") and i.local]
    sources = [word for copy in copies for word in copy.sources if word.text and _is_plain(word.text)]
    missing = [w for w in sources if not context.holds(w.text or "")]
    # Nothing at all of a longer list is there: the context is put together elsewhere.
    made_elsewhere = len(missing) > 2 and len(missing) == len(sources)
    for word in [] if made_elsewhere else missing:
        if not _above(task, word):
            where = f"`{context.folder or '.'}/`"
            yield Finding.at(
                word.span,
                f"`{word.text}` does not exist in the build context {where}, so the image cannot be built",
                help="add the file, or correct the path; it counts from the context, not from the Dockerfile",
            )
    for word in sources:
        if (
            word not in missing
            and context.path(word.text or "") in task.files
            and context.ignores(context.path(word.text or ""))
        ):
            yield Finding.at(
                word.span,
                f"`{word.text}` is kept out of the build context by .dockerignore, so the image cannot be built",
                help="take the pattern out of .dockerignore, or copy something else",
                related=[related(task.folder / context.ignore_file, "the patterns")],
            )


def _is_plain(source: str) -> bool:
    """Whether it is a path inside the context that can be looked up: no pattern, address or variable."""
    return not re.search(r"[*?\[$]|://|^git@", source) and not _UNLISTED.search(source)


def _above(task: Task, word: Word) -> bool:
    """Whether the source exists seen from a folder above the context: then the build is started from there."""
    path = (word.text or "").lstrip("/")
    places = [task.folder.resolve(), *list(task.folder.resolve().parents)[:_LEVELS]]
    return "/" in path.strip("/") and any(trace.exists(p / path) for p in places)


def _env_files(document: Document) -> Iterator[tuple[str, Span]]:
    """The files that services, configs and secrets of a compose file are read from."""
    data = document.data
    for name, service in services(document).items():
        at = ("services", name, "env_file")
        value = service.get("env_file")
        items = value if isinstance(value, list) else [value]
        for n, item in enumerate(items):
            place = (*at, n) if isinstance(value, list) else at
            if isinstance(item, str):
                yield item, data.span(*place)
            elif isinstance(item, dict) and isinstance(item.get("path"), str) and item.get("required", True):
                yield item["path"], data.span(*place, "path")
    for kind in ("configs", "secrets"):
        listed = data.get(kind)
        for name, item in listed.items() if isinstance(listed, dict) else ():
            if isinstance(item, dict) and isinstance(item.get("file"), str):
                yield item["file"], data.span(kind, name, "file")
