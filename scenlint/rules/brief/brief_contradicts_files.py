"""The brief states something about the task's files or settings that they themselves deny."""

import difflib
import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task import statements
from scenlint.task.paths import Token
from scenlint.task.settings import find_clashes
from scenlint.task.shipped import Shipped, read_data
from scenlint.task.statements import Sentence, Statement

_HANDOUT = regex(r"\.(?:jpe?g|png|gif|webp|pdf|mp[34]|wav|mov|csv|xlsx|docx|pptx|zip)$", re.I)
HELP = "make the two agree: an agent that trusts either is marked wrong for the other"


@rule(
    "brief-contradicts-files",
    "SL208",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF},
    refute="a step of the build that makes the file, or changes the setting, to what the brief says",
)
def brief_contradicts_files(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        yield from _missing_inputs(task, statements.given_inputs(brief.prose))
        yield from _missing_handouts(task, statements.sentences(brief.prose))
        for sentence in statements.sentences(brief.prose):
            yield from _shapes(task, sentence)
            for clash in find_clashes(task, sentence):
                yield Finding.at(
                    clash.stated,
                    clash.message,
                    help=HELP,
                    related=[related(clash.declared, "what is set")] if clash.declared else [],
                    severity=None if clash.sure else Severity.WARNING,
                )


def _missing_inputs(task: Task, given: list[Statement]) -> Iterator[Finding]:
    """Inputs named as given that nothing ships or builds."""
    visible = task.visible
    if task.environment is None or visible.unlisted or not visible.inputs():
        return
    solved = "\n".join(f.text for f in task.oracle.files) if task.oracle else ""
    for statement in given:
        token = statement.value
        assert isinstance(token, Token)
        name = posixpath.basename(token.plain)
        elsewhere = visible.image.named(name)
        if visible.exists(token.text) or (elsewhere and not token.absolute) or token.plain in solved:
            continue
        files = {posixpath.basename(p): g for p, g in visible.inputs().items() if not g.folder}
        if not token.absolute and any(f.endswith(name) for f in files):
            continue  # "the config.yml of each node", shipped as node1_config.yml
        near = elsewhere or [files[f] for f in difflib.get_close_matches(name, files, 1, 0.8)]
        hint = f"; what exists is `{near[0].path}`" if near else ""
        yield Finding.at(
            statement.span,
            f"the brief names `{token.text}` as given, but nothing ships or builds it{hint}",
            help="ship the file, or name the one that is there",
            related=[related(near[0].span, "this is what is put there")] if near and near[0].span else [],
        )


def _missing_handouts(task: Task, sentences: list[Sentence]) -> Iterator[Finding]:
    """Files to be uploaded to a task's applications that the brief's own list of input files does not have."""
    if not task.sites:
        return
    listed = {t.plain: s for s in sentences if re.search(r"input files?", s.context, re.I) for t in s.paths}
    names = {posixpath.basename(p) for p in listed}
    for sentence in sentences:
        for token in sentence.paths:
            before = sentence.text[max(0, token.start - 60) : token.start]
            named = bool(names) and re.search(r"\b(?:provided|supplied|attached)\b", before) and "/" not in token.text
            uploaded = re.search(r"\bupload|\battach", before, re.I) and token.text.startswith("/tmp/")
            if _HANDOUT.search(token.text) and (named or uploaded) and posixpath.basename(token.plain) not in names:
                yield Finding.at(
                    sentence.span(token.start, token.end),
                    f"the brief names `{token.text}` as given, but hands over no file of that name",
                    help="name the file as the list of input files does, or hand it over",
                    related=[related(s.span(), "what is handed over") for s in list(listed.values())[:3]],
                )
                return


def _shapes(task: Task, sentence: Sentence) -> Iterator[Finding]:
    """Columns and counts of the one shipped file that a sentence speaks of."""
    if not (shipped := _one_file(task, sentence)):
        return
    path, shape = shipped
    have = {k.lower() for k in shape.keys}
    if have and (columns := statements.stated_columns(sentence)):
        names = columns.value if isinstance(columns.value, list) else []
        missing = [n for n in names if n.lower() not in have]
        if missing and len(missing) < len(names):
            listed = ", ".join(f"`{n}`" for n in missing)
            yield Finding.at(
                columns.span,
                f"the brief gives `{path}` the column or key {listed}, which the file does not have",
                help=f"the file has {', '.join(f'`{c}`' for c in shape.columns[:12])}; {HELP}",
                related=[related(task.folder / path, "the file as it is shipped")],
            )
    count = statements.stated_count(sentence)
    if count and isinstance(count.value, int | float) and _differs(count, shape):
        yield Finding.at(
            count.span,
            f"the brief gives `{path}` {count.value:,.0f} {'or so ' if count.hedged else ''}records, "
            f"the file has {shape.records:,}",
            help=HELP,
            related=[related(task.folder / path, "the file as it is shipped")],
            severity=Severity.WARNING if count.hedged else None,
        )


def _one_file(task: Task, sentence: Sentence) -> tuple[str, Shipped] | None:
    found: dict[str, Shipped] = {}
    for token in sentence.paths:
        given = task.visible.exists(token.text) if task.environment else None
        source = task.files.read(given.file) if given and given.file else None
        if given and given.file and source and (shape := read_data(source)):
            found[given.file] = shape
    return next(iter(found.items())) if len(found) == 1 else None


def _differs(count: Statement, shape: Shipped) -> bool:
    """A header or a last line end may be counted or not; a rounded number may be off by half."""
    if shape.records is None or not isinstance(count.value, int | float):
        return False
    if count.hedged:
        return not 0.5 <= (count.value + 1) / (shape.records + 1) <= 2
    return all(abs(count.value - n) > 1 for n in (shape.records, shape.lines or shape.records))
