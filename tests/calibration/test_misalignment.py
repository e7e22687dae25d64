"""Signs that failures are the task's fault and not the agents'."""

import pytest

from scenlint.rulings.misalignment import Signal, beside, doubt, holds_up, signals
from scenlint.task.record import (
    CheckResult,
    Disposed,
    Disposition,
    Experiment,
    FailureClass,
    Phase,
    Status,
    TrialRecord,
)
from scenlint.testing import base_task, load_task

DETAIL = "AssertionError: '41' != '42'"


@pytest.fixture
def task(tmp_path):
    return load_task(base_task("packet", tmp_path / "product"))


@pytest.fixture
def unsaid(tmp_path):
    """A task whose verifier checks something that its brief says nothing of."""
    folder = base_task("harbor", tmp_path / "unsaid")
    test = folder / "tests/test_outputs.py"
    added = '    def test_mode(self):\n        self.assertEqual(Path("/srv/x").stat().st_mode, 0o100640)\n\n\n'
    test.write_text(test.read_text().replace("\nif __name", f"{added}if __name", 1))
    return load_task(folder)


def trial(
    agent: str, number: int, reward: float = 0.0, detail: str = DETAIL, check: str = "test 1", **more
) -> TrialRecord:
    passed = reward == 1.0
    return TrialRecord(
        f"{agent}-{number}", "product", "packet", agent, reward, Status.PASSED if passed else Status.FAILED,
        None if passed else FailureClass.WRONG_ANSWER, phases=[Phase("agent")],
        checks=[CheckResult(check, passed, label=check, detail="" if passed else detail)], **more,
    )  # fmt: skip


def failures(agent: str, detail: str = DETAIL, number: int = 4, **more) -> list[TrialRecord]:
    return [trial(agent, n, detail=detail, **more) for n in range(number)]


def names(found: list[Signal]) -> set[str]:
    return {s.name for s in found}


def test_a_fixed_message_of_the_verifier_is_no_value_that_agents_agree_on(task):
    (verifier,) = [file for file in task.verifier.files if file.language == "python"]
    message = "Criterion 1: answer.txt in the working directory holds the product."
    assert message in verifier.text
    told = f"Traceback (most recent call last):\n    assert answer\nAssertionError: {message}"
    found = signals(task, [*failures("strong", told), *failures("weak", told)])
    assert "M1" in names(found)
    assert not {"M2", "M4"} & names(found)
    assert found[0].made == (f"AssertionError: {message}",)


def test_a_value_that_is_seen_again_and_again_is_a_sign(task):
    found = signals(task, [*failures("strong"), *failures("weak")])
    assert [s.made for s in found if s.name == "M2"] == [(DETAIL,)]


def test_a_check_that_is_not_known_by_name_is_not_said_to_answer_to_nothing(task):
    found = signals(task, [*failures("strong"), *failures("weak")])
    assert "M4" not in names(found)
    assert all("not known" in s.brief for s in found if s.check)


def test_the_trap_one_check_and_one_value_alone_never_hold_a_scenario_up(task):
    found = signals(task, [*failures("strong", number=3), *failures("weak", number=3), trial("strong", 9, 1.0)])
    assert names(found) == {"M1", "M2"}
    assert not holds_up(found)


@pytest.mark.parametrize("kind", ["calibration", "grade"])
def test_trials_of_another_agents_calibration_count_too(task, kind):
    ours = [trial("weak", n, experiment=Experiment("calibration", "two", "1")) for n in range(3)]
    theirs = [trial("strong", n, experiment=Experiment(kind, "one", "1")) for n in range(3)]
    assert "M1" in names(signals(task, [*ours, *theirs]))
    assert "M1" not in names(signals(task, ours))


def test_agents_that_agree_on_what_the_brief_does_not_settle_hold_it_up(unsaid):
    told = "AssertionError: '644' != '640'"
    found = signals(unsaid, [*failures("strong", told, check="test_mode"), *failures("weak", told, check="test_mode")])
    assert {"M1", "M2", "M3", "M4"} <= names(found)
    assert holds_up(found)
    sign = next(s for s in found if s.name == "M4")
    assert list(beside(sign)) == ["check: test_mode", "brief: nothing that the check answers to", f"seen:  {told}"]
    assert set(sign.trials) == {f"{a}-{n}" for a in ("strong", "weak") for n in range(4)}


def test_a_grader_that_lists_its_tests_is_no_check_beside_them(unsaid):
    records = [*failures("strong", check="test_mode"), *failures("weak", check="test_mode")]
    for record in records:
        record.checks.append(CheckResult("test.sh", False, label="test.sh", detail="exit status 1"))
    assert {"M1", "M4"} <= names(signals(unsaid, records))


def test_a_person_who_has_looked_is_not_asked_again(unsaid):
    said = [Disposition("d", Disposed.ALIGNED, "the brief's table settles it", "maintainer")]
    told = "AssertionError: '644' != '640'"
    assert signals(unsaid, failures("weak", told, check="test_mode", dispositions=said)) == []


