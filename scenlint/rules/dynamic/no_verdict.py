"""A trial ended without a verdict: the verifier crashed, ran out of time or wrote none, or was never reached."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Task, trial_rule
from scenlint.task import trials
from scenlint.task.finding import At
from scenlint.task.record import PhaseName, TrialRecord

_BEFORE = (PhaseName.BUILD, PhaseName.START)
_AFTER = (PhaseName.COLLECT, PhaseName.REMOVE)


@trial_rule(
    "no-verdict",
    "SL705",
    refute="a trial of the same task on another machine that ends with a verdict: then this machine was at fault",
)
def no_verdict(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    groups: dict[str, list[TrialRecord]] = {}
    for record in trials.shown(records):
        if record.reward is None and not (record.strict and record.strict.invalid):
            groups.setdefault(_reason(record), []).append(record)
    for reason, group in groups.items():
        first = group[0]
        phase = _phase(first)
        if phase in _BEFORE:
            yield Finding.at(
                _environment(task),
                f"no agent gets to work, as the environment does not {phase} ({trials.named(group)}): {reason}",
                help="make the environment build and start from a clean machine; " + trials.look(first),
                confidence=Confidence.MEDIUM,
            )
            continue
        agents = " and ".join(f"`{agent}`" for agent in dict.fromkeys(r.agent for r in group))
        yield Finding.at(
            trials.entry(task),
            f"the work of {agents} got no verdict, which is not a 0 ({trials.named(group)}): {reason}"
            + trials.quote(first),
            help="let the verifier end in time and write a verdict whatever the agent did or left out; "
            + trials.look(first),
        )


def _reason(record: TrialRecord) -> str:
    return record.failure_evidence or (record.strict.reason if record.strict else "") or "no reason is recorded"


def _phase(record: TrialRecord) -> str:
    return next((p.name for p in reversed(record.phases) if p.error and p.name not in _AFTER), "")


def _environment(task: Task) -> At:
    builds = task.environment.builds if task.environment else []
    return builds[0].fragment.source.lines(1) if builds else trials.entry(task)
