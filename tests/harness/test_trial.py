"""Trials with a real engine: phases in order, what passes, what fails, and what is refused before anything is made."""

import threading
import time

import pytest
from plans import dockerfile, make_plan, make_step, script

from scenlint.harness.agents import CommandAgent, Nop
from scenlint.harness.engine import Options
from scenlint.task.plan import Command, Container, Image, Network, NotRunnableError, Probe, Upload, Where
from scenlint.task.record import FailureClass, Status, TrialRecord

pytestmark = pytest.mark.engine


def test_oracle_passes_with_one_and_nop_fails_with_zero(run, base, tmp_path):
    plan = make_plan(tmp_path, dockerfile(tmp_path / "environment", base.pinned))
    phases: list[tuple[str, bool]] = []
    oracle = run(plan, on_phase=lambda record, phase: phases.append((phase.name, phase.duration > 0)))
    assert (oracle.status, oracle.reward, oracle.failure_class) == (Status.PASSED, 1.0, None), oracle.to_json()
    names = ["build", "start", "agent", "overlay", "verify", "verdict", "collect", "remove"]
    assert phases == [(name, True) for name in names]
    assert oracle.image.startswith("scenlint/")
    assert oracle.image_digest.startswith("sha256:")
    nop = run(plan, Nop())
    assert (nop.status, nop.reward, nop.failure_class) == (Status.FAILED, 0.0, FailureClass.WRONG_ANSWER)
    assert nop.image == oracle.image
    assert nop.phases[0].output == "found in the cache"
    assert TrialRecord.from_json(nop.to_json()) == nop


def test_the_verifiers_and_the_solutions_files_are_absent_while_the_agent_acts(run, base, tmp_path):
    agent = CommandAgent(("sh", "-c", "ls -a /tests /solution; find / -xdev -name 'test.sh' -o -xdev -name 'solve.sh'"))
    record = run(make_plan(tmp_path, base.tag), agent)
    shown = record.phases[2].output
    assert "cannot access '/tests'" in shown
    assert "cannot access '/solution'" in shown
    assert "test.sh" not in shown.replace("/tests", "")
    assert "solve.sh" not in shown


def test_solution_that_fails_after_solving_does_not_pass_though_the_reward_is_one(run, base, tmp_path):
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve="echo 42 > /app/answer.txt; exit 3")))
    assert (record.reward, record.status, record.strict.passed, record.harness.passed) == (
        1.0,
        Status.FAILED,
        False,
        True,
    )
    assert "ended with exit status 3" in record.strict.reason


def test_solution_that_runs_out_of_time_after_solving_is_verified_but_does_not_pass(run, base, tmp_path):
    step = make_step(tmp_path, solve="echo 42 > /app/answer.txt; sleep 60", agent_timeout=1.0)
    record = run(make_plan(tmp_path, base.tag, step))
    assert (record.reward, record.harness.passed) == (1.0, True)
    assert (record.status, record.failure_class) == (Status.FAILED, FailureClass.AGENT_TIMEOUT)
    assert record.phases[2].error == "timeout: the agent took longer than 1 s"
    assert record.phases[2].duration < 10


def test_every_log_is_kept_in_the_trials_folder(run, base, tmp_path):
    step = make_step(tmp_path, solve="echo solving; echo 42 > /app/answer.txt; echo a > /logs/agent/trace.txt")
    record = run(make_plan(tmp_path, base.tag, step))
    folder = tmp_path / "trials" / record.id
    assert (folder / "agent.log").read_text() == "solving\n"
    assert record.phases[2].output_file == "agent.log"
    assert (folder / "collected/logs/agent/trace.txt").read_text() == "a\n"
    assert (folder / "collected/logs/verifier/reward.txt").read_text() == "1\n"


def test_a_reward_that_lay_there_before_is_not_the_verifiers(run, base, tmp_path):
    for plant in (
        "echo 1 > R",
        "mkdir -p R/x",
        "ln -s /app/one R; echo 1 > /app/one",
        "mkfifo R",
        "rm -r R/..; touch R/..",
    ):
        plant = plant.replace("R/..", "/logs/verifier").replace("R", "/logs/verifier/reward.txt")
        record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve=plant, test="exit 0")))
        assert record.status is Status.NO_VERDICT, plant
        assert record.failure_class is FailureClass.VERIFIER_ERROR
        assert record.failure_evidence.startswith("the verifier wrote no `/logs/verifier/reward.txt`")


def test_a_place_for_the_reward_that_was_taken_away_is_made_again(run, base, tmp_path):
    for plant in (
        "rm -r V; touch V",
        "rm -r V; ln -s /nowhere V",
        "chmod 000 V",
        "rm -r /logs",
        "mkdir -p V/reward.txt",
    ):
        solve = f"echo 42 > /app/answer.txt; {plant.replace('V', '/logs/verifier')}"
        assert run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve=solve))).reward == 1.0, plant


