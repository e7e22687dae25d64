"""With the deciding rule written into the brief the scenario becomes easy: it was hard only because that was unsaid."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, NotAssessableError, Task, trial_rule
from scenlint.rulings.ablation import ablations
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "fake-difficulty",
    "SL807",
    refute="the added text gave away more than the rule: the answer, or a step of the work",
    calibration=True,
)
def fake_difficulty(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    made = ablations(records)
    if not any(one.complete for one in made):
        raise NotAssessableError(
            "not tried with the rule stated (`scenlint calibrate --state-rule FILE`)"
            if not made
            else "stage two and its repetition with the rule stated need eight valid trials each"
        )
    for one in made:
        if one.fake:
            low, high = one.interval
            drop = f"the failure rate drops by {one.drop:.2f}, {low:.2f} to {high:.2f}"
            yield Finding.at(
                trials.asked(task),
                f"with the deciding rule in the brief `{one.agent}` fails {one.stated.failures} of "
                f"{one.stated.failures + one.stated.passes} trials, without it {one.silent.failures} of "
                f"{one.silent.failures + one.silent.passes} (p = {one.p:.2g}; {drop})",
                help="state the rule in the brief and make the work itself hard, or give the scenario up",
            )
