"""What recorded trials of several agents say about each scenario."""

import pytest

from scenlint.calibration.discrimination import scenarios
from scenlint.task.record import CheckResult, Disposed, Disposition, FailureClass, Phase, Status, TrialRecord

# Passes of 8: agents from weak to strong; scenarios: good, good, ceiling, noise, floor.
REF = [[0, 2, 7, 4, 0], [1, 3, 8, 3, 0], [3, 4, 7, 5, 0], [5, 5, 8, 4, 0], [7, 6, 8, 3, 0], [8, 7, 8, 5, 0]]


def trials(task: str, agent: str, passes: int, of: int = 8, failure: FailureClass = FailureClass.WRONG_ANSWER):
    for n in range(of):
        won = n < passes
        yield TrialRecord(
            f"{task}-{agent}-{n}", task, "harbor", agent, float(won), Status.PASSED if won else Status.FAILED,
            None if won else failure, phases=[Phase("agent")], checks=[CheckResult("a", won)], task_digest="d",
        )  # fmt: skip


@pytest.fixture
def recorded():
    return [t for a, row in enumerate(REF, 1) for s, n in enumerate(row, 1) for t in trials(f"S{s}", f"A{a}", n)]


def test_scenarios_are_labelled_by_two_arms(recorded):
    found = {s.task: s for s in scenarios(recorded, weak=["A1", "A2"], strong=["A5", "A6"])}
    assert {t: s.label for t, s in found.items()} == {
        "S1": "discriminates", "S2": "discriminates", "S3": "none", "S4": "none", "S5": "none",
    }  # fmt: skip
    assert (found["S1"].arms.difference, found["S1"].arms.auc) == (0.875, 0.9375)
    assert found["S5"].flags == ["floor"]
    assert found["S1"].q >= found["S1"].arms.p


def test_with_six_agents_there_are_correlations_and_curves(recorded):
    found = {s.task: s for s in scenarios(recorded)}
    assert found["S1"].item_rest.kendall == pytest.approx(0.966092, abs=1e-6)
    assert found["S1"].curve.exploratory
    assert found["S1"].curve.a > found["S4"].curve.a


def test_one_agent_shows_difficulty_only():
    (found,) = scenarios(trials("S1", "A1", 3))
    assert found.label == "difficulty only"
    assert (found.rates["A1"].passes, found.rates["A1"].trials) == (3, 8)
    assert set(found.lacks) == {"arms", "item_rest", "curve"}
    assert found.as_json()["agents"]["A1"]["pass_at"][8] == 1.0


def test_excluded_trials_are_no_failures():
    records = [*trials("S1", "A1", 2, 4), *trials("S1", "A1", 0, 3, FailureClass.AGENT_TIMEOUT)]
    (found,) = scenarios(records)
    assert (found.rates["A1"].trials, found.rates["A1"].excluded) == (4, 3)


def test_what_a_person_decided_counts():
    records = list(trials("S1", "A1", 2, 4))
    said = [Disposition("S1-A1-3", Disposed.EXCLUDED, "the mirror was down", "maintainer")]
    (found,) = scenarios(records, said=said)
    assert (found.rates["A1"].trials, found.rates["A1"].excluded) == (3, 1)
    (found,) = scenarios(records, said=[Disposition("d", Disposed.MISALIGNED, "units", "maintainer")])
    assert found.flags == ["misaligned: its trials are void"]


def test_stronger_agents_that_do_worse_are_flagged():
    records = [*trials("S1", "weak", 15, 16), *trials("S1", "strong", 1, 16)]
    (found,) = scenarios(records, weak=["weak"], strong=["strong"])
    assert found.label == "inverted"
    assert "misalignment" in found.flags[0]


def test_the_two_stage_rule_on_trials_that_ran_elsewhere():
    records = [*trials("S1", "weak", 1, 10), *trials("S1", "strong", 10, 10), *trials("S2", "weak", 0, 10)]
    for n, record in enumerate(records):
        record.started = f"2026-01-01T00:{n:02}"
    found = {(s.task, agent): rate.rule for s in scenarios(records) for agent, rate in s.rates.items()}
    assert found["S1", "weak"] == "admissible (stage two: 8 genuine failures of 8 trials)"
    assert found["S1", "strong"].startswith("retired (stage one: 0 genuine failures of 2 trials")
    assert found["S2", "weak"].startswith("never-solved")


def test_an_agent_whose_trials_are_not_independent_is_flagged():
    (found,) = scenarios(trials("S1", "A1", 5, 10))
    assert found.flags == ["A1: passes and failures come in blocks (PPPPPFFFFF; so few changes by chance: p = 0.0079)"]


def test_oracle_and_nop_are_nobodys_rate():
    assert scenarios([*trials("S1", "oracle", 8), *trials("S1", "nop", 0)]) == []
