from itertools import pairwise, permutations

import pytest

from scenlint.stats import NotEnoughError
from scenlint.stats.repeat import consistency, fleiss_kappa, intraclass, pass_all, pass_at, runs, tarone


def test_pass_at_k_and_pass_all_k():
    assert [pass_at(k, 3, 8) for k in range(1, 6)] == pytest.approx(
        [0.375, 0.642857, 0.821429, 0.928571, 0.982143], abs=1e-6
    )
    assert [pass_all(k, 3, 8) for k in range(1, 5)] == pytest.approx([0.375, 0.107143, 0.017857, 0], abs=1e-6)
    assert pass_at(9, 3, 8) is None
    assert pass_all(9, 3, 8) is None


def test_consistency_of_pairs():
    assert [consistency(c, 8) for c in (8, 7, 6, 5, 4)] == pytest.approx(
        [1, 0.75, 0.571429, 0.464286, 0.428571], abs=1e-6
    )
    assert consistency(1, 1) is None


@pytest.mark.parametrize(
    ("passes", "z"), [([0, 4, 4, 8], 4.535574), ([4, 4, 4, 4], -1.511858), ([3, 5, 4, 4], -1.133893)]
)
def test_blocks_that_differ_by_more_than_chance(passes, z):
    assert tarone(passes, [8] * 4).z == pytest.approx(z, abs=1e-6)


def test_over_dispersion_has_a_p():
    assert tarone([0, 4, 4, 8], [8] * 4).p == pytest.approx(2.872e-06, rel=1e-3)


def test_without_spread_there_is_nothing_to_test():
    for ask in (
        lambda: tarone([8, 8, 8, 8], [8] * 4),
        lambda: tarone([1, 2], [8, 8]),
        lambda: tarone([1, 0, 1, 0, 1], [1] * 5),
        lambda: fleiss_kappa([8, 8], 8),
        lambda: intraclass([8, 8], 8),
    ):
        with pytest.raises(NotEnoughError):
            ask()


def test_agreement_and_correlation_within_scenarios():
    assert fleiss_kappa([8, 6, 4, 1, 0], 8) == pytest.approx(0.498747, abs=1e-6)
    assert intraclass([0, 4, 4, 8], 8) == pytest.approx(0.510204, abs=1e-6)


def test_runs_of_equal_outcomes():
    assert runs([True] * 4 + [False] * 4) == pytest.approx(2 / 70)
    assert runs([True, False] * 4) == pytest.approx(1)
    assert runs([True] * 8) == 1


def test_outcomes_that_alternate_have_too_many_runs():
    assert runs([True, False] * 5, more=True) == pytest.approx(2 / 252)
    assert runs([True] * 5 + [False] * 5, more=True) == pytest.approx(1)
    outcomes = [True, True, False, True, False, False, True]
    orders = set(permutations(outcomes))
    as_many = [o for o in orders if sum(a != b for a, b in pairwise(o)) >= sum(a != b for a, b in pairwise(outcomes))]
    assert runs(outcomes, more=True) == pytest.approx(len(as_many) / len(orders))


def test_one_block_of_trials_is_told_in_the_singular():
    with pytest.raises(NotEnoughError, match=r"^1 block of trials; over-dispersion needs 4$"):
        tarone([1], [8])