def test_stronger_agents_that_do_worse_are_a_sign(task):
    weak = [trial("weak", n, 1.0, strength=0.2) for n in range(8)]
    strong = [trial("strong", n, strength=0.8) for n in range(8)]
    (sign,) = [s for s in signals(task, [*weak, *strong]) if s.name == "M5"]
    assert "D = -1.00" in sign.text
    assert sign.made == ("weak: 8 of 8 here, 20% on other scenarios", "strong: 0 of 8 here, 80% on other scenarios")
    assert "M5" not in names(signals(task, [trial("strong", n, 1.0, strength=0.8) for n in range(8)]))


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("AssertionError: '42\\n' != '42'", "white space"),
        ("AssertionError: 'Paid' != 'PAID'", "letter case"),
        ("assert 41.67 == 41.666667", "rounding"),
        ("assert '1,200.5' == '1200.50'", "rounding"),
        ("AssertionError: '41' != '42'", ""),
        ("AssertionError: Criterion 1", ""),
    ],
)
def test_a_near_miss_is_told_as_one(task, said, near):
    (sign,) = [s for s in signals(task, failures("weak", said)) if s.name == "M2"] or [None]
    assert (
        (f"a near miss: it differs in {near} only" in sign.text) if near else (sign is None or "near" not in sign.text)
    )


def test_errors_that_the_check_itself_runs_into_are_a_mild_sign(task):
    found = signals(task, failures("weak", "Traceback (most recent call last):\n  x\nKeyError: 'total'"))
    assert "M10" in names(found)
    assert not holds_up(found)
    for judged in ("AssertionError: 'a' != 'b'", "FileNotFoundError: [Errno 2] No such file: 'answer.txt'"):
        assert "M10" not in names(signals(task, failures("weak", judged)))


def test_what_nobody_solves_is_a_sign(task):
    assert "M6" in names(signals(task, failures("weak", number=8)))
    assert "M6" not in names(signals(task, [*failures("weak", number=8), trial("strong", 1, 1.0)]))


def test_timeouts_and_other_exclusions_are_no_failures_that_show_anything(task):
    late = [trial("weak", n) for n in range(8)]
    for record in late:
        record.failure_class = FailureClass.AGENT_TIMEOUT
    assert signals(task, late) == []


def test_free_variation_that_was_failed_is_a_sign(task):
    made = Experiment("mutant", "key-order", "answer.txt", "must-live", "wrote the keys in another order",
                      "killed", reason="the brief names no order")  # fmt: skip
    (sign,) = signals(task, [trial("mutant:key-order", 1, experiment=made)])
    assert (sign.name, sign.check, sign.brief) == ("M7", "test 1", "the brief names no order")
    assert holds_up([sign])


def test_what_only_the_solution_can_know_is_a_sign(tmp_path):
    folder = base_task("harbor", tmp_path / "product")
    solve = folder / "solution/solve.sh"
    solve.write_text(solve.read_text() + "curl -fsS https://rates.example.com/2026.csv >> /app/answer.txt\n")
    solve.write_text(solve.read_text().replace("rates.example.com", "rates.harbour-dues.eu"))
    task = load_task(folder)
    (sign,) = [s for s in signals(task, failures("weak")) if s.name == "M8"]
    assert "`https://rates.harbour-dues.eu/2026.csv`" in sign.text
    assert sign.made[0].startswith("curl -fsS")
    brief = folder / "instruction.md"
    brief.write_text(brief.read_text() + "\nRates: https://rates.harbour-dues.eu/2026.csv\n")
    assert "M8" not in names(signals(load_task(folder), failures("weak")))


def test_an_example_gives_no_sign_of_what_only_its_solution_knows(tmp_path):
    for form in ("harbor", "packet", "waza", "terminal-bench"):
        task = load_task(base_task(form, tmp_path / form))
        assert "M8" not in names(signals(task, failures("weak")))


def test_logs_that_weigh_two_readings_are_a_sign_from_two_trials_on(task):
    line = doubt("reading\nThis could mean the gross or the net sum.\nI take the gross one\n")
    assert line == "This could mean the gross or the net sum."
    assert doubt("I read the brief and wrote the sum.\n") == ""
    made = Experiment("calibration", "two", "1", evidence=line)
    one = trial("weak", 1, 1.0, experiment=made)
    assert signals(task, [one]) == []
    (sign,) = signals(task, [one, trial("weak", 2, 1.0, experiment=made)])
    assert (sign.name, sign.made) == ("M9", (line,))


def test_two_signs_of_which_one_is_more_than_the_trap_hold_it_up():
    assert holds_up([Signal("M1", ""), Signal("M6", "")])
    assert not holds_up([Signal("M6", "")])
    assert holds_up([Signal("M3", "")])
