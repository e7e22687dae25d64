"""Results of other harnesses, in files as they write them."""

import json
import subprocess
import sys
import zipfile

import pytest

from scenlint.imports import read
from scenlint.rulings.classes import rule_on


@pytest.fixture
def put(tmp_path):
    """Write a file: put("jobs/x/result.json", {...}) -> its path."""

    def write(name: str, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return path

    return write


def harbor(**more):
    return {
        "schema_version": 1, "id": "t-1", "task_name": "org/sums", "trial_name": "sums__abc", "task_checksum": "c0ffee",
        "agent_info": {"name": "coder", "version": "1", "model_info": {"name": "m-1", "provider": "p"}},
        "agent_result": {"n_input_tokens": 100, "n_output_tokens": 20, "cost_usd": 0.5},
        "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": None,
        "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:01:00Z",
        "agent_execution": {"started_at": "2026-01-01T00:00:10Z", "finished_at": "2026-01-01T00:00:40Z"}, **more,
    }  # fmt: skip


def only(path):
    found = read(path)
    assert found.problems == []
    (record,) = found.records
    return record


def test_a_harbor_trial_with_its_tests_cost_and_digest(put, tmp_path):
    put("job/result.json", {"id": "job", "n_total_trials": 1})
    put("job/sums__abc/result.json", harbor())
    put("job/sums__abc/lock.json", {"task": {"digest": "sha256:feed"}})
    tests = [{"name": "test_a", "status": "passed", "duration": 1500}, {"name": "test_b", "status": "other"}]
    put("job/sums__abc/verifier/ctrf.json", {"results": {"tests": tests}})
    record = only(tmp_path)
    assert (record.task, record.agent, record.reward, record.status) == ("org/sums", "coder:m-1", 1.0, "passed")
    assert (record.cost_usd, record.input_tokens, record.output_tokens) == (0.5, 100, 20)
    assert (record.task_digest, record.duration) == ("sha256:feed", 60.0)
    assert [(c.id, c.passed, c.duration) for c in record.checks] == [("test_a", True, 1.5), ("test_b", None, 0.0)]
    assert record.source.startswith("harbor: ")


def test_every_test_report_of_a_harbor_trial_is_read_with_what_its_tests_saw(put, tmp_path):
    # As pytest's plugin writes them: one message for all failures, what was seen in the trace, and seconds.
    trace = "def test():\n>       assert total == 42\nE       AssertionError: assert 41 == 42\n\nt.py:3: AssertionError"
    said = "The test failed in the call phase due to an assertion error"
    wrong = {"name": "t.py::test_sum", "status": "failed", "duration": 1.5, "start": 1769397094.2, "trace": trace}
    put("job/sums__abc/result.json", harbor(verifier_result={"rewards": {"reward": 0.0}}))
    put("job/sums__abc/verifier/ctrf_one.json", {"results": {"tests": [{**wrong, "message": said}]}})
    put("job/sums__abc/verifier/ctrf_two.json", {"results": {"tests": [{"name": "test_b", "status": "passed"}]}})
    record = only(tmp_path)
    assert [(c.id, c.detail, c.duration) for c in record.checks] == [
        ("t.py::test_sum", "AssertionError: assert 41 == 42", 1.5), ("test_b", "", 0.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("exception", "reward", "failure_class", "counts"),
    [
        ("AgentTimeoutError", 0.0, "agent-timeout", None),
        ("NonZeroAgentExitCodeError", 0.0, "agent-crash", None),
        ("ApiRateLimitError", None, "provider", None),
        ("AuthenticationError", None, "configuration", None),
        ("RewardFileNotFoundError", None, "verifier-error", True),
        ("RuntimeError", None, "infrastructure", True),
        ("CancelledError", None, "interrupted", None),
    ],
)
def test_harbors_exceptions_by_name(put, exception, reward, failure_class, counts):
    info = {"exception_type": exception, "exception_message": "so it was\nmore"}
    record = only(put("result.json", harbor(exception_info=info, verifier_result={"rewards": {"reward": 0.0}})))
    assert (record.reward, record.failure_class) == (reward, failure_class)
    assert record.failure_evidence == f"{exception}: so it was"
    # After the agent had begun, a fault is its failure unless the controls show it too.
    assert rule_on([record])[0].outcome is counts


def test_a_fault_before_harbors_agent_began_is_excluded(put):
    data = harbor(exception_info={"exception_type": "RuntimeError", "exception_message": "build failed"})
    del data["agent_execution"]
    record = only(put("result.json", {**data, "verifier_result": None}))
    assert rule_on([record])[0].failure_class == "infrastructure"
    assert rule_on([record])[0].outcome is None


def test_steps_of_a_harbor_trial_are_added_up(put):
    steps = [{"agent_result": {"n_input_tokens": 5, "cost_usd": 0.25}}, {"agent_result": {"n_input_tokens": 7}}]
    record = only(put("result.json", harbor(agent_result=None, step_results=steps)))
    assert (record.input_tokens, record.cost_usd) == (12, 0.25)


def test_a_reward_that_is_none_gets_no_number(put):
    found = read(put("result.json", harbor(verifier_result={"rewards": {"reward": 7.5}})))
    assert found.records[0].reward is None
    assert "7.5" in found.problems[0].text
    assert only(put("b/result.json", harbor(verifier_result=None))).reward is None


def test_terminal_bench_trials(put, tmp_path):
    put("run/run_metadata.json", {"agent_name": "terminus", "model_name": "m"})
    base = {"task_id": "disk", "is_resolved": True, "failure_mode": "unset", "parser_results": {"test_a": "passed"}}
    put("run/disk/1/results.json", {**base, "id": "1"})
    put("run/disk/2/results.json", {**base, "id": "2", "is_resolved": False, "parser_results": {"test_a": "failed"}})
    put("run/disk/3/results.json", {**base, "id": "3", "is_resolved": False, "failure_mode": "agent_timeout"})
    put("run/disk/4/results.json", {**base, "id": "4", "parser_results": {}})
    put("run/results.json", {"results": [], "accuracy": 0.5})
    found = read(tmp_path)
    assert [r.reward for r in found.records] == [1.0, 0.0, 0.0, None]
    assert [r.failure_class for r in found.records] == [None, "wrong-answer", "agent-timeout", "verifier-error"]
    assert {r.agent for r in found.records} == {"terminus:m"}
    assert "empty table" in found.problems[0].text


def test_terminal_bench_runs_of_which_only_their_own_file_was_published(put, tmp_path):
    base = {"is_resolved": True, "failure_mode": "unset", "parser_results": {"test_a": "passed"}}
    trials = [{**base, "task_id": task, "id": task, "recording_path": f"2025-09-10/{task}/x"} for task in ("a", "b")]
    times = {"trial_started_at": "2025-09-10T04:40:00+00:00", "trial_ended_at": "2025-09-10T04:41:30+00:00"}
    put("one/results.json", {"accuracy": 1.0, "results": [{**t, **times} for t in trials]})
    put("one/a/a.1-of-1/results.json", trials[0])  # the same trial once more
    put("2025-09-11_results.json", {"results": [{**t, "id": f"{t['id']}2"} for t in trials]})
    found = read(tmp_path)
    assert sorted(r.task for r in found.records) == ["a", "a", "a", "b", "b"]
    assert len({r.id for r in found.records}) == 4
    assert {r.duration for r in found.records if "one/results" in r.source} == {90.0}


def test_terminal_bench_trials_of_unknown_agents_are_not_those_of_one_agent(put, tmp_path):
    base = {"task_id": "disk", "is_resolved": False, "failure_mode": "unset", "parser_results": {"test_a": "failed"}}
    for run in ("first", "second"):
        for n in (1, 2):
            put(f"{run}/disk/disk.{n}-of-2/results.json", {**base, "trial_name": f"disk.{n}-of-2"})
    put("older/disk/disk.1-of-1/results.json", {**base, "uuid": "u-1", "trial_name": "disk.1-of-2"})
    found = read(tmp_path)
    assert len({r.id for r in found.records}) == 5
    assert {r.agent for r in found.records} == {"unknown (first)", "unknown (second)", "unknown (older)"}


def test_saas_bench_results(put, tmp_path):
    check = {"label": "order paid", "points": 2, "passed": False, "detail": "open"}
    put(
        "m-1/teamwork_001_r0_verify.json",
        {"task_id": "teamwork_001", "status": "FAIL", "score": 0.5, "checks": [check]},
    )
    put("m-1/teamwork_001_r1_verify.json", {"task_id": "teamwork_001", "status": "ERROR", "score": 0, "checks": []})
    put("m-1/teamwork_001_r2_verify.json", {"task_id": "teamwork_001", "status": "SKIP", "score": 0})
    found = read(tmp_path)
    assert [(r.reward, r.failure_class) for r in found.records] == [
        (0.5, "wrong-answer"), (None, "verifier-error"), (None, "configuration"),
    ]  # fmt: skip
    assert (found.records[0].agent, found.records[0].checks[0].weight) == ("m-1", 2)


def test_waza_runs(put):
    def run(n, passed, score, **more):
        return {"run_number": n, "status": "passed", "duration_ms": 1000,
                "validations": {"has table": {"score": score, "passed": passed, "weight": 1, **more}}}  # fmt: skip

    broken = run(3, False, 0.0, details={"exit_error": "exec: python4: not found"})
    bare = {"run_number": 4, "status": "passed", "validations": {}}
    path = put("results.json", {
        "eval_id": "e", "eval_name": "tables", "config": {"model_id": "m-1"},
        "tasks": [{"test_id": "t1", "runs": [run(1, True, 1.0), run(2, False, 0.0), broken, bare]}],
    })  # fmt: skip
    assert [r.reward for r in read(path).records] == [1.0, 0.0, None, None]


def test_deepgym_results(put):
    path = put("batch.json", {"environment": "sorting", "model": "m-1", "results": [
        {"score": 1.0, "passed": True, "cases": [{"id": "a", "passed": True}]},
        {"score": 1.0, "passed": False},
        {"score": 0.0, "passed": False, "error_type": "runtime_error", "exit_code": 2},
        {"score": 0.0, "passed": False, "error_type": "solution_error", "exit_code": 1},
    ]})  # fmt: skip
    records = read(path).records
    assert [r.status for r in records] == ["passed", "failed", "no verdict", "failed"]
    assert {r.task for r in records} == {"sorting"}


def inspect_log(tmp_path, samples, compression=zipfile.ZIP_DEFLATED):
    path = tmp_path / "log.eval"
    header = {
        "version": 2,
        "status": "success",
        "eval": {"task": "sums", "model": "mock/m", "eval_id": "e1", "created": ""},
    }
    with zipfile.ZipFile(path, "w", compression) as archive:
        for n, sample in enumerate(samples):
            archive.writestr(f"samples/{n}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return path


SAMPLES = [
    {"id": "a", "epoch": 1, "scores": {"match": {"value": "C"}, "includes": {"value": "I"}}, "total_time": 2.5,
     "model_usage": {"mock/m": {"input_tokens": 3, "output_tokens": 4}}},
    {"id": "a", "epoch": 2, "scores": {"match": {"value": "I"}}},
    {"id": "b", "epoch": 1, "scores": {"match": {"value": "I"}}, "limit": {"type": "token"}},
    {"id": "b", "epoch": 2, "scores": {}, "error": {"message": "connection lost"}},
]  # fmt: skip


def test_inspect_samples(tmp_path):
    records = read(inspect_log(tmp_path, SAMPLES)).records
    assert [(r.task, r.attempt, r.reward) for r in records] == [
        ("sums/a", 1, 1.0), ("sums/a", 2, 0.0), ("sums/b", 1, 0.0), ("sums/b", 2, None),
    ]  # fmt: skip
    assert [r.failure_class for r in records] == [None, "wrong-answer", "budget", "infrastructure"]
    assert (records[0].input_tokens, records[0].output_tokens, records[0].duration) == (3, 4, 2.5)


def test_inspect_logs_packed_with_zstd_are_read(tmp_path):
    pytest.importorskip("zipfile_zstd")
    assert len(read(inspect_log(tmp_path, SAMPLES, 93)).records) == 4


def test_files_of_others_are_passed_over(put, tmp_path):
    put("a.json", "[1, 2]")
    put("b.json", "{ not json")
    put("c.json", {"name": "package"})
    put("result.json", {"anything": 1})
    put("d.eval", "no archive")
    found = read(tmp_path)
    assert found.records == []
    assert [p.path.name for p in found.problems] == ["d.eval"]


def test_results_that_were_cut_off_are_named(put, tmp_path):
    put("job/x/result.json", '{"task_name": "sums", ')
    found = read(tmp_path)
    assert [(p.path.name, p.text.partition(":")[0]) for p in found.problems] == [("result.json", "cannot be read")]


def test_a_file_given_by_name_that_holds_no_results_is_named(put, tmp_path):
    put("c.json", {"name": "package"})
    assert "no results" in read(tmp_path / "c.json").problems[0].text


def test_the_command_takes_each_trial_in_once(put, tmp_path):
    put("job/x/result.json", harbor())
    argv = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "import", "job"]
    first = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    again = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (first.returncode, again.returncode) == (0, 0), first.stderr
    assert "1 trial read: 1 taken in, 0 there already" in first.stdout
    assert "1 trial read: 0 taken in, 1 there already" in again.stdout
    listed = subprocess.run([*argv[:3], "trials"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "org/sums" in listed.stdout
