"""Charts as inline SVG: numbers in, markup out; colours come from the page's style sheet, for light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from math import exp, log10

from scenlint.stats.discriminate import Curve
from scenlint.stats.intervals import Interval
from scenlint.stats.twostage import acceptance
from scenlint.task.record import Status, TrialRecord

_LANES = 40  # of a timeline; more agents share the last one
_W, _H, _PAD = 360, 170, 30  # of a chart with two axes


def interval(rate: float | None, bounds: Interval | None, before: float | None = None) -> str:
    """A rate with its interval on a line from 0 to 1; `before` is the baseline's."""
    if rate is None or bounds is None:
        return ""
    told = f"{rate:.0%}, 95 % interval {bounds.low:.0%} to {bounds.high:.0%}"
    x, low, high = (4 + 112 * v for v in (rate, bounds.low, bounds.high))
    old = f'<path class="before" d="M{4 + 112 * before:.1f} 2v12"/>' if before is not None else ""
    return _svg(
        *(120, 16, told, "mini"),
        f'<path class="axis" d="M4 8h112M4 5v6M60 6v4M116 5v6"/><path class="range" d="M{low:.1f} 8H{high:.1f}"/>'
        f'{old}<circle class="dot" cx="{x:.1f}" cy="8" r="4"/>',
    )


def strip(outcomes: Sequence[bool | None]) -> str:
    """Outcomes in launch order: a full square is a pass, an open one a failure, a dot no verdict."""
    if not outcomes:
        return ""
    shown = outcomes[:200]
    marks = "".join(
        f'<circle class="none" cx="{7 * n + 4}" cy="7" r="1.5"/>'
        if outcome is None
        else f'<rect class="{"pass" if outcome else "fail"}" x="{7 * n + 1.5}" y="4" width="5" height="6"/>'
        for n, outcome in enumerate(shown)
    )
    passes, failures = shown.count(True), shown.count(False)
    return _svg(7 * len(shown) + 2, 14, f"in launch order: {passes} passes, {failures} failures", "mini", marks)


