"""What the oracle left, frozen: whether experiments can build on its snapshot, and in words why not."""

from __future__ import annotations

from scenlint.dynamic.experiments import Context
from scenlint.dynamic.gate import Shown
from scenlint.dynamic.worlds.again import AGAIN, REGRADED
from scenlint.harness.snapshot import Snapshot
from scenlint.task import trials
from scenlint.task.record import TrialRecord


def snapshot_of(about: Context) -> tuple[Snapshot | None, str]:
    """The snapshot of the oracle's work, or why there is none to build on."""
    shown = _experiment(about, AGAIN)
    if shown is None:
        return None, "the oracle was not run again, which would have shown what it changes"
    snapshot = Snapshot.load(shown.folder)
    if snapshot is None:
        why = Snapshot.problem(shown.folder) or trials.obstacle(shown.record) or "the trial did not come that far"
        return None, f"what the oracle changed could not be kept: {why}"
    if shown.record.reward != 1.0:
        return snapshot, f"the oracle, run again, got {verdict(shown.record)}"
    return snapshot, ""


def no_replay(about: Context) -> str:
    """Why the replayed snapshot shows nothing; "" where it scored as the oracle did."""
    if about.snapshot is None:
        return about.no_replay
    found = [t for t in about.subject.trials if t.record.agent == f"world:{REGRADED}"]
    if not found:
        return "what the oracle left was not graded again"
    if any(t.record.reward == 1.0 for t in found):
        return ""
    shown = found[0]
    plan = about.plan
    likely = [*about.snapshot.notes]
    if plan.apps:
        likely.append("its work is in the apps, whose state no snapshot holds")
    elif plan.compose is not None:
        likely.append("part of its work may be in other containers of the compose project")
    skipped = {u.target for s in plan.steps if s.oracle and s.oracle.command for u in s.oracle.uploads}
    if not likely and skipped:
        likely.append(f"without the solution's own files ({', '.join(sorted(skipped))})")
    return (
        f"what the oracle left, restored into a fresh environment, gets {verdict(shown.record)} instead of 1.0"
        f"{trials.quote(shown.record)}" + (f" ({'; '.join(likely[:3])})" if likely else "")
    )


def _experiment(about: Context, name: str) -> Shown | None:
    found = (t for t in about.subject.trials if t.record.agent == f"world:{name}" and t.record.attempt == 1)
    return next(found, None)


def verdict(record: TrialRecord) -> str:
    """A trial's verdict in words."""
    return f"no verdict ({record.failure_evidence})" if record.reward is None else f"a reward of {record.reward:g}"
