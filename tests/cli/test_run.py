"""`scenlint run`: trials of one agent in the local sandbox, and what an agent of the configuration is given."""

import json

import pytest
from packets import packet

from scenlint.cli.run import named
from scenlint.config import ConfigError, read
from scenlint.harness.command_agent import CommandAgent
from scenlint.harness.harbor_engine import HarborAgent
from scenlint.harness.llm.agent import LlmAgent
from scenlint.task.plan import Upload
from scenlint.testing import base_task


def test_one_trial_of_the_oracle_is_shown_whole(tmp_path, scenlint):
    done = scenlint("run", packet(tmp_path / "product"), "--agent", "oracle")
    assert done.returncode == 0, done.stderr
    assert "status   passed" in done.stdout
    assert "strict   1, passed" in done.stdout
    assert "  passed     test" in done.stdout


@pytest.mark.parametrize(("agent", "code"), [("oracle", 0), ("nop", 1)])
def test_the_exit_status_says_whether_every_trial_passed(tmp_path, scenlint, agent, code):
    assert scenlint("run", packet(tmp_path / "product"), "--agent", agent, "--quiet").returncode == code


def test_it_always_runs_afresh_and_what_it_ran_serves_validate(tmp_path, scenlint):
    folder = packet(tmp_path / "product")

    def run(*more: object) -> list[dict]:
        return json.loads(scenlint("run", folder, "--agent", "oracle", "--format", "json", *more).stdout)["trials"]

    (first,) = run()
    second, third = run("--trials", 2)
    assert len({first["id"], second["id"], third["id"]}) == 3
    assert [t["attempt"] for t in (first, second, third)] == [1, 1, 2]
    told = json.loads(scenlint("validate", folder, "--gate", "--format", "json").stdout)
    assert [(t["id"], t["reused"]) for t in told["trials"] if t["agent"] == "oracle"] == [(second["id"], True)]


def test_an_agent_of_the_configuration_works_on_the_brief(tmp_path, scenlint):
    folder = packet(tmp_path / "product")
    program = 'grep -q answer.txt "$SCENLINT_BRIEF_FILE" && echo $ANSWER > answer.txt'
    (tmp_path / "scenlint.toml").write_text(
        f'[agents.solver]\ncommand = ["sh", "-c", {json.dumps(program)}]\nenv = {{ ANSWER = "42" }}\n'
    )
    done = scenlint("run", folder, "--agent", "solver", "--format", "json")
    (trial,) = json.loads(done.stdout)["trials"]
    assert (trial["agent"], trial["reward"], done.returncode) == ("solver", 1.0, 0)


def test_the_settings_of_an_agent_reach_it(tmp_path):
    (tmp_path / "scenlint.toml").write_text(
        '[agents.solver]\ncommand = ["solve", "--fast"]\non-host = true\nuser = "dev"\n'
        'files = { "bin/solver" = "/opt/solver" }\n'
    )
    assert named("solver", read(tmp_path / "scenlint.toml")) == CommandAgent(
        ("solve", "--fast"), True, "solver", user="dev", uploads=(Upload(tmp_path / "bin/solver", "/opt/solver"),)
    )


def test_an_unknown_agent_is_a_usage_error(tmp_path, scenlint):
    (tmp_path / "scenlint.toml").write_text('[agents.solver]\ncommand = ["true"]\n')
    with pytest.raises(ConfigError, match="known are `oracle`, `nop`, `solver`"):
        named("slover", read(tmp_path / "scenlint.toml"))
    assert scenlint("run", packet(tmp_path / "product"), "--agent", "slover").returncode == 2


def test_what_cannot_be_run_is_said_with_status_3(tmp_path, scenlint):
    folder = packet(tmp_path / "product")
    (folder / "packet.json").write_text((folder / "packet.json").read_text().replace("300", '"soon"'))
    done = scenlint("run", folder, "--agent", "oracle")
    assert done.returncode == 3
    assert "scenlint: product: not run: " in done.stderr


def test_an_oracle_that_does_not_exist_is_not_run(tmp_path, scenlint):
    folder = base_task("packet", tmp_path / "packet")
    (folder / "solve.sh").unlink()
    done = scenlint("run", folder, "--agent", "oracle")
    assert done.returncode == 3
    assert "no reference solution" in done.stderr


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("env = {}", "`agents.a` has no kind: an agent has exactly one of `command`, `llm`, `harbor`"),
        ('command = ["x"]\nllm = { model = "m" }', "`agents.a` has `command` and `llm`"),
        ('llm = { model = "m" }\non-host = true', ":4:1: `agents.a`: `on-host` is for agents with `command`"),
        ('llm = { modell = "m" }', "unknown key `modell` in `agents.a.llm`; did you mean `model`?"),
        ("llm = { max-steps = 3 }", "`agents.a.llm` lacks `model`"),
        ('command = ["x"]\npass-env = ["NAME=value"]', "`agents.a.pass-env`: 'NAME=value' does not match"),
    ],
)
def test_what_is_wrong_with_an_agent_is_said_with_its_place(tmp_path, table, told):
    (tmp_path / "scenlint.toml").write_text(f"# Agents\n[agents.a]\n{table}\n")
    with pytest.raises(ConfigError) as caught:
        read(tmp_path / "scenlint.toml")
    assert told in str(caught.value)


def test_the_settings_of_a_model_reach_it(tmp_path):
    (tmp_path / "scenlint.toml").write_text(
        '[agents.m]\ntimeout = 60\npass-env = ["REGION"]\n[agents.m.llm]\nmodel = "openai/m"\nbase-url = "http://h/v1"\n'
        'api-key-env = "KEY"\nmax-cost = 0.5\nmax-steps = 9\nprice = { input = 1, output = 2.5 }\ntools = false\n'
        "parameters = { top_p = 0.9 }\n"
    )
    assert named("m", read(tmp_path / "scenlint.toml")) == LlmAgent(
        *("m", "openai/m", "http://h/v1", "KEY"),
        tools=False,
        parameters=(("top_p", 0.9),),
        max_steps=9,
        max_cost=0.5,
        price=(1, 2.5),
        pass_env=("REGION",),
        timeout=60,
    )


def test_agents_of_harbor_are_named_short_or_by_a_table(tmp_path):
    (tmp_path / "scenlint.toml").write_text(
        'pass-env = ["MIRROR"]\n[agents.t.harbor]\nagent = "my.mod:Agent"\nmodel = "p/m"\narguments = ["--debug"]\n'
    )
    settings = read(tmp_path / "scenlint.toml")
    assert named("t", settings) == HarborAgent("t", "my.mod:Agent", "p/m", ("--debug",), offered=("MIRROR",))
    short = named("harbor:my.mod:Agent@p/m@2", settings)
    assert (short.name, short.agent, short.model) == ("harbor:my.mod:Agent@p/m@2", "my.mod:Agent", "p/m@2")
    with pytest.raises(ConfigError, match="no agent is called `harbor:`"):
        named("harbor:", settings)
