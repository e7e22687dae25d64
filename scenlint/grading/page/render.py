"""Prints a book as one HTML file: Jinja templates, with the charts and the words for figures as their filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import median
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from scenlint.grading.diff import Compared
from scenlint.grading.page import charts
from scenlint.grading.page.model import Book, TaskPart
from scenlint.grading.results import Result, Total
from scenlint.report import mapping
from scenlint.report.experiments import KINDS, Sum, look, sentences
from scenlint.report.frame import frame
from scenlint.report.style import Style, decoded
from scenlint.stats.intervals import Posterior
from scenlint.task.finding import Finding, Severity
from scenlint.task.record import Experiment, TrialRecord

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def render(book: Book) -> str:
    """The whole page."""
    made = environment()
    style = made.loader.get_source(made, "page.css")[0] if made.loader else ""
    return made.get_template("book.html.j2").render(book=book, style=Markup(style), kinds=KINDS)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates. Everything that is printed is escaped, freed of secrets and of a terminal's control characters."""
    out = Environment(
        loader=PackageLoader("scenlint.grading.page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_plain,
    )  # fmt: skip
    out.filters |= _FILTERS
    return out


def _plain(value: object) -> object:
    if value is None:
        return ""
    return _CONTROLS.sub("", decoded(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def marked(text: str) -> Markup:
    """Text whose words in backticks are code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(_plain(text)))))


def slug(text: str) -> str:
    """A name for a link inside the page."""
    return "t-" + re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")


def percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0%}"


def money(amount: float | None) -> str:
    """US dollars, with as many digits as small sums need."""
    if amount is None:
        return ""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.2g}"


def seconds(duration: float | None) -> str:
    if duration is None:
        return ""
    if duration < 90:
        return f"{duration:.1f} s"
    return f"{duration / 60:.1f} min" if duration < 5400 else f"{duration / 3600:.1f} h"


def _reward(record: TrialRecord) -> str:
    return "no verdict" if record.reward is None else f"{record.reward:g}"


def _came_of(record: TrialRecord) -> str:
    failed = [c.label or c.id for c in record.checks if c.required and c.passed is False]
    kind = f"{record.failure_class}: " if record.failure_class else ""
    return kind + (record.failure_evidence or ("failed: " + ", ".join(failed[:8]) if failed else record.summary))


def _controls(part: TaskPart) -> str:
    told = []
    for agent in ("oracle", "nop"):
        of = [r for r in part.trials if r.agent == agent]
        if of:
            told.append(f"{agent} {', '.join(dict.fromkeys(_reward(r) for r in of))}")
    return "; ".join(told)


def _probes(part: TaskPart) -> str:
    if part.experiments is None:
        return ""
    outcomes = part.experiments.outcomes("probe")
    wrong = sum(n for name, n in outcomes.items() if name in ("broken", "leak", "laundered"))
    held = outcomes["holds"]
    return f"{wrong} got through, {held} held" if wrong else f"{held} held" if held else ""


def _findings_text(part: TaskPart) -> str:
    counts = [(part.count(severity), severity.value) for severity in Severity]
    return ", ".join(f"{n} {name if n == 1 or name == 'info' else name + 's'}" for n, name in counts if n) or "none"


def _worst_first(part: TaskPart) -> list[Finding]:
    order = list(Severity)
    report = part.report
    return sorted(part.findings, key=lambda f: order.index(report.severity(f)) if report else 0)


def _frame(found: Finding) -> str:
    return "\n".join(frame(found.location, Style(width=110)))


def _bounds(result: Any) -> str:
    if not result.trials:
        return ""
    low, high = result.interval
    return f"{low:.0%} to {high:.0%}"


def _rate_text(result: Any) -> str:
    return f"{result.passes / result.trials:.0%} ({_bounds(result)})" if result.trials else ""


def _rate_chart(result: Any) -> Markup:
    if not result.trials:
        return Markup()
    return Markup(charts.interval(result.passes / result.trials, result.interval))


def _moved_chart(s: Compared) -> Markup:
    if not s.after or not s.after.trials:
        return Markup()
    before = s.before.rate if s.before else None
    return Markup(charts.interval(s.after.rate, s.after.interval, before))


def _rate_cell(result: Result) -> Markup:
    return escape(_rate_text(result)) + Markup(" ") + _rate_chart(result)


def _total_bounds(total: Total) -> str:
    return "" if total.interval is None else f"{total.interval.low:.0%} to {total.interval.high:.0%}"


def _about(e: Experiment) -> str:
    return "; ".join(filter(None, (e.did, f"criterion {e.criterion}" if e.criterion else "", e.reason)))


def _made(experiments: Sum, kind: str) -> list[tuple[TrialRecord, Experiment, str]]:
    made = [(line.record, e, look(e)) for line, e in experiments.made(kind) if e.outcome not in ("", "skipped")]
    return sorted(made, key=lambda row: row[2] not in ("bad", "warn"))


def _ends(values: Sequence[float], unit: Any) -> str:
    return f"{unit(min(values))} to {unit(max(values))}, median {unit(median(values))}" if values else ""


def _calibration(posterior: Posterior, agent: str) -> Markup:
    return Markup(charts.calibration(posterior.interval(), posterior.mean, agent))


def _listed(classes: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in classes.items())


_FILTERS: dict[str, Any] = {
    "marked": marked,
    "slug": slug,
    "percent": percent,
    "money": money,
    "seconds": seconds,
    "reward": _reward,
    "came_of": _came_of,
    "controls": _controls,
    "probes": _probes,
    "findings_text": _findings_text,
    "worst_first": _worst_first,
    "frame": _frame,
    "bounds": _bounds,
    "rate_text": _rate_text,
    "rate_chart": _rate_chart,
    "rate_cell": _rate_cell,
    "moved_chart": _moved_chart,
    "total_bounds": _total_bounds,
    "about": _about,
    "made": _made,
    "listed": _listed,
    "sentences": sentences,
    "known": lambda values: [v for v in values if v is not None],
    "median": lambda values: median(values) if values else None,
    "strip": lambda outcomes: Markup(charts.strip(outcomes)),
    "money_spread": lambda values: Markup(charts.spread(values, money)),
    "money_range": lambda values: _ends(values, money),
    "time_spread": lambda values: Markup(charts.spread(values, seconds)),
    "time_range": lambda values: _ends(values, seconds),
    "timeline": lambda trials: Markup(charts.timeline(trials)),
    "calibration": _calibration,
    "item": lambda curve, title: Markup(charts.item(curve, title)),
    "counts": mapping.counts,
    "absent": mapping.absent,
    "how": mapping.how,
    "label": mapping.label,
}
