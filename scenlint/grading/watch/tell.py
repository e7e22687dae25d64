"""What is known of a stream, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from scenlint.grading.watch.model import Alert, Change, Signal
from scenlint.grading.watch.session import Look, Session
from scenlint.grading.watch.signals import CostSignal, RateSignal
from scenlint.grading.watch.watcher import TypeWatch, Watch, percent
from scenlint.report.style import visible
from scenlint.stats.intervals import wilson

VERSION = 1
_SHOWN = 20  # types, and alerts that have ended
_HEADS = {
    Signal.SUCCESS: "success",
    Signal.COST: "cost",
    Signal.TOOL_ERRORS: "tool errors",
    Signal.OVERRIDES: "overrides",
    Signal.RETRIES: "retries",
}


def text(session: Session, look: Look) -> str:
    """The state of all types, the alerts, and how often they are false."""
    watch = session.watch
    first, last = (at[:16].replace("T", " ") for at in (watch.first, watch.last))
    when = f", {first} to {last} UTC" if last else ""
    types = f"{len(watch.types)} task type{'s' * (len(watch.types) != 1)}"
    lines = [f"{visible(session.source.name)}: {_outcomes(watch.seen)} ({look.new:,} new), {types}{when}", ""]
    if watch.types:
        lines += [*_table(watch), ""]
    past = [alert for alert in look.alerts if alert not in watch.raised.values()]
    lines += [f"… and {len(past) - _SHOWN} more" for _ in range(len(past) > _SHOWN)]
    lines += [_line(alert, "ended" if alert.change is Change.ENDED else "was raised") for alert in past[-_SHOWN:]]
    lines += [_line(a, "ALERT (new)" if a in look.alerts else "ALERT") for a in watch.raised.values()]
    if not watch.raised:
        lines.append("no alert is open")
    return "\n".join([*lines, "", promise(watch)]) + "\n"


def alert_lines(alerts: Sequence[Alert]) -> str:
    """Alerts as they come, while a stream is followed."""
    words = {Change.RAISED: "ALERT", Change.ENDED: "ended"}
    return "".join(f"{_line(alert, words[alert.change])}\n" for alert in alerts)


def promise(watch: Watch) -> str:
    """How often an alert is false."""
    every = watch.settings.every
    return (
        f"false alarms: on average at most one in {every:,} outcomes of a type for each signal, which is "
        f"{watch.false_alarms:.2g} in 1,000 outcomes for all of them together (if outcomes are independent)"
    )


def _line(alert: Alert, word: str) -> str:
    at = f", {alert.at[:16].replace('T', ' ')}" if alert.at else ""
    return visible(f"{word}: {alert.title} (outcome {alert.number:,}{at})")


def _outcomes(count: int) -> str:
    return f"{count:,} outcome{'s' * (count != 1)}"


def _table(watch: Watch) -> list[str]:
    used = [s for s in _HEADS if any(s in dict(t.signals()) for t in watch.types.values())]
    rows = [("type", "outcomes", *(_HEADS[s] for s in used))]
    listed = sorted(watch.types.items(), key=lambda item: (not _alarmed(watch, item[0]), -item[1].seen))
    for name, kept in listed[:_SHOWN]:
        found = dict(kept.signals())
        cells = (_cell(s, found[s]) if s in found else "-" for s in used)
        rows.append((visible(name), f"{kept.seen:,}", *cells))
    wide = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows]
    left = len(watch.types) - _SHOWN
    return lines + [f"… and {left} more types" for _ in range(left > 0)]


def _alarmed(watch: Watch, task_type: str) -> bool:
    return any(key[0] == task_type for key in watch.raised)


def _cell(name: Signal, signal: RateSignal | CostSignal) -> str:
    if isinstance(signal, CostSignal):
        return f"${signal.typical:.3g}"
    happened = signal.recent.count("1")
    count = len(signal.recent) - happened if name is Signal.SUCCESS else happened
    low, high = wilson(count, len(signal.recent))
    shown = f"{percent(count / len(signal.recent))} [{100 * low:.0f}, {100 * high:.0f}]"
    if signal.level:
        shown += f" with more than {signal.level}"
    if signal.chart is None:
        shown += f", learning {len(signal.learning)}/{signal.learn}"
    return shown


# ---------------------------------------------------------------- JSON


def json(session: Session, look: Look) -> dict[str, Any]:
    """The same as values. Rates of `success` are of successes, all others of the event."""
    watch = session.watch
    return {
        "version": VERSION,
        "source": session.source.name,
        "outcomes": watch.seen,
        "new": look.new,
        "first": watch.first,
        "last": watch.last,
        "false_alarms": {
            "outcomes_between_per_signal": watch.settings.every,
            "expected_per_1000_outcomes_at_most": watch.false_alarms,
        },
        "types": [_type(name, kept) for name, kept in watch.types.items()],
        "alerts": [asdict(alert) | {"new": alert in look.alerts} for alert in watch.raised.values()],
        "changes": [asdict(alert) for alert in look.alerts],
        "notes": look.notes,
        "undelivered": look.waiting,
        "delivery_fault": look.fault,
    }


def _type(name: str, kept: TypeWatch) -> dict[str, Any]:
    return {"task_type": name, "outcomes": kept.seen, "signals": {s.value: _signal(s, v) for s, v in kept.signals()}}


def _signal(name: Signal, signal: RateSignal | CostSignal) -> dict[str, Any]:
    if isinstance(signal, CostSignal):
        return {"seen": signal.seen, "open": signal.open, "recent": len(signal.costs), "median": signal.typical}
    success = name is Signal.SUCCESS
    happened = signal.recent.count("1")
    count = len(signal.recent) - happened if success else happened
    low, high = wilson(count, len(signal.recent))
    out: dict[str, Any] = {
        "seen": signal.seen,
        "open": signal.open,
        "recent": len(signal.recent),
        "rate": count / len(signal.recent),
        "low": low,
        "high": high,
        "more_than": signal.level,
        "learning": f"{len(signal.learning)}/{signal.learn}" if signal.chart is None else None,
    }
    if signal.chart is not None:
        usual, alert = ((1 - r if success else r) for r in (signal.usual, signal.raised))
        out |= {"usual": usual, "alert": alert, "sum": signal.chart.value, "limit": signal.chart.threshold}
    return out