def test_the_verifier_finds_its_own_files_only_whatever_was_planted(run, base, tmp_path):
    test = "[ -z \"$(ls /tests | grep -v '^test.sh$')\" ] && [ ! -L /tests ] && echo 1 > /logs/verifier/reward.txt"
    for plant in (
        "mkdir -p /tests/test.sh/x; touch /tests/conftest.py",
        "mkdir /evil; touch /evil/conftest.py; ln -s /evil /tests",
        "echo file > /tests",
        "mkfifo /tests",
    ):
        record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve=plant, test=test)))
        assert record.reward == 1.0, (plant, record.to_json())


def test_steps_run_in_one_environment_and_their_mean_counts(run, base, tmp_path):
    first = make_step(tmp_path, name="one", test="echo 0.5 > /logs/verifier/reward.txt")
    second = make_step(
        tmp_path,
        name="two",
        solve="true",
        test="cat /app/answer.txt /app/made.txt && echo 1 > /logs/verifier/reward.txt",
        uploads=(Upload(script(tmp_path / "w/setup.sh", "echo made > /app/made.txt").parent, "/app"),),
        setup=Command(("bash", "setup.sh")),
    )
    record = run(make_plan(tmp_path, base.tag, first, second))
    assert record.step_rewards == {"one": 0.5, "two": 1.0}
    assert (record.reward, record.harness.reward, record.status) == (0.75, 0.75, Status.FAILED)
    final = run(make_plan(tmp_path, base.tag, first, second, reward_strategy="final"))
    assert final.reward == 1.0
    folder = tmp_path / "trials" / record.id
    assert (folder / "steps/one/collected/logs/verifier/reward.txt").read_text() == "0.5\n"
    assert (folder / "steps/two/collected/logs/verifier/reward.txt").read_text() == "1\n"


def test_a_step_below_its_minimum_ends_the_trial_and_what_did_not_run_earned_nothing(run, base, tmp_path):
    first = make_step(tmp_path, name="one", test="echo 0.5 > /logs/verifier/reward.txt", min_reward=0.6)
    second = make_step(tmp_path, name="two")
    record = run(make_plan(tmp_path, base.tag, first, second))
    assert record.step_rewards == {"one": 0.5}
    assert (record.reward, record.harness.reward) == (0.25, 0.5)
    assert "1 of 2 steps did not run" in record.strict.reason


def test_a_step_without_a_verdict_ends_the_trial_without_one(run, base, tmp_path):
    first, second = make_step(tmp_path, name="one"), make_step(tmp_path, name="two", test="exit 1")
    record = run(make_plan(tmp_path, base.tag, first, second, make_step(tmp_path, name="three")))
    assert (record.reward, record.status) == (None, Status.NO_VERDICT)
    assert record.harness.reward == 1.0  # its mean leaves out what has no verdict
    assert record.step_rewards == {"one": 1.0, "two": None}


def test_a_separate_verifier_gets_the_declared_artifacts_and_nothing_else(run, base, tmp_path):
    verifier = Container(
        Image(build=dockerfile(tmp_path / "verifier", base.tag, "RUN mkdir /secret\n")), folders=("/logs/verifier",)
    )
    step = make_step(
        tmp_path,
        solve="""
            echo 42 > /app/answer.txt; mkdir /app/out; echo a > /app/out/a; chmod 750 /app/out/a
            ln -s /etc/shadow /app/out/link
            echo evil > /usr/local/bin/cat; chmod +x /usr/local/bin/cat""",
        test="""
            [ -d /secret ] && [ ! -e /app/other ] && [ "$(ls /app/out)" = a ] && [ "$(stat -c %a /app/out/a)" = 750 ] &&
            [ "$(cat /app/answer.txt)" = 42 ] && echo 1 > /logs/verifier/reward.txt""",
        where=Where.SEPARATE,
        verifier=verifier,
        artifacts=("/app/answer.txt", "/app/out", "/app/missing"),
    )
    record = run(make_plan(tmp_path, base.tag, step))
    assert record.status is Status.PASSED, record.to_json()
    assert [p.name for p in record.phases].count("remove") == 2


