"""The mapping for people at a terminal: covered criteria with their checks, then what is left over on either side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenlint.report.mapping import MappingReport, absent, clipped, counts, how, label, shared
from scenlint.report.style import Style, visible

if TYPE_CHECKING:
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.mapping.table import Pair, Table


def render(report: MappingReport, style: Style) -> str:
    return "\n\n".join("\n".join(_task(table, report, style)) for table in report.tables) + "\n"


def _task(table: Table, report: MappingReport, style: Style) -> Iterator[str]:
    task = table.task
    yield f"{style(visible(task.id), 'bold')} ({task.format}, {visible(report.path(task.folder))}): {counts(table)}"
    for reason in absent(table):
        yield f"  {visible(reason)}"
    for criterion in table.criteria:
        if pairs := table.of(criterion):
            yield ""
            yield _criterion(criterion, table, report, style)
            for pair in pairs:
                yield from _pair(pair, table, report, style)
    for title, rows in (
        ("criteria without a check", [_criterion(c, table, report, style) for c in table.uncovered]),
        ("checks without a criterion", [_check(c, table, report, style) for c in table.unclaimed]),
    ):
        if rows:
            yield ""
            yield "  " + style(title, "bold", "yellow")
            yield from rows


def _criterion(criterion: Criterion, table: Table, report: MappingReport, style: Style) -> str:
    place = report.place(criterion.span, table)
    text = clipped(criterion.text, max(style.width - 8 - len(criterion.id), 40))
    return f"  {style(criterion.id, 'bold', 'cyan')}  {visible(text)}\n     {style(visible(place), 'dim')}"


def _check(check: Check, table: Table, report: MappingReport, style: Style) -> str:
    return f"     {visible(clipped(_called(check), 100))}  {style(visible(report.place(check.span, table)), 'dim')}"


def _pair(pair: Pair, table: Table, report: MappingReport, style: Style) -> Iterator[str]:
    weight = f", {pair.check.weight:g} points" if pair.check.weight is not None else ""
    only = ", looks only whether it is there" if pair.check.existence_only else ""
    said = style(f"({how(pair)}{weight}{only})", "yellow" if pair.weak else "dim")
    yield f"     {style(visible(clipped(_called(pair.check), 100)), 'bold')}  {said}"
    for tie in pair.ties:
        ends = f"{report.place(tie.at_criterion, table)} = {report.place(tie.at_check, table)}"
        yield f"       {tie.by:<9} {visible(shared(tie))}  {style(visible(ends), 'dim')}"


def _called(check: Check) -> str:
    return f"{check.id.strip()}: {said}" if (said := label(check)) else check.id.strip()
