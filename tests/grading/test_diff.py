"""A run against its baseline: which lines change and which are noise, and what was decided about them."""

import json
import random
from dataclasses import replace

import pytest
from graded import controls, run_of, trial

from scenlint.grading.audit import Chain, path_of, trial_data, verify
from scenlint.grading.diff import Diff, Kind, diff
from scenlint.grading.diff.compare import noticed
from scenlint.grading.diff.tell import open_lines, text
from scenlint.grading.dispositions import Disposition, decide, find, history, outdated, record, standing
from scenlint.grading.output import summary_json
from scenlint.grading.summary import summarise
from scenlint.harness.ledger import Ledger
from scenlint.task.record import Disposed
from scenlint.task.record import Disposition as Triaged

STEADY = {f"steady-{n}": "PPPPPPFF" for n in range(5)}


def records(run: str, letters: dict, **more) -> list:
    return [trial(key, x, n, run=run, **more) for key, said in letters.items() for n, x in enumerate(said, 1)]


def summary(run: str, letters: dict, *, said=(), **more):
    made = replace(run_of(letters, max(map(len, letters.values()))), id=run)
    return summarise(made, records(run, letters, **more), said)


def compared(before: dict, after: dict, **more) -> Diff:
    return diff(summary("base", before), summary("run", after, **more))


def names(found: Diff) -> list[str]:
    return [line.name for line in found.lines]


# ---------------------------------------------------------------- what a changed line is


def test_noise_changes_no_line():
    found = compared({**STEADY, "a": "PPPPPPPP"}, {**STEADY, "a": "PPPPPPPF", "steady-0": "PPPPFFFF"})
    assert found.lines == []
    assert "no line changed" in text(found, ())


def test_a_fall_is_tested_exactly_and_with_the_others_in_view():
    found = compared({**STEADY, "a": "PPPPPPPP"}, {**STEADY, "a": "PPPFFFFF"})
    assert names(found) == ["a:pass-rate"]
    (a,) = [s for s in found.scenarios if s.key == "a"]
    assert a.fall == pytest.approx((0.008055 / 2, 6 * 0.008055 / 2), abs=2e-6)
    assert (found.lines[0].worse, found.lines[0].text) == (True, "passes fell from 8 of 8 to 3 of 8 (q 0.024)")


def test_the_change_has_an_interval():
    (a,) = compared({"a": "PPPPPPPP"}, {"a": "PPPPFFFF"}).scenarios
    assert (a.change, *a.interval) == pytest.approx((-0.5, -0.784784, -0.068326), abs=1e-6)


def test_what_is_significant_alone_may_be_chance_among_many():
    many = {f"s{n}": "PPPPPPPP" for n in range(40)}
    assert compared({"a": "PPPPPPPP"}, {"a": "PPPPPFFF"}).lines[0].kind is Kind.PASS_RATE
    assert compared({"a": "PPPPPPPP", **many}, {"a": "PPPPPFFF", **many}).lines == []


def test_a_rise_is_a_change_too():
    found = compared({"a": "FFFFFFFF"}, {"a": "PPPPPFFF"})
    assert (names(found), found.lines[0].worse) == (["a:pass-rate"], False)


def test_all_against_none_needs_no_test_but_three_trials():
    many = {f"s{n}": "PPP" for n in range(40)}
    assert names(compared({"a": "PPP", **many}, {"a": "FFF", **many})) == ["a:pass-rate"]
    assert compared({"a": "PP", **many}, {"a": "FF", **many}).lines == []


@pytest.mark.parametrize(("passes", "down_to"), [(8, 5), (7, 3), (6, 2), (5, 1), (4, 0)])
def test_the_fall_that_would_have_been_noticed(passes, down_to):
    assert noticed(passes, 8, 8) == down_to


def test_what_the_trials_could_show_is_said():
    found = text(compared(STEADY, STEADY), ())
    told = (
        "8 against 8 trials (5 scenarios): a fall from 8 to 5 would have been noticed in a scenario that is tested by"
    )
    assert f"{told} itself; of 5, if no other fell, one to 3" in found
    assert "2 against 2 trials (1 scenario): too few to notice any fall" in text(compared({"a": "PP"}, {"a": "PP"}), ())
    assert "a fall from 2 of 2 to 1 of 8 would" in text(compared({"a": "PP"}, {"a": "PPPPPPPP"}), ())


def test_few_false_lines_where_nothing_changed():
    """Of diffs of scenarios with steady rates 5 % at the most have a false fall, and as many a false rise."""
    rng = random.Random(4)
    rates = {f"s{n}": rng.random() for n in range(5)}

    def drawn() -> dict:
        return {key: "".join("FP"[rng.random() < rate] for _ in range(8)) for key, rate in rates.items()}

    false = sum(bool(compared(drawn(), drawn()).lines) for _ in range(300))
    assert false <= 0.1 * 300


