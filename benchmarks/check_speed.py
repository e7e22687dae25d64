"""Compares `scenlint check` with `harbor lint`, and with merely reading the same bytes, side by side in one run.

usage: check_speed.py --harbor PATH/TO/harbor [--rounds 5] [--tasks 1000] FOLDER_OF_HARBOR_TASKS

Both commands are timed in turn, whole process, start-up included, output to a pipe, no cache. Ratios of medians.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], capture_output=True, check=False)


def read_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.read_bytes()


def compare(title: str, folder: Path, harbor: Path, scenlint: Path, rounds: int, tasks: int) -> None:
    """Alternate the commands so that a slow minute of the machine hits all of them."""
    ours, theirs, bytes_only = [], [], []
    for _ in range(rounds):
        ours.append(timed(lambda: run(scenlint, "check", "--format", "json", folder)))
        theirs.append(timed(lambda: run(harbor, "lint", "--json", folder)))
        bytes_only.append(timed(lambda: read_all(folder)))
    a, b, c = (statistics.median(times) for times in (ours, theirs, bytes_only))
    print(f"{title}: scenlint {a:.2f} s ({a / tasks * 1000:.1f} ms a task), harbor lint {b:.2f} s, reading {c:.3f} s")
    print(f"  harbor lint / scenlint = {b / a:.1f}, scenlint / reading = {a / c:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--harbor", type=Path, required=True)
    parser.add_argument("--scenlint", type=Path, default=Path(sys.executable).with_name("scenlint"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=1000)
    options = parser.parse_args()
    found = sorted(p.parent for p in options.folder.glob("*/task.toml"))[: options.tasks]
    with tempfile.TemporaryDirectory() as scratch:
        many = Path(scratch, "many")
        for task in found:
            shutil.copytree(task, many / task.name, symlinks=True)
        one = many / found[0].name
        compare("one task", one, options.harbor, options.scenlint, options.rounds, 1)
        compare(f"{len(found)} tasks", many, options.harbor, options.scenlint, max(1, options.rounds // 2), len(found))


if __name__ == "__main__":
    main()
