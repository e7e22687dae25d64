"""A language model as an agent, against a real HTTP server that speaks the chat-completions API."""

import importlib.util
import json
import shutil
import threading

import pytest
from llm_server import DONE, KEY, Reply, bash, error, serving, text
from plans import make_plan, make_step

from scenlint.config import load
from scenlint.harness import trial
from scenlint.harness.llm.agent import LlmAgent
from scenlint.lint.discover import Finder, format_named
from scenlint.rulings.classes import rule_on
from scenlint.task.plan import RunPlan
from scenlint.task.record import FailureClass, Status
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(importlib.util.find_spec("minisweagent") is None, reason="needs scenlint[agents]")
sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

SOLVES = bash("echo 42 > answer.txt")
SLOW = error(429, "slow down", "rate_limit_exceeded", retry_after="0")


@pytest.fixture
def plan(tmp_path) -> RunPlan:
    folder = base_task("packet", tmp_path / "product")
    settings = load(folder)
    (ref,) = Finder(settings).discover([folder]).refs
    form = format_named(ref.format)
    return form.plan(form.load(ref, settings.policy))


@pytest.fixture
def solve(plan, tmp_path, monkeypatch):
    """solve(reply, …, **settings) -> (TrialRecord, Server): one trial in the sandbox."""
    monkeypatch.setenv("SOME_KEY", KEY)

    def go(*replies: Reply, stop=None, **settings):
        with serving(*replies) as server:
            agent = LlmAgent("model", "openai/m", server.url, "SOME_KEY", **{"retries": 2, **settings})
            return trial.run(plan, agent, tmp_path / "trial", stop=stop), server

    return go


@sandboxed
def test_a_model_that_solves_the_task_passes_and_what_it_used_up_is_on_record(solve, tmp_path):
    record, server = solve(
        bash("cat factors.txt", f": {'x' * 100_000}", says="Look."), SOLVES, DONE, price=(1.0, 10.0), temperature=0.5
    )
    assert (record.status, record.model, record.agent) == (Status.PASSED, "openai/m", "model"), record.failure_evidence
    assert (record.input_tokens, record.output_tokens, record.cost_usd) == (300, 30, 0.0006)
    assert [r["temperature"] for r in server.asked] == [0.5] * 3
    assert "Write their product" in server.asked[0]["messages"][1]["content"]
    printed, refused = (m["content"] for m in server.asked[1]["messages"][-2:])
    assert "\n7\n" in printed
    assert "longer than 100000 bytes: do it in parts" in refused
    kept = json.loads((tmp_path / "trial" / "agent" / "trajectory.json").read_text())
    roles = "system user assistant tool tool assistant tool assistant exit"
    assert [m["role"] for m in kept["messages"]] == roles.split()
    log = (tmp_path / "trial" / "agent.log").read_text()
    assert "Look.\n$ cat factors.txt" in log


@sandboxed
def test_the_key_reaches_the_provider_and_nothing_else(solve, tmp_path):
    record, server = solve(bash("env; cat /proc/*/environ"), error(401, f"wrong key: {KEY}", "invalid_api_key"))
    assert server.keys == [f"Bearer {KEY}"] * 2
    assert KEY not in json.dumps(server.asked)
    assert record.failure_class is FailureClass.CONFIGURATION
    assert "wrong key: <SOME_KEY>" in record.failure_evidence
    assert KEY not in json.dumps(record.to_json())
    files = [p for p in (tmp_path / "trial").rglob("*") if p.is_file()]
    assert files
    assert not any(KEY.encode() in p.read_bytes() for p in files)


@sandboxed
@pytest.mark.parametrize(
    ("replies", "settings", "found", "told"),
    [
        ([bash("echo 41 > answer.txt"), DONE], {}, FailureClass.WRONG_ANSWER, "failed: `test`"),
        ([text("", "content_filter")], {}, FailureClass.REFUSAL, "finish_reason `content_filter`"),
        ([text("I'm sorry, I can't help with that.")], {}, FailureClass.WRONG_ANSWER, "read like a refusal"),
        ([SLOW], {}, FailureClass.PROVIDER, "RateLimitError: slow down (tried 3 times)"),
        ([bash("true", tokens=(900, 100))], {"max_tokens": 1500}, FailureClass.BUDGET, "`max-tokens` = 1500"),
        (
            [bash("true"), error(400, "This model's maximum context length is 9 tokens.", "context_length_exceeded")],
            {}, FailureClass.CONTEXT, "ContextWindowExceededError",
        ),
    ],
    ids=["wrong", "refusal", "phrase", "rate-limit", "budget", "context"],
)  # fmt: skip
def test_what_ended_the_work_is_told_apart(solve, replies, settings, found, told):
    record, _ = solve(*replies, **settings)
    assert (record.status, record.failure_class) == (Status.FAILED, found), record.failure_evidence
    assert told in record.failure_evidence
    (ruling,) = rule_on([record])
    assert ruling.failure_class is found
    assert bool(ruling.person) == ("refusal" in told and found is FailureClass.WRONG_ANSWER)


