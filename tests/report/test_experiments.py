"""What experiments come to, in figures and sentences with their power."""

import json
from pathlib import Path

import pytest

from scenlint.report import json as as_json
from scenlint.report.experiments import figures, flake_bound, sentences, sums
from scenlint.report.model import Report, TrialLine
from scenlint.report.style import Style
from scenlint.testing import records

ORACLE = {"agent": "oracle", "reward": 1.0}
NOP = {"agent": "nop", "reward": 0.0}


def made(kind: str, name: str, outcome: str, reward: float | None = 0.0, **more) -> dict:
    experiment = {"kind": kind, "name": name, "outcome": outcome, **more}
    return {"agent": f"{kind}:{name}", "reward": reward, "experiment": experiment}


def regraded(*outcomes: str) -> list[dict]:
    return [
        {**made("world", "regraded", o, 1.0 if o == "same" else 0.0), "attempt": n} for n, o in enumerate(outcomes, 1)
    ]


def report(*trials: dict, tmp_path: Path = Path("/ledger")) -> Report:
    lines = [TrialLine(record, tmp_path / record.id) for record in records([ORACLE, NOP, *trials])]
    return Report("0.1", Path.cwd(), tasks=1, trials=lines)


def told(*trials: dict) -> list[str]:
    (one,) = sums(report(*trials))
    return sentences(one)


@pytest.mark.parametrize(
    ("differ", "graded", "bound"), [(0, 3, 0.631597), (0, 5, 0.450720), (0, 20, 0.139108), (0, 59, 0.049508)]
)
def test_no_difference_is_no_proof_and_the_bound_says_how_little_it_is(differ, graded, bound):
    assert flake_bound(differ, graded) == pytest.approx(bound, abs=1e-5)


def test_a_statement_carries_its_power():
    assert told(*regraded(*["same"] * 20)) == [
        "frozen work: 0 of 20 gradings differ: flake rate below 14 % at 95 %",
    ]
    (sentence,) = told(*regraded("same", "same", "same", "differs", "same"))
    assert sentence.startswith("frozen work: 1 of 5 gradings differ: flake rate below 66 %")


def test_what_was_not_made_is_counted_apart_with_its_reason():
    first = made("world", "clock+1d", "skipped", None, reason="it took no effect")
    other = made("world", "clock+1y", "skipped", None, reason="it took no effect")
    assert told(first, other) == ["not made: clock+1d, clock+1y: it took no effect"]


def test_each_kind_of_experiment_has_its_sentence():
    trials = [
        made("probe", "empty-files", "holds"),
        made("probe", "path-shims", "broken", 1.0),
        *[{**made("mutant", "drop-row", "killed", expected="must-die"), "attempt": n} for n in range(17)],
        *[{**made("mutant", "swap", "survived", 1.0, expected="must-die"), "attempt": n} for n in range(3)],
        made("mutant", "indent", "survived", 1.0, expected="must-live"),
        made("mutant", "sorted", "killed", expected="open"),
        made("world", "zone-east", "differs"),
        made("world", "zone-west", "same", 1.0),
    ]
    assert told(*trials) == [
        "probes: 1 held, 1 broken",
        "mutants: 17 of 20 wrong results noticed (64 to 95 % at 95 %), 1 of 1 equally right ones accepted "
        "(21 to 100 % at 95 %), 1 for a person to judge",
        "another verdict in the worlds: zone-east",
        "the same verdict in the worlds: zone-west",
    ]
    (one,) = sums(report(*trials))
    data = figures(one)
    assert data["kill"] == {"of": 20, "rate": 0.85, "low": 0.6396, "high": 0.9476}
    assert data["probes"] == {"holds": 1, "broken": 1}


def test_json_has_the_experiment_of_each_trial_and_the_figures_of_each_task():
    given = report(*regraded("same"), made("probe", "garbage", "holds", did="wrote noise", evidence="reward 0"))
    data = json.loads(as_json.render(given, Style()))
    probe = next(t for t in data["trials"] if t["agent"] == "probe:garbage")
    assert (probe["experiment"]["did"], probe["experiment"]["outcome"]) == ("wrote noise", "holds")
    (task,) = data["experiments"]
    assert task["regraded"] == {"gradings": 1, "differ": 0, "flake_rate_below": 0.95}


def test_without_experiments_nothing_is_said_of_them():
    assert sums(report()) == []
    assert "experiments" not in json.loads(as_json.render(report(), Style()))


def test_mutants_are_counted_for_each_criterion_kill_and_tolerance_apart():
    def of(criterion: str, outcome: str, expected: str, attempt: int) -> dict:
        reward = 1.0 if outcome == "survived" else 0.0
        return {
            **made("mutant", "drop-row", outcome, reward, expected=expected, criterion=criterion), "attempt": attempt
        }  # fmt: skip

    trials = [
        of("10", "killed", "must-die", 1),
        of("2", "killed", "must-die", 2), of("2", "survived", "must-die", 3), of("2", "killed", "must-live", 4),
        of("", "survived", "must-die", 5),
    ]  # fmt: skip
    (one,) = sums(report(*trials))
    assert [(c["criterion"], c["open"]) for c in figures(one)["criteria"]] == [("2", 0), ("10", 0)]
    second, tenth = figures(one)["criteria"]
    assert second["kill"] == {"of": 2, "rate": 0.5, "low": 0.0945, "high": 0.9055}
    assert second["tolerance"] == {"of": 1, "rate": 0.0, "low": 0.0, "high": 0.7935}
    assert tenth["tolerance"] is None
    assert told(*trials) == [
        "mutants: 2 of 4 wrong results noticed (15 to 85 % at 95 %), 0 of 1 equally right ones accepted "
        "(0 to 79 % at 95 %)",
        "mutants of criterion 2: 1 of 2 wrong results noticed (9 to 91 % at 95 %), 0 of 1 equally right ones accepted "
        "(0 to 79 % at 95 %)",
    ]
