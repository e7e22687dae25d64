"""The mapping as one page that needs no script and no network, in the reader's light or dark, on any width."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from scenlint.report.mapping import MappingReport, absent, counts, how, label, shared
from scenlint.report.style import Style, decoded

if TYPE_CHECKING:
    from scenlint.source.text import Span
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.mapping.table import Pair, Table

STYLE = Path(__file__).with_name("page.css")


def render(report: MappingReport, style: Style) -> str:
    rows = [f'<li><a href="#t{n}">{_text(t.task.id)}</a> {_text(counts(t))}</li>' for n, t in enumerate(report.tables)]
    index = f"<nav><ul>{''.join(rows)}</ul></nav>" if len(rows) > 1 else ""
    tasks = "\n".join("\n".join(_task(n, table, report)) for n, table in enumerate(report.tables))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Criteria and checks</title>
<style>
{STYLE.read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>Criteria and checks</h1>
<p>What the brief asks for, beside what the verifier looks at, and the evidence that the two belong together.
scenlint {_text(report.version)}.</p>
{index}
</header>
<main>
{tasks}
</main>
</body>
</html>
"""


def _task(number: int, table: Table, report: MappingReport) -> Iterator[str]:
    task = table.task
    yield f'<section id="t{number}">'
    yield f"<h2>{_text(task.id)}</h2>"
    yield f"<p>{_text(task.format)}, <code>{_text(report.path(task.folder))}</code>: {_text(counts(table))}</p>"
    yield from (f"<p>{_text(reason)}</p>" for reason in absent(table))
    if table.pairs:
        yield '<div class="table" role="table" aria-label="Criteria with their checks">'
        yield '<div class="head" role="row"><b role="columnheader">Criterion</b><b role="columnheader">Checks</b></div>'
        for criterion in table.criteria:
            if pairs := table.of(criterion):
                yield '<div class="row" role="row">'
                yield f'<div role="cell">{_criterion(criterion, table, report)}</div>'
                yield f'<div role="cell">{"".join(_pair(p, table, report) for p in pairs)}</div>'
                yield "</div>"
        yield "</div>"
    for title, items in (
        ("Criteria without a check", [_criterion(c, table, report) for c in table.uncovered]),
        ("Checks without a criterion", [_check(c, table, report) for c in table.unclaimed]),
    ):
        if items:
            yield f"<h3>{title}</h3>"
            yield '<ul class="left">' + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
    yield "</section>"


def _criterion(criterion: Criterion, table: Table, report: MappingReport) -> str:
    return f"<p><b>{_text(criterion.id)}</b> {_text(criterion.text)}</p>{_place(criterion.span, table, report)}"


def _check(check: Check, table: Table, report: MappingReport) -> str:
    return f"<p><code>{_text(check.id.strip())}</code> {_text(label(check))}</p>{_place(check.span, table, report)}"


def _pair(pair: Pair, table: Table, report: MappingReport) -> str:
    badges = [how(pair)]
    if pair.check.weight is not None:
        badges.append(f"{pair.check.weight:g} points")
    if pair.check.existence_only:
        badges.append("looks only whether it is there")
    tags = "".join(
        f'<span class="tag{" weak" if pair.weak and not n else ""}">{_text(b)}</span>' for n, b in enumerate(badges)
    )
    ties = "".join(
        f"<li><b>{tie.by}</b> {_text(shared(tie))}"
        f" {_place(tie.at_criterion, table, report)} {_place(tie.at_check, table, report)}</li>"
        for tie in pair.ties
    )
    evidence = f"<details><summary>evidence</summary><ul>{ties}</ul></details>"
    return f'<div class="check">{_check(pair.check, table, report)}<p>{tags}</p>{evidence}</div>'


def _place(span: Span, table: Table, report: MappingReport) -> str:
    return f'<span class="place">{_text(report.place(span, table))}</span>'


def _text(text: str) -> str:
    return escape(decoded(text))
