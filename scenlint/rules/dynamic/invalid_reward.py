"""What the verifier hands in as the reward is no number in [0, 1]."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, trial_rule
from scenlint.task import trials
from scenlint.task.record import TrialRecord


@trial_rule(
    "invalid-reward",
    "SL706",
    refute="the format reads this as a reward in [0, 1], by a rule that its documentation states",
)
def invalid_reward(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    groups: dict[str, list[TrialRecord]] = {}
    for record in trials.shown(records):
        if record.strict is not None and record.strict.invalid:
            groups.setdefault(record.strict.reason, []).append(record)
    for reason, group in groups.items():
        agents = " and ".join(f"`{agent}`" for agent in dict.fromkeys(r.agent for r in group))
        yield Finding.at(
            trials.entry(task),
            f"the reward for the work of {agents} is invalid ({trials.named(group)}): {reason}",
            help="write one finite number from 0 to 1 on every path, also where there is nothing to grade; "
            + trials.look(group[0]),
        )
