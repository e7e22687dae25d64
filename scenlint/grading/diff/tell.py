"""A diff for people and as JSON, with what was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scenlint.grading.diff.compare import LEVEL, noticed
from scenlint.grading.diff.model import Compared, Diff, Line, Moved
from scenlint.grading.dispositions import Decision, outdated, standing
from scenlint.grading.results import Result, Total
from scenlint.report.style import visible
from scenlint.stats.words import count

VERSION = 1


# ---------------------------------------------------------------- JSON


def diff_json(diff: Diff) -> dict[str, Any]:
    """What changed, without decisions: as the audit record keeps it."""
    return {
        "version": VERSION,
        "baseline": diff.baseline.run.id,
        "run": diff.run.run.id,
        "level": LEVEL,
        "suite": {
            "baseline": _total(diff.baseline.rate),
            "run": _total(diff.run.rate),
            "scenarios": len(diff.compared),
            "paired": diff.suite._asdict() if diff.suite else None,
        },
        "scenarios": [_scenario(s) for s in diff.scenarios],
        "lines": [_line(line) for line in diff.lines],
        "notes": list(diff.notes),
    }


def decided_json(diff: Diff, decisions: Sequence[Decision]) -> dict[str, Any]:
    """The same with the decision that stands for each line, and all that were made."""
    told, stands = diff_json(diff), standing(diff, decisions)
    for line in told["lines"]:
        found = stands[line["name"]]
        line["disposition"] = asdict(found) if found else None
    return told | {"open": len(open_lines(diff, decisions)), "decisions": [asdict(d) for d in decisions]}


def open_lines(diff: Diff, decisions: Sequence[Decision]) -> list[Line]:
    """The lines with which the audit does not pass."""
    stands = standing(diff, decisions)
    return [line for line in diff.lines if (found := stands[line.name]) is None or not found.disposition.passes]


def _scenario(s: Compared) -> dict[str, Any]:
    return {
        "key": s.key,
        "task": s.task,
        "before": _result(s.before),
        "after": _result(s.after),
        "environment": list(s.environment),
        "change": s.change,
        "interval": list(s.interval) if s.interval else None,
        "fall": dict(zip(("p", "q"), s.fall, strict=True)) if s.fall else None,
        "rise": dict(zip(("p", "q"), s.rise, strict=True)) if s.rise else None,
        "noticed": {"alone": s.noticed[0], "among_all": s.noticed[1]},
        "reward": s.reward._asdict() if s.reward else None,
        "cost": _moved(s.cost),
        "time": _moved(s.time),
    }


def _result(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    kept = ("passes", "trials", "excluded", "missing")
    return {name: getattr(result, name) for name in kept} | {
        "failures": dict(result.failures),
        "digests": list(result.digests),
        "images": list(result.images),
    }


def _moved(moved: Moved | None) -> dict[str, Any] | None:
    return None if moved is None else {"ratio": moved.ratio, "q": moved.q, "trials": list(moved.trials)}


def _total(total: Total | None) -> dict[str, Any] | None:
    if total is None:
        return None
    low, high = total.interval or (None, None)
    return {"rate": total.mean.value, "low": low, "high": high}


def _line(line: Line) -> dict[str, Any]:
    kept = ("name", "scenario", "task", "kind", "text", "worse", "digest")
    return {**{key: getattr(line, key) for key in kept}, "kind": line.kind.value, "facts": dict(line.facts)}


# ---------------------------------------------------------------- text


def text(diff: Diff, decisions: Sequence[Decision], *, decidable: bool = True) -> str:
    """Suite, scenarios, changed lines with what was decided, and what the trials could show.

    `decidable`: decisions about the run can be recorded, so how to make one is said.
    """
    blocks = [_suite(diff), _table(diff), _changes(diff, decisions, decidable), [*_power(diff), *diff.notes]]
    return "\n\n".join("\n".join(map(visible, block)) for block in blocks if block) + "\n"


def _suite(diff: Diff) -> list[str]:
    one, two = diff.baseline, diff.run
    out = [f"run {two.run.id} ({two.run.agent}) against the baseline {one.run.id} ({one.run.agent})"]
    whole = [f"{100 * t.mean.value:.1f} %{_limits(t)}" if t else "none" for t in (one.rate, two.rate)]
    out.append(f"pass rate of all graded trials: {whole[0]}, now {whole[1]}")
    if diff.suite:
        points = f"{100 * diff.suite.difference:+.1f} points"
        tested = f"paired standard error {100 * diff.suite.error:.1f}, p {diff.suite.p:.2g}"
        out.append(f"the {count(len(diff.compared), 'scenario')} that can be compared: {points} ({tested})")
    return out


def _limits(total: Total) -> str:
    return f" [{100 * total.interval.low:.1f}, {100 * total.interval.high:.1f}]" if total.interval else ""


def _table(diff: Diff) -> list[str]:
    rows: list[tuple[str, ...]] = [("scenario", "before", "now", "points [95 %]", "q fall", "cost", "time")]
    rows += [_row(s) for s in diff.scenarios]
    wide = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows]


def _row(s: Compared) -> tuple[str, ...]:
    before, after = _passes(s.before), _passes(s.after)
    if not s.comparable or s.change is None or s.interval is None or s.fall is None:
        why = "environment changed" if s.environment else "not compared"
        return s.key, before, after, why, "", "", ""
    points = f"{100 * s.change:+.0f} [{100 * s.interval.low:+.0f}, {100 * s.interval.high:+.0f}]"
    return s.key, before, after, points, f"{s.fall[1]:.2g}", _times(s.cost), _times(s.time)


def _passes(result: Result | None) -> str:
    if result is None:
        return "-"
    return f"{result.passes}/{result.trials}" + (f" (+{result.excluded} excluded)" if result.excluded else "")


def _times(moved: Moved | None) -> str:
    return f"x{moved.ratio:.2f}" if moved else "-"


def _changes(diff: Diff, decisions: Sequence[Decision], decidable: bool) -> list[str]:
    if not diff.lines:
        return ["no line changed"]
    stands, before = standing(diff, decisions), outdated(diff, decisions)
    waiting = len(open_lines(diff, decisions))
    out = [f"{count(len(diff.lines), 'changed line')}, {waiting} open"]
    for line in diff.lines:
        found = stands[line.name]
        out.append(f"  {found.disposition.upper() if found else 'UNDECIDED'}  {line.name}: {line.text}")
        if found:
            out.append(f"      {found.role}, {found.at[:10]}: {found.reason}")
        elif line.name in before:
            old = before[line.name]
            out.append(f"      was {old.disposition} by {old.role} on {old.at[:10]}, when it said something else")
    if waiting and decidable:
        sides = f"{diff.baseline.run.id} {diff.run.run.id}"
        out += ["", f"to decide: scenlint diff {sides} --decide SCENARIO[:LINE] DISPOSITION --reason … --role …"]
    return out


def _power(diff: Diff) -> Iterator[str]:
    """What the trials could have shown, for each number of trials; the rarest left out."""
    sizes = Counter((s.before.trials, s.after.trials) for s in diff.compared if s.before and s.after)
    for (before, after), times in sizes.most_common(3):
        alone, among = noticed(before, before, after), noticed(before, before, after, LEVEL / len(diff.compared))
        line = f"{before} against {after} trials ({count(times, 'scenario')}):"
        if alone is None:
            yield f"{line} too few to notice any fall"
            continue
        # Of different numbers of trials `from 2 to 5` would be no fall.
        fall = f"{before} to {alone}" if before == after else f"{before} of {before} to {alone} of {after}"
        line += f" a fall from {fall} would have been noticed"
        if among != alone:
            only = "none at all" if among is None else f"one to {among}" + (f" of {after}" if before != after else "")
            line += f" in a scenario that is tested by itself; of {len(diff.compared)}, if no other fell, {only}"
        yield line
