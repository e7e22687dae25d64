"""A file of the task that cannot be decoded or parsed."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, related, rule
from scenlint.source import dockerfile, python
from scenlint.source.files import READ_LIMIT
from scenlint.source.text import Fragment, Source


@rule(
    "unreadable-file",
    "SL004",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="the file opens and parses with the tools that the format's own harness uses",
)
def unreadable_file(task: Task) -> Iterator[Finding]:
    for entry in task.files:
        if entry.problem:
            yield Finding.at(
                task.folder / entry.path,
                f"`{entry.path}` {entry.problem}",
                help="put a readable file in its place, or remove it",
            )
    for document in task.documents:
        error = document.data.error
        if error and not document.fragment.source.binary:
            yield Finding.at(error.span, f"{document.name} cannot be parsed: {error.message}", help=error.help)
    fragments = list(_text_roles(task))
    sources = {f.source.path: f.source for f in fragments}
    required = (task.files.read(r.path) for r in task.requirements if r.path in task.files)
    sources |= {source.path: source for source in required if source is not None and source.binary}
    for source in sources.values():
        yield from _undecodable(source)
    for fragment in fragments:
        if fragment.language == "python" and not fragment.source.error:
            problem = python.parse(fragment).fault
            if problem:
                # The image may bring another Python than the one that reads here.
                yield Finding.at(
                    problem.span,
                    f"Python cannot parse this: {problem.message}",
                    help="correct the syntax",
                    confidence=Confidence.MEDIUM,
                )
        if fragment.language == "dockerfile" and not fragment.source.error:
            for span, why in dockerfile.parse(fragment).problems:
                yield Finding.at(span, f"this {why}", help="correct the syntax", confidence=Confidence.MEDIUM)


def _text_roles(task: Task) -> Iterator[Fragment]:
    """What must be text: brief, metadata, verifier code, oracle, Dockerfiles. Data files may be anything."""
    yield from (d.fragment for d in task.documents)
    yield from (b.prose for b in task.briefs)
    if task.verifier:
        yield from (f for f in task.verifier.files if f.language in ("python", "shell", "dockerfile"))
    if task.oracle:
        yield from (f for f in [task.oracle.entry, *task.oracle.files] if f.language in ("python", "shell"))
    if task.environment:
        yield from (b.fragment for b in task.environment.builds)


def _undecodable(source: Source) -> Iterator[Finding]:
    if source.binary:
        yield Finding.at(source.path, f"`{source.path.name}` is binary where text is due", help="replace it by text")
    elif source.error:
        at = source.index.offset(source.error.line, source.error.column)
        yield Finding.at(
            source.span(at, at + 1),
            f"byte {source.error.byte} is not {source.encoding.upper()} ({source.error.reason})",
            help="save the file as UTF-8",
            related=[related(source.path, "the rest of the file was read as far as it goes")],
        )
    elif source.truncated:
        yield Finding.at(
            source.path,
            f"`{source.path.name}` is larger than {READ_LIMIT // 1024 // 1024} MiB; only its beginning was read",
            help="keep data out of briefs, metadata and code",
            severity=Severity.WARNING,
        )
