"""A run, or what one would do, as JSON with stable keys (docs/grading.md) and as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scenlint.grading.model import Run
from scenlint.grading.plan import Plan
from scenlint.grading.results import Result, Spread, Summary, Total
from scenlint.stats.words import count
from scenlint.task.record import FailureClass

KS = (1, 2, 4, 8, 16)
_SHOWN = 10  # excluded trials that are listed


def summary_json(summary: Summary) -> dict[str, Any]:
    """Everything of a summary."""
    run, results = summary.run, summary.results
    return {
        "run": run_json(run),
        "models": list(summary.models),
        "complete": summary.complete,
        "suite": {
            "scenarios": len(results),
            "graded_scenarios": sum(bool(r.trials) for r in results),
            "passes": sum(r.passes for r in results),
            "trials": sum(r.trials for r in results),
            "excluded": sum(r.excluded for r in results),
            "missing": sum(r.missing for r in results),
            "rate": _total(summary.rate),
            "reward": _total(summary.reward),
            "consistency": summary.consistency,
            "always_alike": sum(r.consistency == 1 for r in results),
            "pass_at": _ks(summary.pass_at),
            "pass_all": _ks(summary.pass_all),
            "cost_usd": asdict(summary.cost),
            "spent_usd": summary.spent,
            "seconds": asdict(summary.duration),
            "failures": dict(summary.classes().most_common()),
            "exclusions": dict(summary.classes("exclusions").most_common()),
        },
        "scenarios": [_result(r) for r in results],
        "notes": list(summary.notes),
    }


def run_json(run: Run) -> dict[str, Any]:
    """Which run it is."""
    kept = ("id", "suite", "regression", "manifest", "agent", "agent_digest", "model", "trials", "started", "scenlint")
    return {**{name: getattr(run, name) for name in kept}, "forced": list(run.forced)}


def plan_json(plan: Plan, run: Run, begun: bool) -> dict[str, Any]:
    """What a run would do."""
    return {
        "run": run_json(run) | {"id": run.id if begun else None},
        "resumed": begun,
        "trials": plan.trials,
        "at_once": plan.workers,
        "cost_usd": plan.cost,
        "seconds": plan.seconds,
        "unknown": dict(zip(("cost", "seconds"), plan.unknown, strict=True)),
        "scenarios": [
            {
                "key": p.scenario.key, "task": p.scenario.task, "trials": p.missing, "problem": p.problem,
                "note": p.note, "expected": asdict(p.expected),
            }
            for p in plan.planned
        ],
    }  # fmt: skip


def summary_text(summary: Summary) -> str:
    """A table with a line for each scenario, and what is to be said of the suite."""
    return "\n".join(_summary(summary)) + "\n"


def plan_text(plan: Plan, run: Run, begun: bool) -> str:
    """The plan as a table."""
    return "\n".join(_plan(plan, run, begun)) + "\n"


# ---------------------------------------------------------------- JSON


def _result(result: Result) -> dict[str, Any]:
    jeffreys = result.posterior
    return {
        "key": result.scenario.key, "task": result.scenario.task, "task_digest": result.scenario.task_digest,
        "passes": result.passes, "trials": result.trials, "excluded": result.excluded, "missing": result.missing,
        "rate": result.rate,
        "wilson": list(result.interval), "exact": list(result.exact),
        "jeffreys": {"mean": jeffreys.mean, "interval": list(jeffreys.interval())},
        "consistency": result.consistency,
        "pass_at": _ks(result.pass_at), "pass_all": _ks(result.pass_all),
        "reward": result.reward,
        "cost_usd": asdict(Spread.of(result.costs)), "seconds": asdict(Spread.of(result.durations)),
        "agent_seconds": asdict(Spread.of(result.acting)),
        "failures": dict(result.failures), "exclusions": dict(result.exclusions),
        "excluded_trials": [{"trial": t, "failure": name, "evidence": said} for t, name, said in result.left_out],
        "without_verdict": result.without_verdict,
        "outcomes": list(result.outcomes), "rewards": list(result.rewards), "trial_ids": list(result.ids),
        "images": list(result.images), "void": result.void,
        "persons": [{"trial": trial, "why": why} for trial, why in result.persons],
    }  # fmt: skip


def _total(total: Total | None) -> dict[str, Any] | None:
    if total is None:
        return None
    mean, (low, high) = total.mean, total.interval or (None, None)
    return {"mean": mean.value, "error": mean.error, "clusters": mean.clusters, "low": low, "high": high}


def _ks(of: Any) -> dict[str, float]:
    return {str(k): value for k in KS if (value := of(k)) is not None}


# ---------------------------------------------------------------- text


def _summary(summary: Summary) -> Iterator[str]:
    run, results = summary.run, summary.results
    models = ", ".join(summary.models) or run.model
    yield f"run {run.id}: {run.agent}{f' ({models})' if models else ''}, {count(run.trials, 'trial')} a scenario"
    which = "regression set of suite" if run.regression else "suite"
    yield f"{which} {run.suite[:19]}, {count(len(results), 'scenario')}" + "".join(f"\nforced: {f}" for f in run.forced)
    yield ""
    yield from _table([_heads(summary), *(_row(r, summary) for r in results)])
    yield ""
    if summary.rate is None:
        yield "no trial was graded"
    else:
        yield from _suite(summary)
    yield from (f"note: {note}" for note in summary.notes)
    for result in results:
        yield from (f"{trial} ({result.scenario.task}): {why}" for trial, why in result.persons)
    excluded = [(r, *told) for r in results for told in r.left_out if told[1] != FailureClass.INTERRUPTED]
    for result, trial, failure_class, evidence in excluded[:_SHOWN]:
        yield f"excluded: {trial} ({result.scenario.task}): {failure_class}: {evidence}"
    if len(excluded) > _SHOWN:
        yield f"excluded: {len(excluded) - _SHOWN} more (--format json has them all)"


def _suite(summary: Summary) -> Iterator[str]:
    results = summary.results
    passes, trials = sum(r.passes for r in results), sum(r.trials for r in results)
    yield f"passed {passes} of {trials}: {_mean(summary.rate)}"
    if summary.partial:
        yield f"mean reward {_mean(summary.reward)}"
    alike = sum(r.consistency == 1 for r in results)
    if summary.consistency is not None:
        yield f"consistency {summary.consistency:.2f}; {alike} of {count(len(results), 'scenario')} always ended alike"
    k = max((k for k in KS if k > 1 and summary.pass_at(k) is not None), default=0)
    if k:
        one, every = summary.pass_at(k), summary.pass_all(k)
        yield f"pass@{k} {one:.2f} (one of {k} trials passes), pass^{k} {every:.2f} (all of them pass)"
    if failures := summary.classes():
        yield "failed: " + _listed(failures)
    if excluded := summary.classes("exclusions"):
        yield "excluded: " + _listed(excluded)
    if missing := sum(r.missing for r in results):
        yield f"missing: {count(missing, 'trial')}"
    cost, seconds = summary.cost, summary.duration
    if cost.known:
        also = f", {summary.spent:.2f} USD with the excluded ones" if summary.spent != cost.total else ""
        unknown = f"; of {count(cost.trials - cost.known, 'trial')} it is not known" if cost.known < cost.trials else ""
        yield f"cost {cost.total:.2f} USD, {cost.mean:.2f} USD a trial{also}{unknown}"
    else:
        yield "cost not known"
    yield f"time {span(seconds.mean)} a trial, {span(seconds.total)} in all"


def _heads(summary: Summary) -> list[str]:
    reward = ["reward"] if summary.partial else []
    return ["scenario", "passed", "rate", "95 %", *reward, "consistency", "USD each", "time each", "failed"]


def _row(result: Result, summary: Summary) -> list[str]:
    if not result.trials:
        why = "void" if result.void else "no trial was graded"
        return [result.scenario.task, "0 of 0", why]
    low, high = result.interval
    reward = [_two(result.reward)] if summary.partial else []
    cost = Spread.of(result.costs)
    seconds = Spread.of(result.durations)
    failed = [_listed(Counter(result.failures))] if result.failures else []
    failed += [f"{result.excluded} excluded"] if result.excluded else []
    failed += [f"{result.missing} missing"] if result.missing else []
    return [
        *(result.scenario.task, f"{result.passes} of {result.trials}", _two(result.rate), f"{low:.2f} to {high:.2f}"),
        *(*reward, _two(result.consistency), _two(cost.mean), span(seconds.mean), "; ".join(failed)),
    ]


def _plan(plan: Plan, run: Run, begun: bool) -> Iterator[str]:
    told = f"goes on with run {run.id}" if begun else "a new run"
    yield f"{told}: {run.agent}, {count(run.trials, 'trial')} a scenario, suite {run.suite[:19]}"
    yield ""
    rows = [["scenario", "trials", "USD each", "time each", "known from"]]
    for one in plan.planned:
        expected = one.expected
        known = count(expected.trials, "trial") if expected.trials else "unknown"
        told = f"not run: {one.problem}" if one.problem else known + (f" ({one.note})" if one.note else "")
        rows.append([one.scenario.task, str(one.missing), _two(expected.cost), span(expected.seconds), told])
    yield from _table(rows)
    yield ""
    no_cost, no_time = plan.unknown
    yield f"{count(plan.trials, 'trial')} to run, {plan.workers} at once"
    yield f"cost: {_at_least(plan.cost and f'{plan.cost:.2f} USD', no_cost)}"
    yield f"time: {_at_least(plan.seconds and f'about {span(plan.seconds)}', no_time)}"


def _at_least(known: str | float | None, unknown: int) -> str:
    if not known:
        return "unknown"
    return f"{known}" + (f", and unknown for {count(unknown, 'scenario')}" if unknown else "")


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell; the last one, and rows that end early, do not count."""
    columns = max(len(row) for row in rows)
    widths = [max((len(r[n]) for r in rows if len(r) == columns), default=0) for n in range(columns - 1)]
    widths[0] = max(len(row[0]) for row in rows)
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, *row[len(cells) :]]).rstrip()


def _mean(total: Total | None) -> str:
    assert total is not None
    if total.interval is None:
        return f"{total.mean.value:.2f} (of one scenario there is no interval of the suite)"
    low, high = total.interval
    return f"{total.mean.value:.2f}, {low:.2f} to {high:.2f} (95 %, clustered by scenario)"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items(), key=lambda c: (-c[1], c[0])))


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def span(seconds: float | None) -> str:
    """A time as people say it: `12 s`, `3 min`, `1.5 h`."""
    if seconds is None:
        return "-"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
