"""Small plans for the harness's tests."""

import textwrap
from pathlib import Path

from scenlint.task.plan import (
    Build,
    Check,
    Command,
    Container,
    Image,
    Limits,
    Network,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

REWARD = "/logs/verifier/reward.txt"
FOLDERS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
SOLVE = "echo 42 > /app/answer.txt"
TEST = """\
if [ "$(cat /app/answer.txt 2>/dev/null)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + textwrap.dedent(body))
    return path


def dockerfile(folder: Path, base: str, more: str = "") -> Build:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Dockerfile").write_text(f"FROM {base}\nWORKDIR /app\n{more}")
    return Build(folder)


def make_step(folder: Path, solve: str = SOLVE, test: str = TEST, name: str = "", **changes: object) -> Step:
    """A step whose oracle runs `solve` and whose verifier runs `test`."""
    prefix = folder / (name or "single")
    script(prefix / "solution/solve.sh", solve)
    script(prefix / "tests/test.sh", test)
    timeout = changes.pop("verify_timeout", 60.0)
    verify = Verify(
        where=changes.pop("where", Where.CONTAINER),  # type: ignore[arg-type]
        checks=(Check("test.sh", Command(("bash", "-c", "exec /tests/test.sh"))),),
        reader=Reader.REWARD_FILE,
        overlay=(Upload(prefix / "tests", "/tests", clear=True, executable=True),),
        verdict_paths=(REWARD,),
        timeout=timeout,  # type: ignore[arg-type]
        container=changes.pop("verifier", None),  # type: ignore[arg-type]
        artifacts=changes.pop("artifacts", ()),  # type: ignore[arg-type]
    )
    oracle = Oracle(
        uploads=(Upload(prefix / "solution", "/solution", executable=True),),
        command=Command(("bash", "-c", "exec /solution/solve.sh")),
    )
    return Step("Write 42 to /app/answer.txt.", verify, name=name, oracle=oracle, **changes)  # type: ignore[arg-type]


def make_plan(folder: Path, image: Image | Build | str, *steps: Step, **changes: object) -> RunPlan:
    if isinstance(image, str):
        image = Image(reference=image)
    elif isinstance(image, Build):
        image = Image(build=image)
    container = Container(
        image,
        folders=(*FOLDERS, "/app"),
        workdir="/app",
        limits=changes.pop("limits", Limits(cpus=1, memory_mb=512)),  # type: ignore[arg-type]
        **{k: changes.pop(k) for k in ("user", "env", "probe", "command", "build_timeout") if k in changes},
    )
    return RunPlan(
        "org/example",
        "harbor",
        folder,
        steps or (make_step(folder),),
        container,
        network=changes.pop("network", Network.NONE),  # type: ignore[arg-type]
        **changes,  # type: ignore[arg-type]
    )