def test_a_new_class_of_failure_changes_a_line_and_a_new_wrong_answer_does_not():
    found = compared({"a": "PPPF", "b": "PTTT"}, {"a": "PPRF", "b": "PPTT"})
    assert names(found) == ["a:failure-class"]
    assert found.lines[0].text == "failures of a new class: refusal in 1 trial of 4"
    assert compared({"a": "PPPP"}, {"a": "PPFIS"}).lines == []


def test_cost_and_time_change_lines_when_they_shift_and_matter():
    letters = {"a": "P" * 8}
    base = summary("base", letters)

    def against(cost: float, seconds: float = 10.0) -> list[str]:
        return names(diff(base, summary("run", letters, cost=cost, seconds=seconds)))

    assert against(0.5) == ["a:cost"]
    assert against(0.1) == ["a:cost"]
    assert against(0.26) == []
    assert against(0.25, 14.0) == ["a:time"]
    found = diff(base, summary("run", letters, cost=0.5))
    assert (found.lines[0].worse, found.scenarios[0].cost.ratio) == (True, pytest.approx(2.0))
    few = diff(summary("base", {"a": "PPP"}), summary("run", {"a": "PPP"}, cost=9.0))
    assert few.lines == []
    assert "costs of 1 of 1 scenario were not compared" in few.notes[-1]


def test_partial_rewards_change_a_line_where_no_trial_passes():
    found = compared({"a": "hhhhhhhh"}, {"a": "FFFFFFFh"})
    assert names(found) == ["a:reward"]
    assert found.lines[0].text.startswith("the mean reward fell from 0.50 to 0.06")
    assert compared({"a": "hhhhhhhh"}, {"a": "hhhhhhhF"}).lines == []


def test_a_changed_environment_is_said_and_nothing_of_it_compared():
    base, run = summary("base", {"a": "PPPPPPPP"}), records("run", {"a": "FFFFFFFF"})
    for made in run:
        made.task_digest = "sha256:other"
    found = diff(base, summarise(replace(run_of("a", 8), id="run"), run))
    assert names(found) == ["a:environment"]
    assert "what it is has changed (task)" in found.lines[0].text
    assert found.scenarios[0].fall is None
    assert "environment changed" in text(found, ())


def test_another_image_or_budget_is_another_environment():
    one, two = records("base", {"a": "PPPP"}), records("run", {"a": "PPPP"})
    for made in two:
        made.image_digest = "sha256:2"
    run = replace(run_of("a", 4), id="base", budgets={"a": {"agent_seconds": 900}})
    other = replace(run, id="run", budgets={"a": {"agent_seconds": 600}})
    assert diff(summarise(run, one), summarise(other, two)).scenarios[0].environment == ("budget (agent_seconds)",)
    for made in one:
        made.image_digest = "sha256:1"
    found = diff(summarise(run, one), summarise(replace(other, budgets=run.budgets), two))
    assert found.scenarios[0].environment == ("image",)


def test_scenarios_that_came_or_went_and_those_without_a_graded_trial():
    found = compared({"a": "PPP", "b": "PPP", "c": "PPP"}, {"b": "PPP", "c": "III", "d": "PPP"})
    assert names(found) == ["a:removed", "c:ungraded", "d:added"]
    assert found.lines[1].text.startswith("no trial of this run was graded (infrastructure 3)")


def test_trials_that_a_person_voided_are_not_compared():
    said = [Triaged("sha256:a", Disposed.MISALIGNED, "the brief is wrong", "maintainer")]
    found = compared({"a": "PPPPPPPP"}, {"a": "FFFFFFFF"}, said=said)
    assert names(found) == ["a:ungraded"]
    assert "the brief is wrong" in found.lines[0].text


def test_the_suite_is_tested_as_pairs_and_small_falls_everywhere_are_seen():
    base = {f"s{n}": "PPPPPPFF" for n in range(10)}
    found = compared(base, dict.fromkeys(base, "PPPPFFFF"))
    assert names(found) == ["suite:pass-rate"]
    assert found.suite.difference == pytest.approx(-0.25)
    assert "the mean pass rate of 10 scenarios fell by 25.0 points" in found.lines[0].text
    five = dict(list(base.items())[:5])
    few = compared(five, dict.fromkeys(five, "PPPPFFFF"))
    assert few.lines == []
    assert "5 scenarios; a paired test of a suite needs 6" in few.notes[0]


# ---------------------------------------------------------------- decisions


@pytest.fixture
def chain(tmp_path):
    return Chain.create(tmp_path / "run.jsonl", {"id": "run"})


