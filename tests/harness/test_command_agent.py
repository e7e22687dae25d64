"""Programs as agents: what they are given, what they used up, how they fail, and secrets that are never kept."""

import json
import shutil
from dataclasses import replace

import pytest
from plans import make_plan

from scenlint.config import load
from scenlint.harness import trial
from scenlint.harness.command_agent import CommandAgent
from scenlint.harness.secrets import Redactor
from scenlint.harness.worked import Usage, UsageKeys
from scenlint.lint.discover import Finder, format_named
from scenlint.task.plan import NotRunnableError, RunPlan
from scenlint.task.record import FailureClass, Phase, Status, TrialRecord
from scenlint.testing import base_task

SECRET = "s3cret-0123456789"
sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


@pytest.fixture
def solve(tmp_path):
    """solve(script, **settings) -> TrialRecord: one trial in the sandbox by an agent that is a shell script."""
    folder = base_task("packet", tmp_path / "product")
    settings = load(folder)
    (ref,) = Finder(settings).discover([folder]).refs
    form = format_named(ref.format)
    plan = form.plan(form.load(ref, settings.policy))

    def go(program: str | tuple[str, ...], **more):
        argv = ("sh", "-c", program) if isinstance(program, str) else program
        return trial.run(plan, CommandAgent(argv, name="script", **more), tmp_path / "trial")

    return go


# What it used up


@sandboxed
def test_cost_and_tokens_are_read_from_the_file_that_the_agent_writes(solve):
    told = {"cost_usd": 0.25, "input_tokens": 1200, "output_tokens": 34, "model": "provider/model-1"}
    record = solve(f"echo 42 > answer.txt; echo '{json.dumps(told)}' > $SCENLINT_USAGE_FILE")
    assert record.status is Status.PASSED, record.failure_evidence
    assert (record.cost_usd, record.input_tokens, record.output_tokens) == (0.25, 1200, 34)
    assert record.model == "provider/model-1"


@sandboxed
def test_a_file_of_another_shape_is_read_as_the_configuration_says(solve):
    keys = UsageKeys("/workspace/out.jsonl", "total", "/usage/in", "/usage/out")
    program = (
        """echo 42 > answer.txt; printf '{"n": 1}\\n{"total": 1.5, "usage": {"in": 7, "out": 8}}\\n' > out.jsonl"""
    )
    record = solve(program, usage=keys, model="model-2")
    assert (record.cost_usd, record.input_tokens, record.output_tokens, record.model) == (1.5, 7, 8, "model-2")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"not JSON", "is no JSON"),
        (b'{"cost_usd": "a lot"}', "`cost_usd` in `usage.json` is no number of zero or more"),
        (b'{"cost_usd": -1}', "no number of zero or more"),
        (b'{"input_tokens": NaN}', "`input_tokens`"),
        (b"[1, 2]", ""),
        (b"", ""),
    ],
)
def test_figures_that_are_none_are_left_out_and_it_is_said(content, problem):
    usage, told = UsageKeys().read(content)
    assert usage == Usage()
    assert problem in told
    assert bool(problem) == bool(told)


# How it fails


@sandboxed
def test_a_program_that_is_not_there_is_a_matter_of_configuration(solve):
    record = solve(("no-such-agent",))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.CONFIGURATION)
    assert "`no-such-agent` of the agent `script` cannot be started" in record.failure_evidence


@sandboxed
def test_a_program_that_fails_crashed_and_its_last_words_are_evidence(solve):
    record = solve("echo starting; echo 'fatal: no model' >&2; exit 3")
    assert (record.status, record.failure_class) == (Status.FAILED, FailureClass.AGENT_CRASH)
    assert record.failure_evidence.startswith("the agent ended with exit status 3: fatal: no model; ")


@sandboxed
def test_an_own_time_limit_ends_it_before_the_tasks(solve):
    record = solve("echo 41 > answer.txt; exec sleep 600", timeout=0.5)
    assert record.failure_class is FailureClass.AGENT_TIMEOUT
    assert record.budget["timeout_sec"] == 0.5


@sandboxed
def test_what_installs_it_runs_first_and_once_and_its_failure_is_no_failure_of_the_agent(solve):
    assert solve("sh ./agent", install=("sh", "-c", "echo 'echo 42 > answer.txt' > agent")).status is Status.PASSED
    record = solve("true", install=("sh", "-c", "echo 'no such package'; exit 1"))
    assert record.failure_class is FailureClass.CONFIGURATION
    assert "cannot be installed: `install` ended with exit status 1; no such package" in record.failure_evidence


