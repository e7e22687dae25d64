"""A suppression that suppressed nothing."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Severity, Task, rule
from scenlint.source.text import Edit, Span
from scenlint.task.suppression import Suppression


@rule(
    "unused-suppression",
    "SL001",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="the suppressed rule reports something there when `--no-ignores` is given",
    late=True,
    fix="safe",
)
def unused_suppression(task: Task) -> Iterator[Finding]:
    for suppression in task.suppressions:
        if not suppression.reason:  # suppresses nothing by itself; suppression-without-reason says so
            continue
        for name, span in suppression.rules:
            # Nothing can be said of a rule that did not run.
            if name in task.judged_names and name not in suppression.used:
                yield Finding.at(
                    span,
                    f"nothing here is suppressed by `{name}`",
                    help=f"remove `{name}` from the comment, or the comment",
                    fix=Fix.of(f"remove `{name}`", without(suppression, name)),
                )


def without(suppression: Suppression, name: str) -> Edit:
    """The edit that takes a name out of a comment, and the comment with it where it names nothing else."""
    spans = [span for _, span in suppression.rules]
    at = [named for named, _ in suppression.rules].index(name)
    source = suppression.span.source
    if at + 1 < len(spans):
        return Edit(Span(source, spans[at].start, spans[at + 1].start), "")
    if at:
        return Edit(Span(source, spans[at - 1].end, spans[at].end), "")
    text, index = source.text, source.index
    begin, end = index.offset(suppression.span.line), suppression.span.end
    line_end = index.offset(suppression.span.end_line + 1)
    if text[begin : suppression.span.start].strip() or text[end:line_end].strip():
        begin += len(text[begin : suppression.span.start].rstrip())
    else:
        end = line_end
    return Edit(Span(source, begin, end), "")


def removed(span: Span) -> Fix | None:
    """The fix that takes a whole `[[suppressions]]` table out of a configuration; `span` is a value in it."""
    text, begin = span.source.text, -1
    for head in re.finditer(r"^[ \t]*\[\[[^\]\r\n]*\bsuppressions[ \t]*\]\]", text[: span.start], re.M):
        begin = head.start()
    if begin < 0:
        return None  # the entries are one list
    following = re.compile(r"^[ \t]*\[", re.M).search(text, span.end)
    lines = text[begin : following.start() if following else len(text)].splitlines(keepends=True)
    while lines[-1].lstrip()[:1] in ("", "#"):  # comments above the next table are that table's
        lines.pop()
    return Fix.of("remove the entry", Edit(Span(span.source, begin, begin + len("".join(lines))), ""))