@pytest.fixture
def fallen() -> Diff:
    return compared({**STEADY, "a": "PPPPPPPP"}, {**STEADY, "a": "RRRFFFFF"})


def test_every_line_needs_a_decision_and_the_last_one_stands(chain, fallen):
    assert names(fallen) == ["a:pass-rate", "a:failure-class"]
    assert len(open_lines(fallen, ())) == 2
    decide(chain, "base", find(fallen, "a"), Disposition.INVESTIGATING, "looking", "reviewer")
    assert len(open_lines(fallen, history(chain, "base"))) == 2
    decide(chain, "base", find(fallen, "a:failure-class"), Disposition.ACCEPTED, "policy changed", "owner")
    assert [x.name for x in open_lines(fallen, history(chain, "base"))] == ["a:pass-rate"]
    decide(chain, "base", find(fallen, "a:pass-rate"), Disposition.REGRESSION, "it is worse", "owner")
    assert [x.name for x in open_lines(fallen, history(chain, "base"))] == ["a:pass-rate"]
    decide(chain, "base", find(fallen, "*"), Disposition.FLAKE, "the API was down", "owner")
    made = history(chain, "base")
    assert open_lines(fallen, made) == []
    assert [d.disposition.value for d in made] == [
        *["investigating"] * 2, "accepted", "regression", *["flake"] * 2
    ]  # fmt: skip
    assert history(chain, "other") == []
    assert verify(chain.path)[0].note
    assert "FLAKE  a:pass-rate" in text(fallen, made)
    assert "the API was down" in text(fallen, made)


def test_a_decision_holds_for_what_the_line_said(chain, fallen):
    made = decide(chain, "base", find(fallen, "a:pass-rate"), Disposition.ACCEPTED, "harder prompt", "owner")
    later = compared({**STEADY, "a": "PPPPPPPP"}, {**STEADY, "a": "FFFFFFFFFF"})
    assert standing(later, made)["a:pass-rate"] is None
    assert outdated(later, made)["a:pass-rate"].reason == "harder prompt"
    assert "was accepted by owner" in text(later, made)


@pytest.mark.parametrize(("reason", "role"), [("", "owner"), ("why", " ")])
def test_a_decision_without_reason_or_role_is_refused(chain, fallen, reason, role):
    with pytest.raises(ValueError, match="needs a reason"):
        decide(chain, "base", fallen.lines, Disposition.ACCEPTED, reason, role)
    assert history(chain, "base") == []


def test_lines_are_found_by_key_task_and_pattern(fallen):
    assert [x.name for x in find(fallen, "?:pass-rate")] == ["a:pass-rate"]
    with pytest.raises(ValueError, match="no changed line is called `b`; there are `a:pass-rate`, `a:failure-class`"):
        find(fallen, "b")
    one = replace(fallen.lines[0], scenario="tasks/one", task="refund")
    fallen.lines = [one, replace(one, scenario="tasks/two")]
    with pytest.raises(ValueError, match="the task of tasks/one, tasks/two"):
        find(fallen, "refund")
    assert len(find(fallen, "tasks/*")) == 2
    fallen.lines = [one]
    assert find(fallen, "refund:pass-rate") == [one]


def test_a_diff_is_recorded_once_as_long_as_it_says_the_same(chain):
    assert record(chain, {"baseline": "b", "lines": []})
    assert not record(chain, {"baseline": "b", "lines": []})
    assert record(chain, {"baseline": "c", "lines": []})
    assert record(chain, {"baseline": "b", "lines": [1]})
    assert len(list(chain.lines("baseline"))) == 3


# ---------------------------------------------------------------- the command


def put(folder, run: str, letters: dict, **more) -> Chain:
    """A run of a ledger, as `scenlint grade` leaves it."""
    ledger = Ledger(folder)
    made = replace(run_of(letters, 8), id=run, started=f"2030-01-01T00:00:0{len(run)}+00:00")
    own = records(run, letters, **more)
    ledger.take_in(own)
    out = Chain.create(path_of(folder, run), made.to_json(), ledger)
    for one in own:
        out.append("trial", trial_data(one, ledger.folder_of(one.id)))
    out.end({})
    ledger.close()
    return out


@pytest.fixture
def two_runs(tmp_path):
    folder = tmp_path / ".scenlint"
    put(folder, "base", {**STEADY, "a": "PPPPPPPP"})
    return put(folder, "later", {**STEADY, "a": "PPFFFFFF"})