def test_a_program_on_the_host_is_looked_for_before_anything_is_built(tmp_path):
    plan = replace(make_plan(tmp_path, "base"))
    with pytest.raises(NotRunnableError, match="`no-such-agent` of the agent `command` is not installed here"):
        CommandAgent(("no-such-agent",), on_host=True).check(plan)
    CommandAgent(("sh",), on_host=True).check(plan)


# Secrets


@sandboxed
def test_a_secret_reaches_the_agent_by_name_and_is_nowhere_kept(solve, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    program = f'test "$SOME_TOKEN" = {SECRET} && echo "$SOME_TOKEN" | tee answer.txt; echo "$SOME_TOKEN" >&2; exit 1'
    record = solve(program, pass_env=("SOME_TOKEN",))
    assert record.failure_evidence.startswith("the agent ended with exit status 1: <SOME_TOKEN>; ")
    assert (tmp_path / "trial" / "agent.log").read_text() == "<SOME_TOKEN>\n<SOME_TOKEN>\n"
    assert SECRET not in json.dumps(record.to_json())
    assert not [p for p in (tmp_path / "trial").rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]


def test_a_secret_that_is_not_set_is_asked_for_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.delenv("SOME_TOKEN", raising=False)
    with pytest.raises(NotRunnableError, match="is to be given `SOME_TOKEN`, which is not set here"):
        CommandAgent(("sh",), pass_env=("SOME_TOKEN",)).check(RunPlan("t", "packet", tmp_path, (), workdir=tmp_path))


@pytest.mark.engine
def test_a_program_on_the_host_is_given_nothing_but_what_is_named(run, base, tmp_path, monkeypatch):
    for name in ("SOME_TOKEN", "OTHER_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    solves = 'docker exec "$SCENLINT_CONTAINER" sh -c "echo 42 > /app/answer.txt"'
    program = f'test -n "$SOME_TOKEN" && test -z "$OTHER_TOKEN" && {solves}'
    agent = CommandAgent(("sh", "-c", program), on_host=True, pass_env=("SOME_TOKEN",))
    assert run(make_plan(tmp_path, base.tag), agent).status is Status.PASSED


@pytest.mark.engine
def test_a_program_is_installed_in_the_container_as_root_and_told_apart_when_missing(run, base, tmp_path):
    install = (
        "sh",
        "-c",
        "printf '#!/bin/sh\\necho 42 > /app/answer.txt\\n' > /usr/bin/agent; chmod 755 /usr/bin/agent",
    )
    plan = make_plan(tmp_path, base.tag)
    assert run(plan, CommandAgent(("agent",), install=install)).status is Status.PASSED
    assert run(plan, CommandAgent(("agent",))).failure_class is FailureClass.CONFIGURATION


def test_files_are_redacted_across_the_pieces_in_which_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("scenlint.harness.secrets._CHUNK", 8)
    redactor = Redactor((("LONG", SECRET + "-more"), ("SHORT", SECRET)))
    (tmp_path / "log").write_text(f"{'x' * 5}{SECRET}-more, {SECRET}.")
    (tmp_path / "data").write_bytes(b"\0\1" + SECRET.encode() + b"\2")
    (tmp_path / "link").symlink_to(tmp_path / "log")
    redactor.folder(tmp_path)
    assert (tmp_path / "log").read_text() == "xxxxx<LONG>, <SHORT>."
    assert (tmp_path / "data").read_bytes() == b"\0\1" + b"*" * len(SECRET) + b"\2"


def test_every_text_of_a_record_is_redacted():
    record = TrialRecord("t", "task", "packet", "a", failure_evidence=f"x {SECRET}", budget={"k": [SECRET]})
    record.phases = [Phase("agent", output=SECRET)]
    Redactor((("TOKEN", SECRET),)).record(record)
    assert (record.failure_evidence, record.phases[0].output, record.budget) == (
        "x <TOKEN>",
        "<TOKEN>",
        {"k": ["<TOKEN>"]},
    )
    assert record.status is Status.NO_VERDICT


class _Given:
    secrets = ("TINY", "UNSET")


def test_a_value_too_short_to_be_a_secret_is_not_looked_for(monkeypatch):
    monkeypatch.setenv("TINY", "true")
    monkeypatch.delenv("UNSET", raising=False)
    assert Redactor.of(_Given()).text("it is true") == "it is true"
