"""The verdict is another one on another date, in another time zone or in another locale."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, NotAssessableError, Severity, Task, trial_rule
from scenlint.task import trials, worlds
from scenlint.task.record import TrialRecord


@trial_rule(
    "clock-dependent",
    "SL713",
    severity=Severity.WARNING,
    deep=True,
    refute="a trial on a machine whose clock, zone or locale is set so, with the usual verdict",
)
def clock_dependent(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    usual = worlds.oracle(records)
    found = worlds.moved(task, records, *worlds.CLOCKS, *worlds.ZONES)
    control = next((r.experiment for r in records if r.experiment and r.experiment.name == worlds.CONTROL), None)
    clocks = [r for r in found if r.experiment and r.experiment.name in worlds.CLOCKS]
    if clocks and control is not None and control.outcome != "same":
        # Not the date, but the means by which it is moved.
        found = [r for r in found if r not in clocks]
        if not found:
            raise NotAssessableError("the library that moves clocks disturbs this task even where it moves none")
    if not found:
        return
    first = found[0]
    assert first.experiment is not None
    names = ", ".join(f"`{r.experiment.name}`" for r in found if r.experiment)
    more = f" (as in {len(found)} worlds: {names})" if len(found) > 1 else f" (`{first.experiment.name}`)"
    yield Finding.at(
        trials.place(task, worlds.differing(usual, first)),
        f"who {first.experiment.did} got {worlds.told(first, usual)}{more}",
        help="take the date, zone and locale from the task's own files, or fix them in its image; "
        + trials.look(first),
        confidence=Confidence.HIGH if len(found) > 1 else Confidence.MEDIUM,
    )