def test_a_diff_fails_until_everything_is_decided(two_runs, scenlint):
    done = scenlint("diff", "base", "later")
    assert done.returncode == 1
    assert "1 changed line, 1 open" in done.stdout
    assert "UNDECIDED  a:pass-rate: passes fell from 8 of 8 to 2 of 8" in done.stdout
    assert "to decide: scenlint diff base later --decide SCENARIO[:LINE] DISPOSITION" in done.stdout
    refused = scenlint("diff", "base", "later", "--decide", "a", "accepted", "--reason", "cheaper model")
    assert (refused.returncode, "the role of who decides" in refused.stderr) == (2, True)
    why = ("--reason", "cheaper model", "--role", "owner")
    assert scenlint("diff", "base", "later", "--decide", "a:pass-rate", "investigating", *why).returncode == 1
    assert scenlint("diff", "base", "later", "--decide", "a", "accepted", *why).returncode == 0
    told = json.loads(scenlint("diff", "base", "later", "-f", "json").stdout)
    assert (told["open"], told["lines"][0]["disposition"]["disposition"]) == (0, "accepted")
    assert [d["disposition"] for d in told["decisions"]] == ["investigating", "accepted"]
    kinds = [line.kind for line in two_runs.lines()]
    assert kinds[-3:] == ["baseline", "disposition", "disposition"]
    (kept,) = two_runs.lines("baseline")
    after = {s["key"]: s["after"] for s in kept.data["scenarios"]}
    assert (after["a"]["passes"], after["a"]["trials"]) == (2, 8)
    assert scenlint("audit", "verify", "later").returncode == 0


def test_looking_only_leaves_the_record_alone(two_runs, scenlint):
    assert scenlint("diff", "base", "later", "--no-record").returncode == 1
    assert list(two_runs.lines("baseline")) == []


def test_a_baseline_may_be_a_file(tmp_path, two_runs, scenlint):
    exported = tmp_path / "base.zip"
    assert scenlint("audit", "export", "base", exported).returncode == 0
    found = summarise(replace(run_of([*STEADY, "a"], 8), id="base"), records("base", {**STEADY, "a": "PPPPPPPP"}))
    (tmp_path / "base.json").write_text(json.dumps(summary_json(found)))
    chain = tmp_path / ".scenlint" / "audit" / "base.jsonl"
    ways = [json.loads(scenlint("diff", side, "later", "-f", "json", "--no-record").stdout)
            for side in ("base", exported, chain, tmp_path / "base.json")]  # fmt: skip
    assert [[line["name"] for line in told["lines"]] for told in ways] == [["a:pass-rate"]] * 4
    assert ways[0]["scenarios"] == ways[1]["scenarios"] == ways[2]["scenarios"]
    assert [told["suite"] for told in ways] == [ways[0]["suite"]] * 4
    assert ways[3]["scenarios"][0]["cost"] is None
    done = scenlint("diff", "base", exported.with_name("base.json"), cwd=tmp_path)
    assert (done.returncode, "compared with itself" in done.stderr) == (2, True)
    chain.write_bytes(chain.read_bytes().replace(b"frontier", b"Frontier", 1))
    done = scenlint("diff", chain, "later")
    assert (done.returncode, "is not as it was written" in done.stderr) == (2, True)


def test_only_runs_of_the_ledger_are_decided_about(tmp_path, two_runs, scenlint):
    done = scenlint("diff", "base", two_runs.path, "--decide", "a", "accepted", "--reason", "x", "--role", "y")
    assert (done.returncode, "`scenlint audit import` takes one in" in done.stderr) == (2, True)


def test_decisions_go_along_with_a_record(tmp_path, two_runs, scenlint):
    exported = tmp_path / "later.zip"
    assert "to decide" not in scenlint("diff", "base", two_runs.path).stdout
    scenlint("diff", "base", "later", "--decide", "a", "accepted", "--reason", "x", "--role", "maintainer")
    assert scenlint("audit", "export", "later", exported).returncode == 0
    for side in (exported, two_runs.path):
        done = scenlint("diff", "base", side)
        assert (done.returncode, "ACCEPTED  a:pass-rate" in done.stdout) == (0, True)


def test_a_run_that_is_not_there(two_runs, scenlint):
    done = scenlint("diff", "base", "lost")
    assert (done.returncode, "there is no run `lost`" in done.stderr) == (2, True)


def test_faults_without_a_verdict_are_told_by_oracle_and_nop(tmp_path, scenlint):
    folder = tmp_path / ".scenlint"
    put(folder, "base", {"a": "PPPPPPPP"})
    put(folder, "later", {"a": "PPPPPPXX"})
    ledger = Ledger(folder)
    ledger.take_in(controls("a"))
    ledger.close()
    told = json.loads(scenlint("diff", "base", "later", "-f", "json").stdout)
    assert [line["name"] for line in told["lines"]] == ["a:failure-class"]
    assert told["scenarios"][0]["after"]["failures"] == {"verifier-error": 2}
