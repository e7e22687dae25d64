"""Harbor as the engine of a trial: the real one where it is installed, and a program that leaves a job as it does."""

import json
import os
import shutil
import sys

import pytest
from plans import script

from scenlint.calibration.known import known
from scenlint.cli.live import Quiet
from scenlint.config import load
from scenlint.dynamic.agents import agent_named
from scenlint.dynamic.driver import Driver
from scenlint.dynamic.gate import Job, Subject, settings_digest
from scenlint.harness import trial
from scenlint.harness.engine import Options
from scenlint.harness.harbor_engine import HarborAgent, _last_words
from scenlint.harness.ledger import Ledger
from scenlint.lint.discover import Finder, format_named
from scenlint.rulings.calibrations import attempts
from scenlint.rulings.classes import rule_on
from scenlint.task.plan import NotRunnableError, RunPlan
from scenlint.task.record import Experiment, FailureClass, Status
from scenlint.testing import base_task

HARBOR = os.environ.get("SCENLINT_HARBOR") or shutil.which("harbor")
KEY = "sk-0123456789"
# Leaves a job folder as `harbor run` does, and in `asked` the arguments and variables that it was given.
STAND_IN = """\
import json, os, sys
from pathlib import Path
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
Path(__file__).with_name("asked").write_text(json.dumps([sys.argv[1:], dict(os.environ)]))
if given["--agent"] == "broken":
    sys.exit("╭─ Traceback ─╮\\n│ ValueError: no such thing as      │\\n│ this network                      │\\n╰───╯")
place = Path(given["--jobs-dir"], given["--job-name"], "answer__x")
place.mkdir(parents=True)
(place.parent / "result.json").write_text(json.dumps({"id": "job", "n_total_trials": 1}))
times = {"started_at": "2026-01-01T00:00:10Z", "finished_at": "2026-01-01T00:00:12Z"}
(place / "trial.log").write_text(os.environ.get("SOME_KEY", ""))
(place / "result.json").write_text(json.dumps({
    "id": "t", "task_name": "answer", "trial_name": "answer__x", "agent_execution": times, "verifier": times,
    "agent_info": {"name": given["--agent"], "model_info": {"name": "m-1", "provider": "p"}},
    "agent_result": {"n_input_tokens": 100, "n_output_tokens": 20, "cost_usd": 0.5},
    "verifier_result": {"rewards": {"reward": float(given["--agent"] == "oracle")}}, "exception_info": None,
}))
"""


@pytest.fixture
def task(tmp_path):
    """A Harbor task, loaded, with its plan."""
    folder = base_task("harbor", tmp_path / "answer")
    settings = load(folder)
    (ref,) = Finder(settings).discover([folder]).refs
    form = format_named(ref.format)
    loaded = form.load(ref, settings.policy)
    return loaded, form.plan(loaded), settings


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """asked() -> (arguments, variables) that the stand-in for Harbor was given."""
    program = script(tmp_path / "bin/harbor", f'exec {sys.executable} "$(dirname "$0")/harbor.py" "$@"\n')
    program.chmod(0o755)
    (tmp_path / "bin/harbor.py").write_text(STAND_IN)
    monkeypatch.setenv("SCENLINT_HARBOR", str(program))
    return lambda: json.loads((tmp_path / "bin/asked").read_text())


def test_a_trial_that_harbor_ran_is_recorded_under_the_tasks_own_digests(task, tmp_path, asked):
    _, plan, settings = task
    told = []
    record = trial.run(
        plan,
        agent_named("harbor:oracle@p/m-1", settings),
        tmp_path / "trial",
        on_phase=lambda _, p: told.append(p.name),
    )
    assert (record.status, record.agent, record.model) == (Status.PASSED, "harbor:oracle@p/m-1", "m-1")
    assert (record.cost_usd, record.input_tokens, record.output_tokens) == (0.5, 100, 20)
    assert (record.id, record.task, record.digests) == ("trial", plan.task, dict(plan.digests))
    assert record.source.startswith("harbor: ")
    assert told == ["build", "start", "agent", "verify"] == [p.name for p in record.phases]
    arguments, variables = asked()
    assert arguments[:7] == ["run", "--path", str(plan.folder), "--agent", "oracle", "--model", "p/m-1"]
    assert variables["HARBOR_TELEMETRY"] == "off"


