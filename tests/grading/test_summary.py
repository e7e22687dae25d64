"""What recorded trials come to: reference values, an independent computation, and what no verdict never is."""

import itertools
import math
import random
import statistics

import pytest
from graded import controls, run_of, trial, trials

from scenlint.grading.output import summary_json, summary_text
from scenlint.grading.summary import summarise
from scenlint.task.record import Disposed, Disposition

KEYS = ("a", "b", "c", "d", "e")


def passing(number: int, of: int = 8) -> str:
    return "P" * number + "F" * (of - number)


@pytest.fixture
def reference():
    """Passes 8, 6, 4, 1 and 0 of 8, of which published figures are known."""
    letters = dict(zip(KEYS, map(passing, (8, 6, 4, 1, 0)), strict=True))
    return summarise(run_of(KEYS, 8), trials(**letters))


def test_the_suites_error_is_clustered_by_scenario(reference):
    mean = reference.rate.mean
    assert mean.value == pytest.approx(19 / 40)
    assert mean.error == pytest.approx(0.187083, abs=1e-6)  # taken as 40 independent trials it would be 0.078958
    assert mean.error == pytest.approx(statistics.stdev([1, 0.75, 0.5, 0.125, 0]) / math.sqrt(5))
    from scipy.stats import t

    low, high = t.interval(0.95, 4, 19 / 40, mean.error)
    assert low < 0  # which no rate is
    assert tuple(reference.rate.interval) == pytest.approx((0.0, high))


def test_each_scenario_has_its_intervals_and_its_consistency(reference):
    by = {r.scenario.key: r for r in reference.results}
    assert tuple(by["c"].interval) == pytest.approx((0.215216, 0.784784), abs=1e-6)
    assert tuple(by["c"].exact) == pytest.approx((0.157013, 0.842987), abs=1e-6)
    assert tuple(by["a"].interval) == pytest.approx((0.675592, 1.0), abs=1e-6)
    assert tuple(by["e"].interval) == pytest.approx((0.0, 0.324408), abs=1e-6)
    assert [by[k].consistency for k in KEYS] == pytest.approx([1, 0.571429, 0.428571, 0.75, 1], abs=1e-6)
    assert reference.consistency == pytest.approx(0.75)


@pytest.mark.parametrize(("k", "one", "every"), [(1, 0.375, 0.375), (2, 0.642857, 0.107143), (4, 0.928571, 0.0)])
def test_pass_at_k_and_pass_to_the_k_are_unbiased(k, one, every):
    result = summarise(run_of("a", 8), trials(a=passing(3))).results[0]
    assert result.pass_at(k) == pytest.approx(one, abs=1e-6)
    assert result.pass_all(k) == pytest.approx(every, abs=1e-6)
    assert result.pass_at(9) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_figures_are_those_of_an_independent_computation(seed):
    draw = random.Random(seed)
    letters = {f"s{n}": "".join(draw.choices("PFhTI", k=draw.randint(3, 9))) for n in range(draw.randint(2, 8))}
    found = summarise(run_of(letters, 3), trials(**letters))
    graded = {key: [letter == "P" for letter in said if letter != "I"] for key, said in letters.items()}
    every = [(key, float(passed)) for key, outcomes in graded.items() for passed in outcomes]
    mean = sum(value for _, value in every) / len(every)
    # Miller's sum over all pairs of one cluster, with the correction for few clusters.
    pairs = sum((v - mean) * (w - mean) for k, v in every for other, w in every if k == other)
    clusters = len({key for key, _ in every})
    assert found.rate.mean.value == pytest.approx(mean)
    assert found.rate.mean.error == pytest.approx(math.sqrt(pairs) / len(every) * math.sqrt(clusters / (clusters - 1)))
    for result in found.results:
        outcomes = graded[result.scenario.key]
        pairs = list(itertools.combinations(outcomes, 2))
        assert result.outcomes == tuple(outcomes)
        if pairs:
            assert result.consistency == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
        if len(outcomes) >= 3:
            three = list(itertools.combinations(outcomes, 3))
            assert result.pass_at(3) == pytest.approx(sum(any(c) for c in three) / len(three))
            assert result.pass_all(3) == pytest.approx(sum(all(c) for c in three) / len(three))


def test_what_has_no_verdict_is_no_zero():
    result = summarise(run_of("a", 3), trials(a="PIPLSP")).results[0]
    assert (result.passes, result.trials, result.excluded, result.missing) == (3, 3, 3, 0)
    assert result.rate == 1.0
    assert result.exclusions == {"infrastructure": 1, "provider": 1, "interrupted": 1}
    assert result.left_out[0] == ("run-1-a-2", "infrastructure", "no room on this machine")


def test_a_scenario_without_a_graded_trial_has_no_rate_and_is_left_out_of_the_suites():
    found = summarise(run_of("ab", 2), trials(a="PP", b="II"))
    assert (found.results[1].rate, found.rate.mean.value, found.complete) == (None, 1.0, False)
    assert any("b: no trial was graded" in note for note in found.notes)