def spread(values: Sequence[float], unit: Callable[[float], str]) -> str:
    """Single values on a line from the smallest to the largest, with the median; logarithmic if they lie far apart."""
    if not values:
        return ""
    ordered = sorted(values)
    low, high, middle = ordered[0], ordered[-1], ordered[len(ordered) // 2]
    wide = low > 0 and high / low > 20
    scale = log10 if wide else float
    room = (scale(high) - scale(low)) or 1.0

    def at(value: float) -> float:
        return 6 + 148 * (scale(value) - scale(low)) / room

    shown = ordered if len(ordered) <= 200 else [ordered[n * (len(ordered) - 1) // 199] for n in range(200)]
    dots = "".join(f'<circle class="value" cx="{at(v):.1f}" cy="8" r="3"/>' for v in shown)
    told = f"from {unit(low)} to {unit(high)}, median {unit(middle)}" + (", logarithmic" if wide else "")
    axis = f'<path class="axis" d="M6 8h148"/>{dots}<path class="median" d="M{at(middle):.1f} 1v14"/>'
    return _svg(160, 16, told, "mini", axis)


def timeline(trials: Sequence[TrialRecord]) -> str:
    """When each trial ran and how it ended: a lane for each agent, time from left to right."""
    timed = [(datetime.fromisoformat(r.started), r) for r in trials if r.started]
    if not timed:
        return ""
    begin = min(at for at, _ in timed)
    # A pause between sessions says nothing: trials are laid out one after the other where nothing ran for long.
    starts = sorted({(at - begin).total_seconds() for at, _ in timed})
    ends = {s: max(r.duration for at, r in timed if (at - begin).total_seconds() == s) for s in starts}
    total = sum(ends.values()) or 1.0
    shift, moved, free = 0.0, dict[float, float](), 0.0
    for start in starts:
        if start - shift > free + 0.05 * total:
            shift = start - free - 0.02 * total
        moved[start] = start - shift
        free = max(free, moved[start] + ends[start])
    room = free or 1.0
    agents = list(dict.fromkeys(r.agent for _, r in timed))
    lanes = {agent: min(n, _LANES - 1) for n, agent in enumerate(agents)}
    parts = []
    for at, record in timed:
        x = 700 * moved[(at - begin).total_seconds()] / room
        wide = max(700 * record.duration / room, 3.0)
        y = 22 * lanes[record.agent] + 16
        kind = {Status.PASSED: "pass", Status.FAILED: "fail"}.get(record.status, "none-bar")
        told = f"{record.id}: {record.status}, {record.duration:.1f} s, {record.started[:16].replace('T', ' ')}"
        bar = f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="7" rx="1"/>'
        parts.append(f"<g><title>{escape(told)}</title>{bar}</g>")
    for agent, lane in lanes.items():
        if agents.index(agent) == lane:
            parts.append(f'<text x="0" y="{22 * lane + 12}">{escape(agent)}</text>')
    told = f"{len(timed)} trials of {len(agents)} agents over time; pauses are left out"
    return _svg(704, 22 * min(len(agents), _LANES) + 6, told, "wide", "".join(parts))


def calibration(seen: Interval, mean: float, title: str) -> str:
    """The two-stage rule's chance to accept at each failure rate, and where this scenario's rate lies."""
    curve = _path([(p / 50, acceptance(p / 50)) for p in range(51)])
    left, right = _x(seen.low), _x(seen.high)
    inside = (
        f'<rect class="band" x="{left:.1f}" y="{_y(1):.1f}" width="{right - left:.1f}" height="{_H - 2 * _PAD + 10}"/>'
        f'<path class="curve" d="{curve}"/>'
        f'<circle class="dot" cx="{_x(mean):.1f}" cy="{_y(acceptance(mean)):.1f}" r="4"/>'
    )
    told = (
        f"{title}: genuine failure rate {mean:.2f}, between {seen.low:.2f} and {seen.high:.2f}; "
        f"accepted with probability {acceptance(mean):.2f}"
    )
    return _axes(inside, told, "genuine failure rate", "accepted")


def item(curve: Curve, title: str) -> str:
    """The chance to pass by ability under the 2PL model, and the information it gives (dashed, scaled to its top)."""
    top = max(curve.a**2 / 4, 1e-9)
    points = [-4 + 8 * n / 60 for n in range(61)]
    passing = _path([((t + 4) / 8, 1 / (1 + exp(-max(-700, min(700, curve.a * (t - curve.b)))))) for t in points])
    told = f"{title}: difficulty {curve.b:.2f}, discrimination {curve.a:.2f}"
    inside = (
        f'<path class="info" d="{_path([((t + 4) / 8, curve.information(t) / top) for t in points])}"/>'
        f'<path class="curve" d="{passing}"/>'
        f'<path class="median" d="M{_x(min(max((curve.b + 4) / 8, 0), 1)):.1f} {_y(0):.1f}V{_y(1):.1f}"/>'
    )
    return _axes(inside, told, "ability, from -4 to 4", "passes")


def _axes(inside: str, told: str, below: str, beside: str) -> str:
    x0, x1, y0, y1 = _x(0), _x(1), _y(0), _y(1)
    return _svg(
        *(_W, _H, told, "chart"),
        f'<path class="axis" d="M{x0} {y1}V{y0}H{x1}M{_x(0.5)} {y0}v4M{x1} {y0}v4M{x0} {y1}h-4"/>'
        f'<text x="{x0 - 8}" y="{y0 + 4}" class="end">0</text><text x="{x0 - 8}" y="{y1 + 4}" class="end">1</text>'
        f'<text x="{(x0 + x1) / 2}" y="{_H - 4}" class="middle">{escape(below)}</text>'
        f'<text x="{x0 + 6}" y="{y1 + 4}">{escape(beside)}</text>{inside}',
    )


def _x(share: float) -> float:
    return round(_PAD + share * (_W - 2 * _PAD), 1)


def _y(share: float) -> float:
    return round(_H - _PAD - share * (_H - 2 * _PAD + 10), 1)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_x(x)} {_y(y)}" for x, y in points)


def _svg(width: float, height: float, told: str, kind: str, inside: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(told)}">{inside}</svg>'
    )
