"""Two builds of the image differ in files that matter."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Finding, Severity, Task, trial_rule
from scenlint.task import trials, worlds
from scenlint.task.record import TrialRecord


@trial_rule(
    "environment-drifts",
    "SL714",
    severity=Severity.WARNING,
    deep=True,
    refute="the paths named hold only traces of the build (times, logs, caches), which nothing reads",
)
def environment_drifts(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    builds = task.environment.builds if task.environment else []
    for record in worlds.moved(task, records, "built-again"):
        assert record.experiment is not None
        usual = worlds.oracle(records)
        told = record.experiment.evidence
        if usual is not None and record.reward != usual.reward:
            told += f"; in the second image the oracle gets {worlds.told(record, usual)}"
        yield Finding.at(
            builds[0].fragment.source.lines(1) if builds else trials.entry(task),
            f"two builds of the image, one after the other, differ: {told} (trial `{record.id}`)",
            help="pin versions, digests and dates, so that whoever builds it next year gets the same environment; "
            + trials.look(record),
        )
