"""The reference solution does not earn exactly 1.0."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, related, trial_rule
from scenlint.task import trials
from scenlint.task.record import Status, TrialRecord


@trial_rule(
    "oracle-not-perfect",
    "SL701",
    refute="a clean trial of the same task in which the oracle earns 1.0: then the machine was at fault",
)
def oracle_not_perfect(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    graded = trials.graded(task, records, "oracle")
    imperfect = [r for r in graded if r.status is not Status.PASSED]
    if not imperfect:
        return
    first = imperfect[0]
    where = trials.named(imperfect) + (f", {len(imperfect)} of {len(graded)}" if len(graded) > 1 else "")
    entry = [related(task.oracle.entry.source.lines(1), "this is the solution")] if task.oracle else []
    if first.reward == 1.0:
        why = first.strict.reason if first.strict else first.failure_evidence
        yield Finding.at(
            task.oracle.entry.source.lines(1) if task.oracle else trials.entry(task),
            f"the oracle's reward of 1.0 proves nothing: {why} ({where}){trials.quote(first, 'agent')}",
            help=f"let the solution run to its end, in time, with exit status 0; {trials.look(first)}",
        )
        return
    failed = trials.wrong(first)
    why = f"failed {trials.listed(failed)}" if failed else first.failure_evidence
    yield Finding.at(
        trials.place(task, failed),
        f"the oracle's reward is {first.reward:g}, not 1.0 ({where}): {why}{trials.quote(first)}",
        help="the solution is wrong, or the verifier checks what the brief never asked for: settle which, and fix it; "
        + trials.look(first),
        related=entry,
    )
