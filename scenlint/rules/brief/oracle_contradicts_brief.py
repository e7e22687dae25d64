"""The reference solution writes its result to another path or in another format than the brief says."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.outputs import asked_outputs
from scenlint.task.paths import extension, find_paths
from scenlint.task.suggest import closest

_DATE = regex(r"\b(?:YYYY[-/.]MM[-/.]DD|DD[-/.]MM[-/.]YYYY|MM[-/.]DD[-/.]YYYY)\b")
_FORMATTED = regex(
    r"(?:strftime\(\s*[\"']|\bdate\b[^\n|;&]*?\+[\"']?)((?=[^\s\"')]*%[dmYF])[^\s\"')]+)",
    words=("%d", "%m", "%y", "%f"),
)


@rule(
    "oracle-contradicts-brief",
    "SL209",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.ORACLE},
    refute="the solution also makes the file that the brief names, by a way that its text does not show",
)
def oracle_contradicts_brief(task: Task) -> Iterator[Finding]:
    written = _paths(task)
    text = "\n".join(f.text for f in (task.oracle.entry, *task.oracle.files)) if task.oracle else ""
    brief = "\n".join(b.prose.text for b in task.briefs)
    asked = asked_outputs(task)
    made = [
        p
        for p, span in written.items()
        if _is_written(span) and posixpath.basename(p) not in brief and extension(p) not in ("diff", "patch")
    ]  # a patch is a way to the result
    for path, place in asked.items():
        name, folder = posixpath.basename(path), posixpath.dirname(path)
        if name in text and (not path.startswith("/") or _uses(text, folder, name) or not _elsewhere(written, name)):
            continue
        other = _elsewhere(written, name) if name in text else _like(name, written, brief)
        if other is None and len(asked) == len(made) == 1:
            other = made[0]
        if other is not None and other not in brief:
            yield Finding.at(
                written[other],
                f"the solution writes `{other}`, but the brief asks for `{path}`",
                help="let brief, solution and verifier name the same file",
                related=[related(place, "the brief says so here")],
            )
    yield from _dates(task)


def _dates(task: Task) -> Iterator[Finding]:
    """The one form of dates that the briefs ask for, where the solution writes dates in other forms only."""
    asked = [(m[0], b.prose.span(*m.span())) for b in task.briefs for m in _DATE.finditer(b.prose.text)]
    fragments = (task.oracle.entry, *task.oracle.files) if task.oracle else ()
    made = {(f.path, m.start(1)): (m[1], f.span(*m.span(1))) for f in fragments for m in _FORMATTED.finditer(f.text)}
    if len({form for form, _ in asked}) != 1 or not made:
        return
    form, place = asked[0]
    wanted = form.replace("YYYY", "%Y").replace("MM", "%m").replace("DD", "%d")
    if not any(wanted in written or "%F" in written for written, _ in made.values()):
        written, span = next(iter(made.values()))
        yield Finding.at(
            span,
            f"the solution writes dates as `{written}`, but the brief asks for `{form}`",
            help="let brief, solution and verifier use the same form",
            related=[related(place, "the brief says so here")],
        )


def _uses(text: str, folder: str, name: str) -> bool:
    """Whether the solution names the file in full, or the folder alone, to which something may be moved."""
    return f"{folder}/{name}" in text or re.search(rf"{re.escape(folder)}/?(?=[\s\"';)&|}}]|$)", text) is not None


def _paths(task: Task) -> dict[str, Span]:
    """The path-like words of the solution that look like files, those of the system and those in a patch left out."""
    out: dict[str, Span] = {}
    for fragment in (task.oracle.entry, *task.oracle.files) if task.oracle else ():
        if fragment.path.suffix in (".patch", ".diff"):
            continue
        for token in find_paths(fragment.text):
            if (
                extension(token.plain)
                and not token.open
                and not re.match(r"/(?:etc|usr|proc|dev|var|tmp|root/\.)", token.plain)
            ):
                out.setdefault(token.plain, fragment.span(token.start, token.end))
    return out


def _is_written(span: Span) -> bool:
    """Whether something is written into the file named here."""
    text = span.source.text
    before, after = text[max(0, span.start - 30) : span.start], text[span.end : span.end + 30]
    return bool(
        re.search(r">\s*[\"']?$|\btee (?:-a )?[\"']?$", before)
        or re.match(r"[\"']\)?(?:, ?[\"'][wax]|\.write_)", after)
    )


def _elsewhere(written: dict[str, Span], name: str) -> str | None:
    """A full path of this name, where the solution uses it in full only."""
    found = [p for p in written if posixpath.basename(p) == name]
    return found[0] if found and all(p.startswith("/") for p in found) else None


def _like(name: str, written: dict[str, Span], brief: str) -> str | None:
    """The file whose name differs by its extension or by a slip only."""
    stem = posixpath.splitext(name)[0]
    own = {posixpath.basename(p): p for p in written if posixpath.basename(p) not in brief}
    same = [p for n, p in own.items() if posixpath.splitext(n)[0] == stem]
    slips = [own[n] for n in closest(name, [n for n in own if extension(n) == extension(name)], 1)]
    return next(iter([*same, *slips]), None)
