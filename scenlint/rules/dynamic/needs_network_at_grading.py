"""The verdict is another one when the network is off at grading."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Task, trial_rule
from scenlint.task import trials, worlds
from scenlint.task.record import TrialRecord


@trial_rule(
    "needs-network-at-grading",
    "SL712",
    deep=True,
    refute="a grading with the network off that gives the usual verdict: then the trial failed for another reason",
)
def needs_network_at_grading(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    usual = worlds.oracle(records)
    for record in worlds.moved(task, records, "offline"):
        yield Finding.at(
            trials.place(task, worlds.differing(usual, record)),
            f"with the network off at grading, the oracle's work gets {worlds.told(record, usual)} ({record.id})",
            help="put what the verifier downloads into the image, pinned: a server that is down or has changed must "
            "not decide a verdict; " + trials.look(record),
        )