@sandboxed
def test_it_goes_on_when_the_provider_has_recovered_and_without_tools(solve):
    cut = Reply(DONE.body, cut=True)
    says = text("Now:\n```mswea_bash_command\necho 42 > answer.txt\n```")
    last = text("```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```")
    record, server = solve(SLOW, error(503, "busy", retry_after="0"), says, cut, last, tools=False)
    assert record.status is Status.PASSED, record.failure_evidence
    assert len(server.asked) == 5
    assert "tools" not in server.asked[0]


@sandboxed
def test_a_model_that_is_silent_for_too_long_is_an_agent_timeout(solve):
    never = threading.Event()
    record, _ = solve(Reply(SOLVES.body, wait=never), timeout=1.0)
    never.set()
    assert (record.status, record.failure_class) == (Status.FAILED, FailureClass.AGENT_TIMEOUT)
    (phase,) = [p for p in record.phases if p.name == "agent"]
    assert phase.error == "timeout: the agent took longer than 1 s"
    assert record.budget["timeout_sec"] == 1.0


@sandboxed
def test_a_process_that_cannot_begin_is_no_failure_of_the_model(solve, tmp_path, monkeypatch):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "minisweagent.py").write_text("raise ImportError('half of it is missing')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    record, server = solve(SOLVES)
    assert (record.failure_class, server.asked) == (FailureClass.CONFIGURATION, [])
    assert record.failure_evidence.endswith("cannot begin: ImportError: half of it is missing")


@sandboxed
def test_an_interruption_ends_the_models_process(solve):
    stop, never = threading.Event(), threading.Event()
    record, _ = solve(SOLVES, Reply(DONE.body, wait=never, arrives=stop), stop=stop)
    never.set()
    assert record.input_tokens == 100  # what it had used up by then
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INTERRUPTED)


@pytest.mark.engine
def test_it_works_in_a_container_which_never_sees_the_key(run, base, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", KEY)
    with serving(bash("env", "echo 42 > answer.txt; pwd"), DONE) as server:
        record = run(make_plan(tmp_path, base.tag), LlmAgent("model", "openai/m", server.url, "SOME_KEY"))
    assert record.status is Status.PASSED, record.to_json()
    seen = [m["content"] for m in server.asked[1]["messages"] if m["role"] == "tool"]
    assert "/app" in seen[1]
    assert KEY not in seen[0]


# The model layer by itself, in this process


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """ask(reply) -> (how often it asked, the failure class): one question, with two further tries."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
    monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("SOME_KEY", KEY)
    from scenlint.harness.llm.endpoint import Spent, endpoint, typed

    def go(reply: Reply, first: bool = True) -> tuple[int, str]:
        with serving(reply) as server:
            agent = LlmAgent("model", "openai/m", server.url, "SOME_KEY", retries=2)
            model = endpoint(agent.job(make_step(tmp_path), [], ""), Spent(lambda _: None, lambda _: None))
            with pytest.raises(Exception) as caught:  # noqa: PT011
                model.query([{"role": "user", "content": "?"}])
            return len(server.asked), typed(caught.value, first=first)[0]

    return go


@pytest.mark.parametrize(
    ("reply", "asked", "found"),
    [
        (Reply(DONE.body, cut=True), 3, "provider"),
        (error(500, "oops", retry_after="0"), 3, "provider"),
        (error(503, "overloaded", retry_after="0"), 3, "provider"),
        (error(429, "You exceeded your current quota", "insufficient_quota"), 1, "provider"),
        (error(401, "who are you", "invalid_api_key"), 1, "configuration"),
        (error(403, "not for you"), 1, "configuration"),
        (error(404, "The model `m` does not exist", "model_not_found"), 1, "configuration"),
        (error(400, "what is this parameter"), 1, "configuration"),
    ],
    ids=["cut", "500", "503", "quota", "401", "403", "404", "400"],
)
def test_failures_of_the_provider_and_of_the_configuration_are_told_apart(ask, reply, asked, found):
    assert ask(reply) == (asked, found)


def test_a_bad_request_in_the_middle_may_be_the_agents_own_doing(ask):
    assert ask(error(400, "cannot parse your tool call"), first=False) == (1, "agent-crash")
