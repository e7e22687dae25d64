"""Verifiers and agents that misbehave, with a real engine: no fault becomes a score, and each has its type."""

import time

import pytest
from plans import make_plan, make_step

from scenlint.harness.agents import CommandAgent, Nop
from scenlint.harness.environment import LOG_LIMIT
from scenlint.task.plan import Image, Limits
from scenlint.task.record import FailureClass, Status

pytestmark = pytest.mark.engine

FORK_BOMB = "f() { f | f & }; f; sleep 600"


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("hangs", "echo 1 > /logs/verifier/reward.txt; sleep 600"),
        ("ignores signals", "trap '' TERM INT HUP; while :; do sleep 1; done"),
        ("leaves its session and wipes its environment", "env -i setsid nohup sleep 600 & sleep 600"),
        ("forks without end", FORK_BOMB),
    ],
)
def test_a_verifier_that_does_not_end_is_killed_and_is_no_verdict(run, base, tmp_path, name, test):
    step = make_step(tmp_path, test=test, verify_timeout=2.0)
    began = time.monotonic()
    record = run(make_plan(tmp_path, base.tag, step, limits=Limits(cpus=1, memory_mb=512, pids=200)))
    assert time.monotonic() - began < 25
    assert (record.status, record.reward) == (Status.NO_VERDICT, None)
    assert record.failure_class is FailureClass.VERIFIER_ERROR
    verify = next(p for p in record.phases if p.name == "verify")
    assert verify.error == "timeout: `test.sh` took longer than 2 s"


@pytest.mark.parametrize(
    ("wrote", "reason"),
    [
        ("true", "wrote no `R`"),
        ("echo nan > R", "`R` holds nan"),
        ("echo inf > R", "`R` holds inf"),
        ("echo 1.5 > R", "`R` holds 1.5"),
        (": > R", "`R` is empty"),
        ("mkdir R", "wrote no `R`"),
        ("ln -s /etc/hostname R", "wrote no `R`"),
        ("truncate -s 100G R", "`R` is larger than"),
    ],
)
def test_what_is_no_verdict_is_never_a_score(run, base, tmp_path, wrote, reason):
    test, reason = (text.replace("R", "/logs/verifier/reward.txt") for text in (wrote, reason))
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, test=test)))
    assert (record.status, record.reward) == (Status.NO_VERDICT, None)
    assert record.failure_class is FailureClass.VERIFIER_ERROR
    assert reason in record.failure_evidence


def test_a_verifier_that_prints_a_gigabyte_is_graded_and_its_log_is_bounded(run, base, tmp_path):
    test = """
        echo first; head -c 1000000000 /dev/zero | tr '\\0' 'x'; echo; echo last
        echo 1 > /logs/verifier/reward.txt"""
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, test=test, verify_timeout=120.0)))
    assert record.status is Status.PASSED, record.to_json()
    verify = next(p for p in record.phases if p.name == "verify")
    assert verify.output.startswith("first\nxxx")
    assert verify.output.endswith("x\nlast\n")
    assert "bytes cut …]" in verify.output
    assert len(verify.output) < 50_000
    assert (tmp_path / "trials" / record.id / verify.output_file).stat().st_size == LOG_LIMIT


def test_an_agent_cannot_end_the_container_from_inside(run, base, tmp_path):
    record = run(
        make_plan(tmp_path, base.tag, make_step(tmp_path, solve="kill -9 1; kill 1; echo 42 > /app/answer.txt"))
    )
    assert record.status is Status.PASSED, record.to_json()
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve="(sleep 0.2; kill -9 -1) & sleep 1")))
    assert (record.status, record.reward) == (Status.FAILED, 0.0)


def test_a_container_that_an_agent_brought_down_is_not_excluded_as_infrastructure(run, base, tmp_path):
    step = make_step(tmp_path, solve="pkill -f loop || kill -KILL $(cat /app/pid); sleep 60")
    serve = ("sh", "-c", "sh -c 'echo $$ > /app/pid; while :; do sleep 1; done'; exit 9")
    record = run(make_plan(tmp_path, base.tag, step, command=serve))
    assert (record.status, record.reward, record.failure_class) == (Status.NO_VERDICT, None, FailureClass.TOOL_ERROR)
    assert "the container ended (exit status 9)" in record.failure_evidence
    assert record.failure_evidence.endswith("(after the agent had begun)")


