"""Runs the benchmarks whose inputs are at hand, and prints the figures of all of them as one table.

    python benchmarks/table.py [--harbor PROGRAM --image IMAGE --tasks FOLDER] [--deepgym PROGRAM --environments FOLDER]
                               [--small] [--only NAME …]

FOLDER of --tasks holds Harbor tasks that IMAGE, a local image, can run (see throughput.py). What is not given is left
out, and said to be. Each script can be run alone, with more rounds; --small makes all of them quick and rough.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


def commands(options: argparse.Namespace) -> Iterator[tuple[str, list[str] | None]]:
    """The scripts with their arguments; None where an input is missing."""
    small = options.small
    tasks = sorted(str(p.parent) for p in options.tasks.glob("*/task.toml")) if options.tasks else []
    harbor = ["--harbor", str(options.harbor)]
    peer = bool(options.harbor and tasks)
    yield "check_speed", [*harbor, "--rounds", "1" if small else "5", str(options.tasks)] if peer else None
    yield "trial_overhead", [options.image, "--rounds", "2" if small else "10"] if options.image else None
    contained = peer and options.image
    few = ["--rounds", "1" if small else "3"]
    yield "validate_vs_harbor", [*harbor, *few, options.image, *tasks[:2]] if contained else None
    at_once = ["--parallel", "2"] if small else ["--parallel", "1", "2", "4"]
    yield "throughput", [*harbor, options.image, *(tasks[:4] if small else tasks), *at_once] if contained else None
    deepgym = options.deepgym and options.environments
    yield "deepgym_qa", ["--deepgym", str(options.deepgym), str(options.environments)] if deepgym else None
    yield "grade_scale", ["--rounds", "1"] if small else []
    yield "ledger_scale", ["--trials", "100000", "--rounds", "1"] if small else []
    yield "fuzz", ["--count", "200" if small else "10000"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--harbor", type=Path)
    parser.add_argument("--image")
    parser.add_argument("--tasks", type=Path)
    parser.add_argument("--deepgym", type=Path)
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    rows, missing, failed = list[str](), list[str](), False
    for name, arguments in commands(options):
        if options.only and name not in options.only:
            continue
        if arguments is None:
            missing.append(name)
            continue
        print(f"{name} …", file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, HERE / f"{name}.py", *arguments], capture_output=True, text=True)
        rows += [line[2:] for line in done.stdout.splitlines() if line.startswith("= ")]
        if done.returncode:
            failed = True
            print(f"{name}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}", file=sys.stderr)
    print("| what | scenlint | beside it |\n|---|---|---|")
    for row in rows:
        print(f"| {row} |")
    if missing:
        print(f"\nleft out, as an input is missing: {', '.join(missing)}")
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
