"""The agent of a name, for every command: built in, of the configuration's `[agents]`, or one of Harbor's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenlint.config import ConfigError, Settings
from scenlint.harness.agents import Agent, CommandAgent, Nop, OracleAgent
from scenlint.harness.harbor_engine import HarborAgent
from scenlint.harness.llm.agent import LlmAgent
from scenlint.harness.worked import UsageKeys
from scenlint.task.plan import Upload

_HARBOR = "harbor:"


def agent_named(name: str, settings: Settings) -> Agent:
    """The agent of that name; ConfigError where there is none."""
    if name in ("oracle", "nop"):
        return OracleAgent() if name == "oracle" else Nop()
    given = settings.agents.get(name)
    if given is None and name.startswith(_HARBOR) and len(name) > len(_HARBOR):
        agent, _, model = name.removeprefix(_HARBOR).partition("@")
        return HarborAgent(name, agent, model, offered=settings.policy.pass_env)
    if given is None:
        known = ", ".join(f"`{n}`" for n in ("oracle", "nop", *settings.agents))
        raise ConfigError(
            f"no agent is called `{name}`; known are {known} (`[agents.{name}]` would define it, `harbor:NAME` is one "
            "of Harbor's)"
        )
    if "llm" in given:
        return _llm(name, given)
    if "harbor" in given:
        table = given["harbor"]
        return HarborAgent(
            name, table["agent"], table.get("model", ""), tuple(table.get("arguments", ())),
            tuple(given.get("pass-env", ())), settings.policy.pass_env,
        )  # fmt: skip
    return _command(name, given, settings.root)


def _command(name: str, given: Mapping[str, Any], root: Path) -> CommandAgent:
    program, *arguments = given["command"]
    on_host = given.get("on-host", False)
    if on_host and "/" in program:
        program = str(root / program)
    return CommandAgent(
        (program, *arguments),
        on_host=on_host,
        name=name,
        env=tuple(given.get("env", {}).items()),
        user=given.get("user"),
        uploads=tuple(Upload(root / source, target) for source, target in given.get("files", {}).items()),
        pass_env=tuple(given.get("pass-env", ())),
        install=tuple(given.get("install", ())),
        install_timeout=given.get("install-timeout", 600.0),
        timeout=given.get("timeout"),
        model=given.get("model", ""),
        usage=UsageKeys(**_plain(given.get("usage", {}))),
    )


def _llm(name: str, given: Mapping[str, Any]) -> LlmAgent:
    table = _plain(given["llm"])
    price = table.pop("price", None)
    return LlmAgent(
        name=name,
        key_name=table.pop("api_key_env", ""),
        parameters=tuple(sorted(table.pop("parameters", {}).items())),
        price=(price["input"], price["output"]) if price else None,
        pass_env=tuple(given.get("pass-env", ())),
        timeout=given.get("timeout"),
        **table,
    )


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys as Python has them."""
    return {key.replace("-", "_"): value for key, value in table.items()}
