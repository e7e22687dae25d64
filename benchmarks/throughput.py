"""Trials an hour of oracle and nop over many Harbor tasks, 1, 2 and 4 at a time, here and by `harbor run -n`.

    python benchmarks/throughput.py --harbor PATH/TO/harbor IMAGE TASK… [--parallel 1 2 4] [--rounds 1]

IMAGE is a local image that stands in for every base image, with what the tasks need of it: bash, python3, setpriv,
pytest and whatever packages the tasks' own Dockerfiles install, as `RUN` lines with a package manager are taken out of
both copies of a task. A task without a solution gets one that does nothing, so that both tools make the same two trials
of each. As in validate_vs_harbor.py, both copies get a public network. A first run that is not timed builds the images.

For each number at a time, in turn: `harbor run -a oracle -n N` and `harbor run -a nop -n N` on the whole folder, and
`scenlint validate --gate --no-resume --jobs N`, whole processes. Prints trials an hour, and how often the two tools
gave one trial the same reward.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from timing import figure, in_turn, spread
from validate_vs_harbor import AGENTS, Bench, called, edit

INSTALLS = re.compile(
    r"^RUN (?:[^\n]*\\\n)*?[^\n]*\b(?:apt-get|apt|pip3?|curl|wget|npm|conda)\b[^\n]*(?:\\\n[^\n]*)*\n", re.MULTILINE
)
BASE = re.compile(r"^FROM \S+", re.MULTILINE)
NOTHING = "#!/bin/bash\ntrue\n"

Rewards = dict[tuple[str, str], float | None]  # (task, agent) -> its reward


def staged(task: Path, folder: Path, image: str) -> Path:
    """A copy of a task that needs nothing but the image."""
    target = folder / task.name
    shutil.copytree(task, target)
    for file in target.rglob("Dockerfile"):
        edit(file, lambda text: BASE.sub(f"FROM {image}", INSTALLS.sub("", text)))
    solution = target / "solution" / "solve.sh"
    if not solution.exists():
        solution.parent.mkdir(exist_ok=True)
        solution.write_text(NOTHING)
    return target


def by_harbor(bench: Bench, parallel: int) -> Rewards:
    out: Rewards = {}
    for agent in AGENTS:
        jobs = Path(tempfile.mkdtemp(dir=bench.root, prefix="jobs-"))
        given = ("-p", bench.root / "harbor", "-a", agent, "-n", str(parallel), "-o", jobs, "-q", "-y")
        called(bench.options.harbor, "run", *given)
        for file in jobs.glob("*/*/result.json"):
            found = json.loads(file.read_text())
            rewards = (found.get("verifier_result") or {}).get("rewards") or {}
            out[found["task_name"].rpartition("/")[2], agent] = rewards.get("reward")
    return out


def by_scenlint(bench: Bench, parallel: int) -> Rewards:
    ledger = tempfile.mkdtemp(dir=bench.root, prefix="ledger-")
    where = ("--config", bench.root / "scenlint.toml", "--ledger", ledger, "-f", "json", "-q")
    out = called(
        *(bench.options.scenlint, "validate", bench.root / "scenlint", "--gate", "--no-resume"),
        *("--jobs", str(parallel), *where),
    )
    return {(t["task"].rpartition("/")[2], t["agent"]): t["reward"] for t in json.loads(out)["trials"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("tasks", type=Path, nargs="+")
    parser.add_argument("--harbor", type=Path, required=True)
    parser.add_argument("--scenlint", type=Path, default=Path(sys.executable).with_name("scenlint"))
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=1)
    parser.set_defaults(with_init=False, keep_network=False)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        bench = Bench(Path(name), options)
        for task in options.tasks:
            bench.copy(staged(task, Path(name, "staged"), options.image))
        last: dict[str, Rewards] = {"harbor": by_harbor(bench, 2), "scenlint": by_scenlint(bench, 2)}
        same = [key for key, reward in last["harbor"].items() if last["scenlint"].get(key) == reward]
        print(f"{len(options.tasks)} tasks, {len(last['scenlint'])} trials; {len(same)} rewards are the same")
        print(f"{'at a time':10} {'harbor':>26} {'scenlint':>26}   ratio")
        for parallel in options.parallel:
            ways = {
                "harbor": lambda parallel=parallel: by_harbor(bench, parallel),
                "scenlint": lambda parallel=parallel: by_scenlint(bench, parallel),
            }
            times = in_turn(ways, options.rounds)
            rates = {way: 3600 * 2 * len(options.tasks) / statistics.median(t) for way, t in times.items()}
            told = [f"{rates[way]:6.0f} an hour ({spread(times[way])} s)" for way in ways]
            figure(
                f"trials an hour, {parallel} at a time",
                f"{rates['scenlint']:.0f}",
                f"harbor run -n {rates['harbor']:.0f}: {rates['scenlint'] / rates['harbor']:.1f} times",
            )
            print(f"{parallel:<10} {told[0]:>26} {told[1]:>26}   {rates['scenlint'] / rates['harbor']:.1f}")


if __name__ == "__main__":
    main()