def test_a_container_that_ends_before_the_agent_is_infrastructure(run, base, tmp_path):
    record = run(make_plan(tmp_path, base.tag, command=("sh", "-c", "echo cannot start >&2; exit 4")))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "cannot start" in record.failure_evidence
    record = run(make_plan(tmp_path, base.tag, command=("/no/such/program",)))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)


def test_an_agent_that_fills_the_disk_is_stopped_at_its_limit(run, base, tmp_path):
    step = make_step(tmp_path, solve="while :; do head -c 20M /dev/zero >> /tmp/fill || exit 1; sleep 0.05; done")
    record = run(make_plan(tmp_path, base.tag, step, limits=Limits(cpus=1, memory_mb=512, storage_mb=100)))
    assert (record.status, record.reward) == (Status.NO_VERDICT, None)
    assert "the limit is 100 MB of disk" in record.failure_evidence


def test_an_agent_that_takes_all_memory_or_all_processes_hurts_only_itself(run, base, tmp_path):
    limits = Limits(cpus=1, memory_mb=128, pids=100)
    eats = make_step(tmp_path, solve="python3 -c 'x = bytearray(10**9)'")
    record = run(make_plan(tmp_path, base.tag, eats, limits=limits))
    assert (record.status, record.reward) == (Status.FAILED, 0.0)
    forks = make_step(tmp_path, solve=FORK_BOMB, agent_timeout=2.0)
    record = run(make_plan(tmp_path, base.tag, forks, limits=limits))
    assert (record.status, record.failure_class) == (Status.FAILED, FailureClass.AGENT_TIMEOUT), record.to_json()


def test_a_server_that_the_agent_leaves_running_is_there_for_the_verifier_and_in_the_evidence(run, base, tmp_path):
    serve = "cd /app && echo 42 > answer.txt && (setsid python3 -m http.server 8000 &) && sleep 0.7"
    test = """
        python3 -c 'import urllib.request as u; print(u.urlopen("http://localhost:8000/answer.txt").read())' |
        grep 42 && echo 1 > /logs/verifier/reward.txt"""
    began = time.monotonic()
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve=serve, test=test)))
    assert record.status is Status.PASSED, record.to_json()
    assert "[still running after the agent: python3 -m http.server 8000]" in record.phases[2].output
    assert time.monotonic() - began < 8, "a daemon that holds the output open must not hold up the trial"


def test_what_ran_before_an_agent_keeps_running_when_the_agent_is_out_of_time(run, base, tmp_path):
    test = (
        "cat /app/beat; a=$(cat /app/beat); sleep 1; [ $(cat /app/beat) -gt $a ] && echo 1 > /logs/verifier/reward.txt"
    )
    step = make_step(tmp_path, solve="setsid sh -c 'sleep 500' & sleep 600", test=test, agent_timeout=1.5)
    beats = ("sh", "-c", "n=0; while :; do n=$((n+1)); echo $n > /app/beat; sleep 0.1; done")
    record = run(make_plan(tmp_path, base.tag, step, command=beats))
    assert record.reward == 1.0, record.to_json()
    assert "sleep 500" not in record.phases[2].output
    assert "sleep 600" not in record.phases[2].output


def test_an_image_without_a_shell_is_named_as_the_reason(run, base, tmp_path, engine):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/Dockerfile").write_text(f"FROM scratch\nCOPY --from={base.tag} /etc/hostname /hostname\n")
    from scenlint.task.plan import Build

    record = run(make_plan(tmp_path, Image(build=Build(tmp_path / "empty"))), Nop())
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "it has no `sh`" in record.failure_evidence


def test_a_user_or_folder_that_does_not_exist_is_said(run, base, tmp_path):
    record = run(make_plan(tmp_path, base.tag), CommandAgent(("true",), user="nobody-there"))
    assert record.status is not Status.PASSED
    assert "nobody-there" in record.failure_evidence + record.phases[2].output
