"""The examples of the page on agents are what the configuration takes, and the program among them works."""

import re
import shutil
from pathlib import Path

import pytest

from scenlint.config import read
from scenlint.dynamic.agents import agent_named
from scenlint.harness.command_agent import CommandAgent
from scenlint.harness.harbor_engine import HarborAgent
from scenlint.harness.llm.agent import LlmAgent
from scenlint.testing import base_task

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def configured(tmp_path) -> Path:
    (tmp_path / "scenlint.toml").write_text("\n".join(blocks("toml")))
    return tmp_path / "scenlint.toml"


def test_every_kind_of_agent_is_shown_as_the_configuration_takes_it(configured):
    settings = read(configured)
    kinds = {name: type(agent_named(name, settings)) for name in settings.agents}
    assert set(kinds.values()) == {CommandAgent, LlmAgent, HarborAgent}


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_the_program_that_is_shown_solves_a_task_and_says_what_it_cost(configured, scenlint):
    base_task("packet", configured.parent / "product")
    program = configured.parent / "agents/baseline/solve.sh"
    program.parent.mkdir(parents=True)
    program.write_text(blocks("sh")[0])
    done = scenlint("run", "product", "--agent", "baseline", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert '"cost_usd": 0.02' in done.stdout
    assert '"model": "baseline-1"' in done.stdout
