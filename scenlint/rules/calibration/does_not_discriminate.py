"""A scenario is too easy for the agent that it was calibrated with: it tells nobody from anybody."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, trial_rule
from scenlint.rulings.calibrations import decided
from scenlint.rulings.decision import Decided
from scenlint.task import trials
from scenlint.task.record import TrialRecord

_HELP = {
    Decided.RETIRED: "retire it to the regression set (`scenlint admit` does), or ask for work that can fail silently",
    Decided.REJECTED: "make it harder by what is to be worked out, never by leaving the deciding rule unsaid; a "
    "scenario that this agent fails half of the time is refused 52 % of the time by chance",
}


@trial_rule(
    "does-not-discriminate",
    "SL801",
    refute="the failures that were excluded are the agent's own, and a person says so (`scenlint triage`)",
    calibration=True,
)
def does_not_discriminate(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    made = decided(records)
    if any(one.decision.decided is Decided.ADMISSIBLE for one in made):
        return  # one agent that it is hard enough for will do
    for one in made:
        if help_ := _HELP.get(one.decision.decided):
            yield Finding.at(
                trials.asked(task),
                f"it is too easy for `{one.agent}`: {one.decision.reason}",
                help=help_,
            )