def test_a_probe_holds_up_the_agent_until_it_succeeds(run, base, tmp_path):
    ready = Probe(Command(("sh", "-c", "echo x >> /tmp/n; [ $(wc -l < /tmp/n) -ge 3 ]")), interval=0.1)
    assert run(make_plan(tmp_path, base.tag, probe=ready)).status is Status.PASSED
    never = Probe(Command(("sh", "-c", "echo still starting; exit 1")), interval=0.1, retries=2)
    record = run(make_plan(tmp_path, base.tag, probe=never))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert record.phases[1].error.startswith("start: the environment did not become ready")
    assert "still starting" in record.phases[1].error


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"unsafe": ("privileged", "docker.sock")}, "--allow-unsafe privileged,docker.sock"),
        ({"network": Network.ALLOWLIST, "allowed_hosts": ("pypi.org",)}, "allows only some hosts (pypi.org)"),
    ],
)
def test_what_is_unsafe_or_cannot_be_done_is_refused_before_anything_is_made(run, base, tmp_path, changes, text):
    record = run(make_plan(tmp_path, base.tag, **changes))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.CONFIGURATION)
    assert text in record.failure_evidence
    assert [p.name for p in record.phases] == ["build"]


def test_what_is_unsafe_runs_when_it_is_allowed_by_name(run, base, tmp_path, options):
    allowed = Options(run=options.run, allow_unsafe=frozenset({"privileged"}))
    assert run(make_plan(tmp_path, base.tag, unsafe=("privileged",)), options=allowed).status is Status.PASSED


def test_a_task_without_a_solution_has_no_oracle(run, base, tmp_path):
    from dataclasses import replace

    plan = make_plan(tmp_path, base.tag)
    plan = replace(plan, steps=(replace(plan.steps[0], oracle=None),))
    record = run(plan)
    assert record.failure_class is FailureClass.CONFIGURATION
    assert "no reference solution" in record.failure_evidence


def test_a_command_agent_in_the_container_is_given_the_brief_and_leaves_no_trace_of_it(run, base, tmp_path):
    agent = CommandAgent(
        ("sh", "-c", 'printf %s "$SCENLINT_BRIEF" | cmp - "$SCENLINT_BRIEF_FILE" && echo 42 > answer.txt'), name="cmp"
    )
    test = "[ ! -e /scenlint ] && [ -f /app/answer.txt ] && echo 1 > /logs/verifier/reward.txt"
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, test=test)), agent)
    assert (record.agent, record.status) == ("cmp", Status.PASSED), record.to_json()


def test_a_command_agent_on_the_host_reaches_the_container(run, base, tmp_path):
    program = script(
        tmp_path / "agent.sh",
        'grep -q 42 "$SCENLINT_BRIEF_FILE" && docker exec "$SCENLINT_CONTAINER" sh -c "echo 42 > /app/answer.txt"',
    )
    record = run(make_plan(tmp_path, base.tag), CommandAgent(("bash", str(program)), on_host=True))
    assert record.status is Status.PASSED, record.to_json()


def test_an_agent_that_fails_is_told_apart_from_a_wrong_answer(run, base, tmp_path):
    record = run(make_plan(tmp_path, base.tag), CommandAgent(("sh", "-c", "exit 7")))
    assert (record.reward, record.failure_class) == (0.0, FailureClass.AGENT_CRASH)
    assert "exit status 7" in record.failure_evidence


def test_a_phase_that_cannot_be_recorded_ends_the_trial_as_infrastructure(run, base, tmp_path):
    def full(record, phase):
        if phase.name == "verify":
            raise OSError(28, "No space left on device")

    record = run(make_plan(tmp_path, base.tag), on_phase=full)
    assert (record.reward, record.failure_class) == (None, FailureClass.INFRASTRUCTURE)
    assert "No space left on device" in record.failure_evidence


def test_a_full_disk_is_found_before_the_trial_starts(run, base, tmp_path, options):
    record = run(make_plan(tmp_path, base.tag), options=Options(run=options.run, min_free_mb=10**9))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "MB of disk are free" in record.failure_evidence


def test_an_interrupted_trial_ends_at_once_and_is_no_verdict(run, base, tmp_path):
    stop = threading.Event()
    threading.Timer(2.0, stop.set).start()
    began = time.monotonic()
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve="sleep 60")), stop=stop)
    assert time.monotonic() - began < 6
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INTERRUPTED)


def test_a_fault_of_our_own_is_recorded_and_everything_removed(run, base, tmp_path):
    class Broken(Nop):
        def act(self, step, environment, scene):
            raise KeyError("bug")

    record = run(make_plan(tmp_path, base.tag), Broken())
    assert (record.status, record.reward) == (Status.NO_VERDICT, None)
    assert record.phases[2].error == "internal: KeyError: 'bug'"
    assert record.phases[-1].name == "remove"


def test_ctrl_c_in_the_main_thread_removes_everything(run, base, tmp_path):
    class Pressed(Nop):
        def act(self, step, environment, scene):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(make_plan(tmp_path, base.tag), Pressed())


def test_an_agent_that_cannot_work_on_such_a_task_is_refused(tmp_path):
    from scenlint.task.plan import RunPlan

    with pytest.raises(NotRunnableError, match="local sandbox"):
        CommandAgent(("x",), on_host=True).check(RunPlan("t", "waza", tmp_path, (), workdir=tmp_path))