def test_what_ran_into_its_limits_was_refused_or_cheated_has_failed_with_its_class():
    result = summarise(run_of("a", 6), trials(a="PTBRCK")).results[0]
    assert (result.passes, result.trials, result.excluded) == (1, 6, 0)
    assert result.failures == {"agent-timeout": 1, "budget": 1, "refusal": 1, "cheating": 1, "agent-crash": 1}
    assert result.rewards[4] == 0.0  # what was cheated for is nothing


def test_a_fault_that_only_the_agent_runs_into_is_its_failure():
    result = summarise(run_of("a", 2), [*trials(a="PX"), *controls("a")]).results[0]
    assert (result.passes, result.trials, result.without_verdict) == (1, 2, 1)
    assert "tampering" in dict(result.persons)["run-1-a-2"]


@pytest.mark.parametrize("known", [[], controls("a", oracle="X")])
def test_a_fault_that_a_control_shows_too_or_that_nothing_can_be_compared_with_is_excluded(known):
    result = summarise(run_of("a", 2), [*trials(a="PX"), *known]).results[0]
    assert (result.passes, result.trials, result.excluded) == (1, 1, 1)


def test_partial_credit_is_told_beside_the_pass_rate():
    partial = summarise(run_of("ab", 2), trials(a="Ph", b="hF"))
    assert (partial.rate.mean.value, partial.reward.mean.value, partial.partial) == (0.25, 0.5, True)
    assert "mean reward 0.50" in summary_text(partial)
    whole = summarise(run_of("ab", 2), trials(a="PF", b="FF"))
    assert (whole.rate.mean.value, whole.reward.mean.value, whole.partial) == (0.25, 0.25, False)
    assert "reward" not in summary_text(whole)


def test_what_a_person_decided_counts():
    said = [
        Disposition("run-1-a-2", Disposed.EXCLUDED, "the mirror was down", "maintainer"),
        Disposition("run-1-a-1", Disposed.CHEATING, "read the tests", "reviewer"),
    ]
    result = summarise(run_of("a", 3), trials(a="PFP"), said).results[0]
    assert (result.passes, result.trials, result.excluded) == (1, 2, 1)
    assert result.failures == {"cheating": 1}


def test_trials_of_a_misaligned_task_are_void():
    said = [Disposition("sha256:a", Disposed.MISALIGNED, "the verifier wants kilometres", "maintainer")]
    found = summarise(run_of("ab", 2), trials(a="FF", b="PP"), said)
    assert (found.results[0].trials, found.results[0].void) == (0, "the verifier wants kilometres")
    assert found.rate.mean.value == 1.0


def test_trials_are_taken_in_launch_order_and_other_runs_do_not_count():
    mixed = [trial("a", "F", 2), trial("a", "P", 1), trial("a", "P", 3, run="run-2")]
    assert summarise(run_of("a", 2), mixed).results[0].outcomes == (True, False)


def test_where_all_scenarios_come_out_alike_there_is_no_false_certainty():
    found = summarise(run_of(KEYS, 8), trials(**dict.fromkeys(KEYS, "P" * 8)))
    assert (found.rate.mean.value, found.rate.mean.error) == (1.0, 0.0)
    assert found.rate.interval.low == pytest.approx(5 / (5 + 1.959964**2), abs=1e-6)  # as of 5 draws


def test_of_one_scenario_there_is_no_interval_of_the_suite():
    found = summarise(run_of("a", 8), trials(a=passing(4)))
    assert (found.rate.mean.error, found.rate.interval) == (None, None)
    assert "of one scenario there is no interval" in summary_text(found)


def test_cost_and_time_are_told_and_an_unknown_cost_is_not_zero():
    records = [*trials(a="PF"), trial("a", "I", 3), trial("a", "P", 4, cost=None, seconds=40.0)]
    found = summarise(run_of("a", 3), records)
    assert (found.cost.trials, found.cost.known, found.cost.total, found.spent) == (3, 2, 0.5, 0.75)
    assert (found.duration.total, found.duration.median) == (60.0, 10.0)
    assert found.results[0].acting == (5.0, 5.0, 20.0)
    text = summary_text(found)
    assert "cost 0.50 USD, 0.25 USD a trial, 0.75 USD with the excluded ones; of 1 trial it is not known" in text


def test_a_person_is_told_what_stands_out():
    found = summarise(run_of("a", 8), trials(a="TTTPPFFC"))
    assert any(note.startswith("the agent ran out of time in 3 of 8 trials") for note in found.notes)
    assert any(note.startswith("cheating in 1 trial:") for note in found.notes)


def test_the_json_has_every_figure(reference):
    told = summary_json(reference)
    assert told["suite"]["rate"]["clusters"] == 5
    assert told["suite"]["pass_at"]["8"] == pytest.approx(4 / 5)
    assert told["suite"]["pass_all"]["8"] == pytest.approx(1 / 5)
    assert [s["rate"] for s in told["scenarios"]] == [1, 0.75, 0.5, 0.125, 0]
    assert told["scenarios"][1]["failures"] == {"wrong-answer": 2}
    assert told["complete"] is True
