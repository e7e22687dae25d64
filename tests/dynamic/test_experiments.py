"""What comes of an experiment by its record alone, and what is selected."""

from pathlib import Path

import pytest

from scenlint.dynamic.experiments import Context, Planned, Wishes, conclude, not_run, settled, skipped
from scenlint.dynamic.gate import Action, Shown, Subject, decide
from scenlint.dynamic.worlds.rebuilt import drift
from scenlint.harness.engine import Options
from scenlint.harness.ledger import Entry
from scenlint.task import trials
from scenlint.task.model import NotAssessableError
from scenlint.task.plan import RunPlan
from scenlint.task.record import Experiment, FailureClass
from scenlint.testing import base_task, load_task, records

AGENT_RAN = [{"name": "agent"}, {"name": "verify", "output": "AssertionError: 41 != 42\n"}]


@pytest.fixture
def about(tmp_path) -> Context:
    task = load_task(base_task("packet", tmp_path / "packet"))
    oracle, nop = records([{"agent": "oracle", "reward": 1.0}, {"agent": "nop", "reward": 0.25}], task)
    subject = Subject(task, "packet", RunPlan("packet", "packet", tmp_path, ()))
    return Context(subject, Shown(oracle, tmp_path, False), Shown(nop, tmp_path, False), None, Wishes(), Options())


def concluded(about: Context, kind: str, reward: float | None, **more) -> Experiment:
    name = more.pop("name", "some")
    given = {"agent": f"{kind}:{name}", "reward": reward, "experiment": {"kind": kind, "name": name}}
    (record,) = records([{"phases": AGENT_RAN, **given, **more}], about.subject.task)
    conclude(record, Path(), about)
    assert record.experiment is not None
    return record.experiment


CRASHED = {"failure_class": "verifier-error", "failure_evidence": "the verifier wrote no reward"}


@pytest.mark.parametrize(
    ("kind", "reward", "more", "outcome"),
    [
        ("probe", 0.25, {}, "holds"),  # no more than doing nothing earns
        ("probe", 0.5, {}, "broken"),
        ("probe", 1.0, {}, "broken"),
        ("probe", 0.0, {"harness": {"reward": 1.0, "passed": True}}, "broken"),
        ("probe", None, CRASHED, "laundered"),
        ("mutant", 1.0, {}, "survived"),
        ("mutant", 0.9, {}, "killed"),
        ("mutant", 0.75, {"harness": {"reward": 0.75, "passed": True}}, "survived"),
        ("mutant", None, {**CRASHED, "harness": {"reward": 0.75, "passed": True}}, "survived"),
        ("mutant", None, CRASHED, "skipped"),
        ("world", 1.0, {}, "same"),
        ("world", 0.5, {}, "differs"),
        ("world", None, CRASHED, "differs"),
        ("world", None, {**CRASHED, "phases": [{"name": "start", "error": "start: no such network"}]}, "skipped"),
        ("world", None, {"failure_class": "interrupted"}, "skipped"),
        ("probe", None, {"failure_class": "configuration", "failure_evidence": "no engine"}, "skipped"),
        ("mutant", None, {"phases": [{"name": "start", "error": "infrastructure: disk full"}]}, "skipped"),
    ],
)
def test_the_outcome_follows_from_the_record(about, kind, reward, more, outcome):
    made = concluded(about, kind, reward, **more)
    assert made.outcome == outcome
    assert outcome != "skipped" or made.reason


def test_trials_at_once_that_could_not_start_are_a_difference(about):
    collision = {"phases": [{"name": "start", "error": "start: the name is in use"}], "failure_evidence": "in use"}
    assert concluded(about, "world", None, name="two-at-once", **collision).outcome == "differs"


def test_a_check_that_comes_out_otherwise_is_a_difference_at_the_same_reward(about):
    about.oracle.record.checks = records([{"agent": "oracle", "reward": 1.0, "checks": [{"id": "a", "passed": True}]}])[
        0
    ].checks
    assert concluded(about, "world", 1.0, checks=[{"id": "a", "passed": False}]).outcome == "differs"


def test_the_evidence_quotes_what_the_verifier_printed(about):
    assert concluded(about, "mutant", 0.0).evidence == "reward 0; it printed `AssertionError: 41 != 42`"


@pytest.mark.parametrize(
    ("only", "leave", "wanted"),
    [
        ({}, {}, True),
        ({"probe"}, {}, True),
        ({"empty-files"}, {}, True),
        ({"probe:empty-files"}, {}, True),
        ({"mutant"}, {}, False),
        ({}, {"probe"}, False),
        ({"probe"}, {"empty-files"}, False),
    ],
)
def test_experiments_are_selected_by_kind_and_by_name(only, leave, wanted):
    wishes = Wishes(probes=frozenset(only), skip=frozenset(leave))
    assert wishes.wants(Experiment("probe", "empty-files")) is wanted


def test_what_is_drawn_depends_on_the_seed_and_on_nothing_else(about):
    first = about.random("mutant", "a").random()
    assert about.random("mutant", "a").random() == first
    assert about.random("mutant", "b").random() != first
    about.wishes = Wishes(seed=1)
    assert about.random("mutant", "a").random() != first


def test_what_was_not_made_is_never_a_pass(about):
    task = about.subject.task
    record = not_run(skipped("world", "offline", "several containers"), about)
    assert (record.reward, record.experiment.outcome) == (None, "skipped")
    with pytest.raises(NotAssessableError, match="offline: several containers"):
        trials.experiments(task, [about.oracle.record, record], "world", "offline")
    known = not_run(settled("world", "offline", "same", "it has no network"), about)
    assert trials.experiments(task, [about.oracle.record, known], "world", "offline") == [known]


def test_a_planned_experiment_without_an_agent_has_a_name_all_the_same():
    assert Planned(Experiment("world", "offline"), None).name == "world:offline"


def test_an_experiment_that_cannot_be_made_is_not_tried_again_and_one_of_an_edited_oracle_is(about):
    digests = {"oracle": "o", "brief": "b"}
    plan = RunPlan("packet", "packet", Path(), (), digests=tuple(digests.items()))
    (record,) = records(
        [{"agent": "world:clock+1d", "digests": digests, "experiment": {"kind": "world", "name": "clock+1d"}}]
    )
    record.failure_class = FailureClass.CONFIGURATION
    entry = Entry("t", "r", "packet", "settings", record, Path(), finished=True)
    assert decide(entry, plan, "settings")[0] is Action.REUSE
    record.failure_class = FailureClass.INTERRUPTED
    assert decide(entry, plan, "settings")[0] is Action.RERUN
    record.failure_class = FailureClass.CONFIGURATION
    edited = RunPlan("packet", "packet", Path(), (), digests=(("oracle", "new"), ("brief", "b")))
    assert decide(entry, edited, "settings") == (Action.RERUN, "rerun: oracle edited")


def test_files_of_two_images_are_compared_by_what_they_are():
    file, other = ["0", 0o644, 0, 0, "a"], ["0", 0o644, 0, 0, "b"]
    folder = ["5", 0o755, 0, 0, ""]
    before = {"app": folder, "app/x": file, "app/gone": folder, "app/gone/deep": file, "same": file}
    after = {"app": ["5", 0o700, 0, 0, ""], "app/x": other, "app/new": file, "same": file}
    assert drift(before, after) == [
        "/app (mode)", "/app/gone (only in the first)", "/app/new (only in the second)", "/app/x (content)",
    ]  # fmt: skip
