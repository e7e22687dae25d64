"""The rule `unstated-threshold`, beyond the examples on its page."""

import pytest

BRIEF = (
    "Train a classifier on `/app/train.csv` and write its predictions to `/app/predictions.json`. It should be good.\n"
)


def check(body: str) -> str:
    return (
        "import json, os, time\n\n\ndef test_quality():\n    data = json.load(open('/app/predictions.json'))\n"
        f"    accuracy = sum(data) / 40\n    {body}\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "assert accuracy >= 0.85",
        "assert not accuracy < 0.85",
        "if accuracy < 0.85:\n        raise AssertionError('too low')",
        "good = accuracy > 0.85\n    assert good",
        "assert 0.85 <= accuracy, 'wrong'",
        "assert os.path.getsize('/app/predictions.json') < 4500",
        "assert all(len(line) <= 280 for line in data)",
    ],
)
def test_a_bound_that_nobody_told(findings, body):
    found = findings("unstated-threshold", brief=BRIEF, tests=check(body), solve=None)
    assert [f.location.line for f in found] == [7]


@pytest.mark.parametrize(
    "told",
    [
        "Its accuracy is at least 0.85.",
        "At least 85 % of the predictions are right.",
        "At most 15% of the predictions are wrong.",
        "At least 85 percent are right.",
        "Der Anteil beträgt mindestens 85 %.",
        "准确率不低于85%。",
        "It reaches 0.9.",  # more than the verifier asks for: the rest is a margin
    ],
)
def test_the_brief_may_give_it_in_other_forms(findings, told):
    assert not findings(
        "unstated-threshold", brief=BRIEF + told + "\n", tests=check("assert accuracy >= 0.85"), solve=None
    )


def test_less_than_the_verifier_asks_for_does_not_tell_it(findings):
    assert findings(
        "unstated-threshold", brief=BRIEF + "It reaches 0.8.", tests=check("assert accuracy >= 0.85"), solve=None
    )


@pytest.mark.parametrize(
    "body",
    [
        "assert len(data) >= 12",  # so many does the right answer have
        "assert len(str(data)) > 20, 'the file seems empty'",
        "assert accuracy > 0",
        "assert accuracy <= 1.0",
        "assert accuracy >= 0.7 and accuracy <= 0.75",  # the answer, give or take
        "assert abs(accuracy - 0.85) < 0.01",
        "if accuracy > 0.85:\n        print('very good')",
        "assert accuracy < 1000000000",
    ],
)
def test_no_threshold_of_quality_or_cost(findings, body):
    assert not findings("unstated-threshold", brief=BRIEF, tests=check(body), solve=None)


def test_a_number_worked_out_from_stated_ones_is_told(findings):
    brief = BRIEF + "No more than one percent of the 30000 parameters are trained.\n"
    tests = check("assert data['num_params'] < 30000 * 0.01")
    assert not findings("unstated-threshold", brief=brief, tests=tests, solve=None)


@pytest.mark.parametrize("brief", ["It has to be identical to `/app/train.csv`.", "Make an exact copy of it."])
def test_a_margin_to_what_has_to_be_identical(findings, brief):
    assert not findings("unstated-threshold", brief=BRIEF + brief, tests=check("assert accuracy >= 0.995"), solve=None)
    assert findings("unstated-threshold", brief=BRIEF + brief, tests=check("assert accuracy >= 0.2"), solve=None)
