"""Compares a run with its baseline, scenario by scenario and as a suite, and says what has changed.

Pass rates, partial rewards, costs and times that went up, and such that went down are eight families of tests, in each
of which the false discovery rate is controlled (Benjamini and Hochberg).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from statistics import fmean

from scenlint.grading.diff.model import SUITE, Compared, Diff, Kind, Line, Moved, Rewards
from scenlint.grading.results import Result, Summary
from scenlint.stats import NotEnoughError
from scenlint.stats.compare import boschloo, false_discovery, paired, ranked
from scenlint.stats.intervals import newcombe
from scenlint.stats.series import shift
from scenlint.stats.words import count
from scenlint.task.record import FailureClass

LEVEL = 0.05  # the false discovery rate of each family, and the level of the suite's test
SETTLED = 3  # trials on each side from which on "all passed" and "none passed" differ without a test
REWARD = 0.05  # the smallest change of a mean reward that matters
SHIFTS = {Kind.COST: 1.1, Kind.TIME: 1.25}  # the smallest ratio that matters
# A new wrong answer is what the pass rate is about; of these the agent is innocent, and they are run again.
_ORDINARY = {FailureClass.WRONG_ANSWER, FailureClass.INFRASTRUCTURE, FailureClass.PROVIDER, FailureClass.INTERRUPTED}
_falls = cache(boschloo)


def diff(baseline: Summary, run: Summary) -> Diff:
    """What changed from the baseline to the run."""
    before, after = ({r.scenario.key: r for r in summary.results} for summary in (baseline, run))
    scenarios = [_pair(key, before.get(key), after.get(key), baseline, run) for key in sorted({*before, *after})]
    comparable = [s for s in scenarios if _comparable(s)]
    _test_rates(comparable)
    _test_rewards(comparable)
    _test_shifts(comparable, Kind.COST, lambda r: r.costs)
    _test_shifts(comparable, Kind.TIME, _times)
    out = Diff(baseline, run, scenarios, [line for s in scenarios for line in _lines(s)])
    _compare_suites(out)
    out.notes += _notes(out)
    return out


def _pair(key: str, before: Result | None, after: Result | None, baseline: Summary, run: Summary) -> Compared:
    known = after or before
    assert known is not None
    out = Compared(key, known.scenario.task, before, after)
    if before and after:
        out.environment = tuple(_environment(key, before, after, baseline, run))
    return out


def _environment(key: str, before: Result, after: Result, baseline: Summary, run: Summary) -> Iterator[str]:
    """What of a scenario is not as it was."""
    tasks = [set(r.digests) or {r.scenario.task_digest} - {""} for r in (before, after)]
    if all(tasks) and tasks[0] != tasks[1]:
        old, new = before.scenario.digests, after.scenario.digests
        parts = sorted(k for k in {*old, *new} if old.get(k) != new.get(k))
        yield "task" + (f" ({', '.join(parts)})" if parts else "")
    images = [set(r.images) or {r.scenario.image_digest} - {""} for r in (before, after)]
    if all(images) and images[0] != images[1]:
        yield "image"
    budgets = [dict(s.run.budgets.get(key, {})) for s in (baseline, run)]
    if all(budgets) and budgets[0] != budgets[1]:
        changed = sorted(k for k in {*budgets[0], *budgets[1]} if budgets[0].get(k) != budgets[1].get(k))
        yield f"budget ({', '.join(changed)})"


def _comparable(s: Compared) -> bool:
    return bool(s.before and s.after and s.before.trials and s.after.trials and not s.environment)


def _both(s: Compared) -> tuple[Result, Result]:
    assert s.before is not None
    assert s.after is not None
    return s.before, s.after


# ---------------------------------------------------------------- tests


def _test_rates(scenarios: Sequence[Compared]) -> None:
    counts = [(b.passes, b.trials, a.passes, a.trials) for b, a in map(_both, scenarios)]
    falls = [_falls(*c, "greater") for c in counts]
    rises = [_falls(*c, "less") for c in counts]
    families = zip(falls, false_discovery(falls), rises, false_discovery(rises), strict=True)
    for s, c, (fall, fall_q, rise, rise_q) in zip(scenarios, counts, families, strict=True):
        s.fall, s.rise = (fall, fall_q), (rise, rise_q)
        # Of the second, minus the first.
        s.interval = newcombe(c[2], c[3], c[0], c[1])
        s.noticed = noticed(*c[:2], c[3]), noticed(*c[:2], c[3], LEVEL / len(scenarios))


def noticed(passes: int, trials: int, later_trials: int, level: float = LEVEL) -> int | None:
    """The most passes of `later_trials` that would be called a fall at this level; None: no fall would be."""
    low, high = -1, later_trials  # at `low` it is noticed, at `high` it is not
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if _falls(passes, trials, middle, later_trials, "greater") <= level else (low, middle)
        )
    return None if low < 0 else low


def _test_rewards(scenarios: Sequence[Compared]) -> None:
    """Of the scenarios that give partial rewards, and have enough trials with one."""
    tested: list[tuple[Compared, list[float], list[float], float, float]] = []
    for s in scenarios:
        before, after = ([w for w in r.rewards if w is not None] for r in _both(s))
        if any(0 < w < 1 for w in (*before, *after)) and min(len(before), len(after)) >= 8:
            tested.append((s, before, after, *ranked(before, after)))
    families = (false_discovery([t[3] for t in tested]), false_discovery([t[4] for t in tested]))
    for (s, before, after, _, _), fell, rose in zip(tested, *families, strict=True):
        s.reward = Rewards(fmean(before), fmean(after), min(fell, rose))


def _test_shifts(scenarios: Sequence[Compared], kind: Kind, values: Callable[[Result], Sequence[float | None]]) -> None:
    """Costs or times that went up or down, of the scenarios with enough trials that have one."""
    tested: list[tuple[Compared, float, float, float, tuple[int, int]]] = []
    for s in scenarios:
        before, after = ([v for v in values(r) if v is not None] for r in _both(s))
        if min([*before, *after], default=0.0) <= 0:
            continue
        try:
            up = shift(before, after)
            # Of the side to which it did not move the p is above one half, and no matter to the other ones.
            sides = (up.p, 1.0) if up.ratio >= 1 else (1.0, shift(after, before).p)
        except NotEnoughError:
            continue
        tested.append((s, up.ratio, *sides, (len(before), len(after))))
    families = (false_discovery([t[2] for t in tested]), false_discovery([t[3] for t in tested]))
    for (s, ratio, _, _, trials), up_q, down_q in zip(tested, *families, strict=True):
        moved = Moved(ratio, up_q if ratio >= 1 else down_q, trials)
        if kind is Kind.COST:
            s.cost = moved
        else:
            s.time = moved


def _times(result: Result) -> Sequence[float | None]:
    """What the agent took where that is known of all trials, else the whole trials: seconds."""
    return result.acting if None not in result.acting else result.durations


def _compare_suites(out: Diff) -> None:
    compared = out.compared
    rates = [(b.rate or 0.0, a.rate or 0.0) for b, a in map(_both, compared)]
    try:
        out.suite = paired([b for b, _ in rates], [a for _, a in rates])
    except NotEnoughError as exc:
        out.notes.append(f"the suite as a whole was not tested: {exc}")
        return
    if out.suite.p <= LEVEL:
        fell = out.suite.difference < 0
        text = (
            f"the mean pass rate of {count(len(compared), 'scenario')} {'fell' if fell else 'rose'} by "
            f"{100 * abs(out.suite.difference):.1f} points (paired standard error {100 * out.suite.error:.1f}, "
            f"p {out.suite.p:.2g})"
        )
        facts = {"scenarios": len(compared), "points": round(100 * out.suite.difference, 2)}
        out.lines.append(Line(SUITE, "", Kind.PASS_RATE, text, facts, fell))


# ---------------------------------------------------------------- lines


def _lines(s: Compared) -> Iterator[Line]:
    """What changed about one scenario, and is no noise."""
    before, after = s.before, s.after
    if before is None or after is None:
        kind = Kind.ADDED if before is None else Kind.REMOVED
        where = "the baseline" if before is None else "this run"
        yield Line(s.key, s.task, kind, f"it is not in {where}", {})
        return
    if s.environment:
        text = f"what it is has changed ({', '.join(s.environment)}): its results are not compared"
        now = {"task": [*after.digests], "image": [*after.images], "changed": [*s.environment]}
        yield Line(s.key, s.task, Kind.ENVIRONMENT, text, now)
        return
    if bool(before.trials) != bool(after.trials):
        yield _ungraded(s, before, after)
        return
    if rate := _rate_line(s, before, after):
        yield rate
    if s.reward and s.reward.q <= LEVEL and abs(s.reward.after - s.reward.before) >= REWARD:
        fell = s.reward.after < s.reward.before
        means = f"from {s.reward.before:.2f} to {s.reward.after:.2f}"
        text = f"the mean reward {'fell' if fell else 'rose'} {means} (q {s.reward.q:.2g})"
        facts = {"before": round(s.reward.before, 4), "after": round(s.reward.after, 4)}
        yield Line(s.key, s.task, Kind.REWARD, text, facts, fell)
    new = {c: n for c, n in _classes(after).items() if c not in _classes(before) and c not in _ORDINARY}
    if new:
        told = ", ".join(f"{name} in {count(n, 'trial')}" for name, n in sorted(new.items()))
        text = f"failures of a new class: {told} of {after.trials + after.excluded}"
        yield Line(s.key, s.task, Kind.FAILURE_CLASS, text, {"classes": new}, True)
    for kind, moved in ((Kind.COST, s.cost), (Kind.TIME, s.time)):
        if moved and moved.q <= LEVEL and max(moved.ratio, 1 / moved.ratio) >= SHIFTS[kind]:
            word = "the cost of a trial" if kind is Kind.COST else "the time of a trial"
            text = f"{word} is {moved.ratio:.2f} times what it was (q {moved.q:.2g})"
            yield Line(s.key, s.task, kind, text, {"ratio": round(moved.ratio, 3), "trials": [*moved.trials]},
                       moved.ratio > 1)  # fmt: skip


def _ungraded(s: Compared, before: Result, after: Result) -> Line:
    none, word = (after, "this run") if before.trials else (before, "the baseline")
    why = f": {none.void}" if none.void else ""
    excluded = ", ".join(f"{name} {n}" for name, n in none.exclusions.items())
    text = f"no trial of {word} was graded ({excluded or 'none was run'}){why}: nothing is compared"
    return Line(s.key, s.task, Kind.UNGRADED, text, {"before": before.trials, "after": after.trials}, None)


def _rate_line(s: Compared, before: Result, after: Result) -> Line | None:
    assert s.fall is not None
    assert s.rise is not None
    q = min(s.fall[1], s.rise[1])
    settled = min(before.trials, after.trials) >= SETTLED and {before.rate, after.rate} == {0.0, 1.0}
    if q > LEVEL and not settled:
        return None
    fell = s.change is not None and s.change < 0
    counts = f"from {before.passes} of {before.trials} to {after.passes} of {after.trials}"
    text = f"passes {'fell' if fell else 'rose'} {counts} (q {q:.2g})"
    facts = {"before": [before.passes, before.trials], "after": [after.passes, after.trials]}
    return Line(s.key, s.task, Kind.PASS_RATE, text, facts, fell)


def _classes(result: Result) -> dict[str, int]:
    """Of graded failures and of excluded trials."""
    out = dict(result.failures)
    for name, n in result.exclusions.items():
        out[name] = out.get(name, 0) + n
    return out


def _notes(out: Diff) -> Iterator[str]:
    """What a reader should know of the two runs."""
    one, two = out.baseline.run, out.run.run
    if one.suite and two.suite and one.suite != two.suite:
        yield "the suite is another version than the baseline's"
    for name in ("agent", "model"):
        a, b = getattr(one, name), getattr(two, name)
        if a != b:
            yield f"{name}: {a or 'not known'} in the baseline, {b or 'not known'} in this run"
    if one.agent_digest and two.agent_digest and one.agent_digest != two.agent_digest:
        yield "the agent's configuration is another one than in the baseline"
    for summary, word in ((out.baseline, "the baseline"), (out.run, "this run")):
        missing = sum(r.missing for r in summary.results)
        if missing:
            yield f"{word} is not complete: {count(missing, 'graded trial')} missing"
    neither = [s.key for s in out.scenarios if s.before and s.after and not s.before.trials and not s.after.trials]
    if neither:
        yield f"no trial was graded in either run of {', '.join(neither)}"
    if untested := sum(s.cost is None for s in out.compared):
        told = f"costs of {untested} of {count(len(out.compared), 'scenario')} were not compared"
        yield f"{told}: on each side 8 trials that cost something are needed"