def test_a_calibration_counts_it(task, tmp_path, asked):
    loaded, plan, settings = task
    subject, agent = Subject(loaded, "answer", plan), agent_named("harbor:coder", settings)
    ledger = Ledger(tmp_path / "ledger")
    experiment = Experiment("calibration", "one", "1")
    job = Job(subject, agent, 1, settings_digest(plan, agent, Options()), experiment=experiment)
    assert Driver(ledger, Options(), Quiet()).run([job], "calibrate") == []
    (record,) = attempts(known(ledger, subject), "harbor:coder")
    (ruling,) = rule_on([record])
    assert (record.reward, ruling.outcome) == (0.0, True)
    ledger.close()


def test_variables_are_given_by_name_and_nothing_keeps_their_values(task, tmp_path, asked, monkeypatch):
    _, plan, _ = task
    for name in ("SOME_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)
    agent = HarborAgent("mine", "coder", arguments=("--effort", "high"), pass_env=("SOME_KEY",))
    trial.run(plan, agent, tmp_path / "trial")
    arguments, variables = asked()
    assert arguments[-2:] == ["--effort", "high"]
    assert variables["SOME_KEY"] == KEY
    assert "OTHER_KEY" not in variables
    (log,) = (tmp_path / "trial").rglob("trial.log")
    assert log.read_text() == "<SOME_KEY>"


def test_a_brief_that_says_more_is_passed_on_and_another_one_is_refused(task, tmp_path, asked):
    from dataclasses import replace

    _, plan, settings = task
    agent = agent_named("harbor:oracle", settings)
    more = replace(plan, steps=(replace(plan.steps[0], brief=plan.steps[0].brief + "\n\nRound down.\n"),))
    assert trial.run(more, agent, tmp_path / "trial").status is Status.PASSED
    arguments, _ = asked()
    assert arguments[-2:] == ["--extra-instruction", "Round down."]
    with pytest.raises(NotRunnableError, match="this trial has another brief"):
        agent.check(replace(plan, steps=(replace(plan.steps[0], brief="Something else"),)))


def test_a_run_that_recorded_nothing_is_infrastructure_with_harbors_own_words(task, tmp_path, asked):
    _, plan, settings = task
    record = trial.run(plan, agent_named("harbor:broken", settings), tmp_path / "trial")
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "(exit status 1): ValueError: no such thing as this network" in record.failure_evidence


def test_without_harbor_it_is_said_what_to_do(task, tmp_path, monkeypatch):
    _, plan, settings = task
    agent = agent_named("harbor:oracle", settings)
    monkeypatch.setenv("SCENLINT_HARBOR", str(tmp_path / "nowhere"))
    with pytest.raises(NotRunnableError, match=r"which is no program: install Harbor \(`pip install harbor`"):
        agent.check(plan)
    monkeypatch.delenv("SCENLINT_HARBOR")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotRunnableError, match="there is no `harbor` on PATH"):
        agent.check(plan)


def test_it_runs_tasks_of_its_own_format_only(tmp_path):
    with pytest.raises(NotRunnableError, match="runs tasks of the format harbor; this one is packet"):
        HarborAgent("harbor:oracle", "oracle").check(RunPlan("t", "packet", tmp_path, ()))


def test_its_last_words_are_its_error():
    assert (
        _last_words("a\nValueError: first\n╭──╮\n│ KeyError: 'x' │\n│ and more      │\n╰──╯")
        == "KeyError: 'x' and more"
    )
    assert _last_words("") == "it said nothing"


if HARBOR is not None:  # on PATH, or named by SCENLINT_HARBOR; CI has none, and skips no test with a container

    @pytest.mark.engine
    def test_harbors_own_oracle_and_nop_run_for_real(task, base, tmp_path, plugin):
        _, plan, settings = task
        dockerfile = plan.folder / "environment/Dockerfile"
        _, _, rest = dockerfile.read_text().partition("\n")
        dockerfile.write_text(f"FROM {base.tag}\n{rest}")
        config = plan.folder / "task.toml"
        config.write_text(config.read_text().replace("allow_internet = false", "allow_internet = true"))
        oracle, nop = (
            trial.run(plan, agent_named(f"harbor:{name}", settings), tmp_path / name) for name in ("oracle", "nop")
        )
        assert oracle.status is Status.PASSED, oracle.failure_evidence
        assert (nop.status, nop.reward) == (Status.FAILED, 0.0), nop.failure_evidence
