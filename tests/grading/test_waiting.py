"""What of graded trials a person is asked to decide, and that it is asked once."""

from graded import controls, trials

from scenlint.calibration import triage
from scenlint.grading.waiting import waiting
from scenlint.harness.ledger import Ledger
from scenlint.task.record import Disposed


def test_graded_trials_that_want_a_person_are_listed_until_one_has_decided(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    ledger.take_in([*trials(a="PXFC", b="I"), *controls("a")])
    assert [one.trial for one in waiting(ledger)] == ["run-1-a-4", "run-1-a-2"]
    triage.decide(ledger.folder, "run-1-a-2", Disposed.EXCLUDED, "the disk was full", "maintainer")
    triage.decide(ledger.folder, "run-1-a-4", Disposed.CHEATING, "it planted a reward", "reviewer")
    assert list(waiting(ledger)) == []
    ledger.close()
