"""What a trial costs over the bare engine: the same commands by `docker`, alternating, in one run.

    python benchmarks/trial_overhead.py IMAGE [--rounds 10]

IMAGE is any local image with bash. Three ways, each with the image built before: `one run`, everything in a single
`docker run` with the files mounted; `by hand`, container, copies and commands one after the other with the docker
client, as a person would; and `scenlint`, the trial with its record. Prints medians in seconds and the differences.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import bare
from timing import figure, in_turn, spread

from scenlint.harness import trial
from scenlint.harness.agents import Nop, OracleAgent
from scenlint.harness.engine import Options
from scenlint.task.plan import (
    Build,
    Check,
    Command,
    Container,
    Image,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

REWARD = "/logs/verifier/reward.txt"


def make_plan(folder: Path, image: str) -> RunPlan:
    """A tiny task: write 42 to a file."""
    for path, text in {
        "environment/Dockerfile": f"FROM {image}\nWORKDIR /app\n",
        "solution/solve.sh": "#!/bin/bash\necho 42 > /app/answer.txt\n",
        "tests/test.sh": f'#!/bin/bash\n[ "$(cat /app/answer.txt)" = 42 ] && echo 1 > {REWARD} || echo 0 > {REWARD}\n',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        (folder / path).chmod(0o755)
    verify = Verify(
        Where.CONTAINER,
        (Check("test.sh", Command(("bash", "-c", "/tests/test.sh"))),),
        Reader.REWARD_FILE,
        overlay=(Upload(folder / "tests", "/tests", clear=True, executable=True),),
        verdict_paths=(REWARD,),
    )
    oracle = Oracle(
        (Upload(folder / "solution", "/solution", executable=True),), Command(("bash", "/solution/solve.sh"))
    )
    container = Container(
        Image(build=Build(folder / "environment")),
        folders=("/logs/agent", "/logs/verifier", "/logs/artifacts"),
        workdir="/app",
    )
    return RunPlan("tiny", "harbor", folder, (Step("Write 42.", verify, oracle=oracle),), container)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = make_plan(folder, options.image)
        count = 0

        def scenlint(agent: Nop | OracleAgent, reward: float) -> str:
            nonlocal count
            count += 1
            record = trial.run(plan, agent, folder / f"trial-{count}-{time.time_ns()}", options=Options())
            assert record.reward == reward, record.to_json()
            return record.image

        image = scenlint(OracleAgent(), 1.0)
        assert plan.container is not None
        ready = {plan.container.image: image}
        for agent, made, reward in (("oracle", OracleAgent(), 1.0), ("nop", Nop(), 0.0)):
            ways: dict[str, Callable[[], object]] = {
                "one run": partial(bare.one_run, plan, ready, agent == "oracle"),
                "by hand": partial(bare.by_hand, plan, ready, agent == "oracle"),
                "scenlint": partial(scenlint, made, reward),
            }
            times = in_turn(ways, options.rounds)
            medians = {way: statistics.median(t) for way, t in times.items()}
            for way, took in times.items():
                over = medians["scenlint"] - medians[way]
                if way != "scenlint":
                    figure(f"{agent} trial over `{way}`", f"{over:+.2f} s", f"{medians[way]:.2f} s")
                print(f"{agent:7} {way:9} median {medians[way]:.3f} ({spread(took)})  scenlint's overhead {over:+.3f}")


if __name__ == "__main__":
    main()
