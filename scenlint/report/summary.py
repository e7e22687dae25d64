"""The last line of text outputs, and the notes before it: what was checked, found, hidden and left unjudged."""

from __future__ import annotations

from scenlint.report.experiments import sentences, sums
from scenlint.report.model import Report
from scenlint.report.style import Style, visible
from scenlint.stats.words import count as count
from scenlint.task.finding import Severity

SKIPPED_SHOWN = 5
TASKS_SHOWN = 3
_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def summary(report: Report, style: Style) -> str:
    """`12 tasks checked: 3 errors, 8 warnings, 1 info (2 suppressed, 40 rule results not assessed)`."""
    counts = report.counts()
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
    found = [
        style(f"{n} info" if s is Severity.INFO else count(n, nouns[s]), "bold", _COLORS[s])
        for s, n in counts.items()
        if n
    ]
    hidden = [f"{report.suppressed} suppressed"] if report.suppressed else []
    if report.baselined:
        hidden.append(f"{count(report.baselined, 'known finding')} hidden by the baseline")
    if report.not_assessed:
        hint = "" if style.verbose else "; `--verbose` lists them"
        hidden.append(f"{count(len(report.not_assessed), 'rule result')} not assessed{hint}")
    if report.unfinished:
        hidden.append(style(f"interrupted: {count(report.unfinished, 'trial')} not finished", "bold", "red"))
    if report.crashes:
        hidden.append(style(count(len(report.crashes), "internal error"), "bold", "red"))
    checked = f"{count(report.tasks, 'task')} checked" if report.tasks else "no task checked"
    if report.trials is not None and report.tasks:
        reused = sum(line.reused for line in report.trials)
        made = sum(bool(line.record.id) for line in report.trials)
        checked += f" by {count(made, 'trial')}" + (f", {reused} from earlier runs" if reused else "")
    verdict = ", ".join(found) or (style("no findings", "green") if report.tasks else "")
    aside = f" ({', '.join(hidden)})" if hidden else ""
    return checked + (f": {verdict}" if verdict else "") + aside + _fixes(report)


def _fixes(report: Report) -> str:
    """`; 3 fixed; 2 fixable with --fix, 1 more with --unsafe-fixes`."""
    safe, unsafe = report.fixable()
    parts = [f"{sum(report.fixed.values())} fixed"] if report.fixed else []
    if safe:
        parts.append(f"{safe} fixable with `--fix`" + (f", {unsafe} more with `--unsafe-fixes`" if unsafe else ""))
    elif unsafe:
        parts.append(f"{unsafe} fixable with `--fix --unsafe-fixes`")
    return "".join(f"; {part}" for part in parts)


def notes(report: Report, style: Style) -> list[str]:
    """What was skipped, and with `verbose` every result that is missing, grouped by its reason."""
    some = report.skipped if style.verbose else report.skipped[:SKIPPED_SHOWN]
    lines = [
        f"{style('experiments', 'bold')}: {visible(one.task)}: {visible(told)}"
        for one in sums(report)
        for told in sentences(one)
        if style.verbose or not told.startswith("not made")
    ]
    lines += [f"{style('note', 'bold')}: {visible(message)}" for message in some]
    if more := len(report.skipped) - len(some):
        lines.append(f"{style('note', 'bold')}: {more} more skipped; `--verbose` lists them")
    if report.gone:
        number = sum(known.count for known in report.gone)
        hint = "" if style.verbose else ", `--verbose` lists them"
        verb = "is" if number == 1 else "are"
        message = f"{count(number, 'finding')} of the baseline {verb} gone; `scenlint baseline --prune` removes"
        lines.append(f"{style('note', 'bold')}: {message} {'it' if number == 1 else 'them'}{hint}")
    if style.verbose:
        for known in report.gone:
            times = f" ({known.count} times)" if known.count > 1 else ""
            place = visible(report.path(report.gone_place(known)))
            lines.append(f"{style('gone', 'dim')}: {place}: {known.rule}: {visible(known.message)}{times}")
        for (code, rule, reason), tasks in unjudged(report).items():
            named = ", ".join(tasks) if len(tasks) <= TASKS_SHOWN else count(len(tasks), "task")
            lines.append(f"{style('not assessed', 'dim')}: {code} {rule}: {visible(reason)} ({visible(named)})")
        lines.append(f"{count(len(report.rules), 'rule')} in {report.elapsed:.1f} s")
    return [*lines, ""] if lines else []


def unjudged(report: Report) -> dict[tuple[str, str, str], list[str]]:
    """(code, rule, reason) -> the tasks for which it holds, in the order of codes."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in sorted(report.not_assessed, key=lambda n: (n.code, n.rule, n.reason)):
        groups.setdefault((item.code, item.rule, item.reason), []).append(item.task)
    return groups
