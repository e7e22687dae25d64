"""Compares `scenlint check`, without its cache and with it, with `harbor lint` and with merely reading the same bytes.

usage: check_speed.py --harbor PATH/TO/harbor [--rounds 5] [--tasks 1000] FOLDER_OF_HARBOR_TASKS

Both commands are timed in turn, whole process, start-up included, output to a pipe, no cache; `harbor lint` lints only
the folders that it is given, so each task is an argument. Wall time and user CPU time; medians and their ratios. The
warm cache is one that an untimed run has filled.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from timing import figure

Time = tuple[float, float]  # wall, user CPU


def timed(action: Callable[[], object]) -> Time:
    """How long an action takes, the processes included that it starts and waits for."""
    begin = time.perf_counter(), _user()
    action()
    return time.perf_counter() - begin[0], _user() - begin[1]


def _user() -> float:
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], capture_output=True, check=False)


def read_all(folders: Sequence[Path]) -> None:
    for path in (p for folder in folders for p in folder.rglob("*")):
        if path.is_file():
            path.read_bytes()


def median(times: Sequence[Time]) -> Time:
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


def compare(title: str, folders: Sequence[Path], harbor: Path, scenlint: Path, rounds: int) -> tuple[Time, Time]:
    """The medians of both; the commands alternate, so that a slow minute of the machine hits all of them."""
    ours, warm, theirs, bytes_only = [], [], [], []
    run(scenlint, "check", "--format", "json", *folders)
    for _ in range(rounds):
        ours.append(timed(lambda: run(scenlint, "check", "--no-cache", "--format", "json", *folders)))
        warm.append(timed(lambda: run(scenlint, "check", "--format", "json", *folders)))
        theirs.append(timed(lambda: run(harbor, "lint", "--json", *folders)))
        bytes_only.append(timed(lambda: read_all(folders)))
    a, w, b, c = median(ours), median(warm), median(theirs), median(bytes_only)
    print(f"{title}: wall (user CPU) of scenlint, scenlint with a warm cache, harbor lint, reading the bytes")
    print("  " + ", ".join(f"{wall:.3f} s ({user:.3f} s)" for wall, user in (a, w, b, c)))
    print(f"  harbor lint / scenlint: {b[0] / a[0]:.2f} wall, {b[1] / a[1]:.2f} user CPU")
    figure(f"check of {title}, user CPU", f"{a[1]:.2f} s", f"harbor lint {b[1]:.2f} s: {b[1] / a[1]:.1f} times")
    figure(f"check of {title}, warm cache", f"{w[1]:.2f} s", f"harbor lint {b[1]:.2f} s: {b[1] / w[1]:.1f} times")
    print(f"  no cache / warm cache: {a[0] / w[0]:.2f} wall, {a[1] / w[1]:.2f} user CPU")
    return a, b


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
        os.environ["SCENLINT_CACHE_DIR"] = str(Path(scratch, "cache"))
        tasks = [Path(shutil.copytree(task, Path(scratch, task.name), symlinks=True)) for task in found]
        one = compare("one task", tasks[:1], options.harbor, options.scenlint, options.rounds)
        rounds = max(1, options.rounds // 2)
        many = compare(f"{len(tasks)} tasks", tasks, options.harbor, options.scenlint, rounds)
        further = [
            [(m - o) / max(1, len(tasks) - 1) for m, o in zip(*pair, strict=True)]
            for pair in zip(many, one, strict=True)
        ]
        (ours, our_cpu), (theirs, their_cpu) = further
        print(
            f"each further task: {ours * 1e3:.2f} ms ({our_cpu * 1e3:.2f} ms user CPU), "
            f"harbor lint {theirs * 1e3:.2f} ms ({their_cpu * 1e3:.2f} ms); "
            f"harbor lint / scenlint: {theirs / ours:.2f} wall, {their_cpu / our_cpu:.2f} user CPU"
        )


if __name__ == "__main__":
    main()
