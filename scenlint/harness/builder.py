"""Builds one image: through a client that speaks BuildKit, or through the SDK's classic builder where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

from scenlint.harness.capture import Capture, Watch, run_process
from scenlint.harness.engine import CACHE_LABEL, Engine, EngineError, faults
from scenlint.harness.environment import Fault, FaultTimeoutError, StoppedError
from scenlint.task.plan import Build

_HEREDOC = re.compile(r"^[ \t]*(?:RUN|COPY|ADD)\b[^\n]*<<-?[\"']?\w", re.M | re.I)
_NAME = ".scenlint.Dockerfile"  # in the context that the SDK sends
_MOUNT = re.compile(r"^[ \t]*RUN\s+--mount", re.M | re.I)
_MISSING = re.compile(
    r"(?:failed to (?:resolve source metadata|do request|load cache key)|pull access denied|manifest unknown|"
    r"no such host|dial tcp|i/o timeout|not found: does not exist|temporary failure (?:in name resolution|resolving)|"
    r"could not resolve host|network is unreachable)[^\n]*",
    re.I,
)


def build(
    engine: Engine, plan: Build, dockerfile: Path, tag: str, network: str | None, log: Path | None, watch: Watch
) -> str:
    """Build `plan` from `dockerfile` (which may lie outside the context); what the builder said, head and tail."""
    program = client(engine)
    if program is None:
        return _classic(engine, plan, dockerfile, tag, network, log, watch)
    argv = [*program, "--file", str(dockerfile), "--tag", tag, "--label", f"{CACHE_LABEL}={tag}"]
    for name, value in plan.arguments:
        argv += ["--build-arg", f"{name}={value}"]
    if plan.target:
        argv += ["--target", plan.target]
    if network:
        argv += ["--network", network]
    if plan.anew:
        argv.append("--no-cache")
    env = {**os.environ, "DOCKER_BUILDKIT": "1", "BUILDKIT_PROGRESS": "plain", "DOCKER_CLI_HINTS": "false"}
    if engine.tls is None:
        env |= {"DOCKER_HOST": engine.url}
        env.pop("DOCKER_CONTEXT", None)
    ran = run_process([*argv, str(plan.context)], log, env=env, timeout=watch.left, stop=watch.stop)
    if ran.timed_out:
        raise FaultTimeoutError(f"the build took longer than {watch.timeout:.0f} s\n{_end(ran.output)}")
    if ran.exit_code != 0:
        raise _failure(dockerfile, ran.output)
    return ran.output


def client(engine: Engine) -> tuple[str, ...] | None:
    """The program that asks this engine for BuildKit, with its arguments; None where only the classic builder is."""
    return _client(engine.url) if _speaks_buildkit(engine) else None


def _speaks_buildkit(engine: Engine) -> bool:
    with faults("asking the engine for its builder"):
        answer = engine.api.get(engine.api.base_url + "/_ping", timeout=engine.api.timeout)
    # Podman answers the classic request only.
    return "Libpod-API-Version" not in answer.headers


@lru_cache
def _client(url: str) -> tuple[str, ...] | None:
    """A docker client that can ask for BuildKit: one with buildx, or one so old (18.09 to 22) that it is built in."""
    end_with_us = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
    found = (shutil.which("docker", path=folder) for folder in [*os.get_exec_path(), "/usr/bin", "/usr/local/bin"])
    for docker in dict.fromkeys(f for f in found if f):
        if _says([docker, "buildx", "version"]) is not None:
            return (*end_with_us, docker, "buildx", "build", "--load", "--progress", "plain")
        version = re.search(r"version (\d+)", _says([docker, "--version"]) or "")
        if version and 18 < int(version[1]) < 23:
            return (*end_with_us, docker, "build", "--progress", "plain")
    return None


def _says(argv: list[str]) -> str | None:
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout if ran.returncode == 0 else None


def _classic(
    engine: Engine, plan: Build, dockerfile: Path, tag: str, network: str | None, log: Path | None, watch: Watch
) -> str:
    capture = Capture(log)
    try:
        with faults("building the image"):
            events = engine.api.build(
                fileobj=_context(plan.context, dockerfile),
                custom_context=True,
                dockerfile=_NAME,
                tag=tag,
                labels={CACHE_LABEL: tag},
                buildargs=dict(plan.arguments),
                target=plan.target or "",
                network_mode=network,
                nocache=plan.anew,
                rm=True,
                forcerm=True,
                decode=True,
                timeout=int(watch.left) + 1,
            )
            with closing(events):  # which also tells the engine to stop building
                for event in events:
                    watch.check(_end(capture.text))
                    capture.write(str(event.get("stream") or event.get("status") or event.get("error") or "").encode())
                    if "error" in event:
                        raise Fault(capture.text)
    except EngineError:
        watch.check(_end(capture.text))  # a silent builder is out of time, not out of reach
        raise
    except (FaultTimeoutError, StoppedError):
        raise
    except Fault as exc:
        raise _failure(dockerfile, str(exc)) from exc
    finally:
        capture.close()
    return capture.text


def _context(folder: Path, dockerfile: Path) -> IO[bytes]:
    """The context as an archive, with the Dockerfile in it: what the SDK makes of one from outside, Podman misreads."""
    from docker.utils.build import tar

    ignore = folder / ".dockerignore"
    lines = ignore.read_text("utf-8", "replace").splitlines() if ignore.is_file() else []
    exclude = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    content = dockerfile.read_bytes().decode("utf-8", "surrogateescape")
    return cast(IO[bytes], tar(folder, exclude=exclude, dockerfile=(_NAME, content)))


def _failure(dockerfile: Path, said: str) -> Fault:
    """Why a build failed, for the author of the task; an EngineError where this machine lacks what the build needs."""
    text = dockerfile.read_text("utf-8", "replace")
    heredoc = _HEREDOC.search(text)
    if heredoc and re.search(r"unknown instruction|parse error|syntax error", said, re.I):
        line = text.count("\n", 0, heredoc.start()) + 1 + heredoc[0].startswith("\n")
        return EngineError(
            f"the Dockerfile has a here-document (line {line}), which this engine's builder does not know: it needs "
            f"Docker 23 with buildx, or `# syntax=docker/dockerfile:1` and a registry that answers\n{_end(said)}"
        )
    if _MOUNT.search(text) and "requires BuildKit" in said:
        return EngineError(
            "the Dockerfile has `RUN --mount`, which needs BuildKit, and no docker client here can ask for it: "
            f"install buildx\n{_end(said)}"
        )
    missing = _MISSING.search(said)
    if missing:
        return EngineError(
            f"the build needs something that cannot be had here ({missing[0].strip()}). What to do for an image: pull "
            f"or load it where a registry answers, or map it under `[images] substitutes`\n{_end(said)}"
        )
    return Fault(f"the build failed\n{_end(said)}")


def _end(said: str, lines: int = 15) -> str:
    return "\n".join(said.rstrip().splitlines()[-lines:])
