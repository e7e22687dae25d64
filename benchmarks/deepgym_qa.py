"""Runs `scenlint validate --deep` and `deepgym qa --mutants` on the same environments, one after the other, and records
what each finds and how long it takes.

usage: deepgym_qa.py --deepgym PATH/TO/deepgym [--scenlint PATH/TO/scenlint] [--out FOLDER] FOLDER_OF_ENVIRONMENTS

An environment is a folder with task.md, verifier.py and reference_solution.py. Both programs run with their own
defaults, whole process, start-up included; everything that they print is kept in FOLDER (<name>.deepgym.json and
<name>.scenlint.json), so that every finding can be read and done again by hand. The table counts what each program
says; which of it is true is for a person to find out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timing import figure

PARTS = ("task.md", "verifier.py", "reference_solution.py")
TIMEOUT = 3600.0  # seconds for one environment


@dataclass(frozen=True)
class Ran:
    """One program on one environment."""

    verdict: str
    found: list[str]
    seconds: float


def environments(folder: Path) -> Iterator[Path]:
    """Folders that have all parts, by name."""
    yield from sorted(f.parent for f in folder.rglob(PARTS[0]) if all((f.parent / p).is_file() for p in PARTS))


def printed(command: Sequence[object], file: Path) -> tuple[Any, float]:
    """What a program prints as JSON, and its wall time; None where it is no JSON (the file has what it was)."""
    began = time.perf_counter()
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    seconds = time.perf_counter() - began
    file.write_text(ran.stdout or ran.stderr, "utf-8")
    try:
        return json.loads(ran.stdout), seconds
    except ValueError:
        return None, seconds


def deepgym(program: Path, folder: Path, file: Path) -> Ran:
    told, seconds = printed((program, "qa", folder, "--mutants", "--json"), file)
    if not told:
        return Ran("no report", [], seconds)
    failed = [f"{check['name']}: {check['details']}" for check in told[0]["checks"] if check["status"] == "fail"]
    return Ran(told[0]["status"], failed, seconds)


def scenlint(program: Path, folder: Path, file: Path) -> Ran:
    """Findings of the experiments; a fresh ledger, so that nothing recorded serves."""
    with tempfile.TemporaryDirectory() as ledger:
        command = (program, "validate", folder, "--deep", "--quiet", "--format", "json", "--ledger", ledger)
        told, seconds = printed(command, file)
    if not told:
        return Ran("no report", [], seconds)
    if not any(t["reward"] is not None for t in told.get("trials") or ()):
        return Ran("not judged", [], seconds)
    found = [f"{f['rule']}: {f['message']}" for f in told["findings"]]
    errors = sum(f["severity"] == "error" for f in told["findings"])
    return Ran("fail" if errors else "warn" if found else "pass", found, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the environments, anywhere below it")
    parser.add_argument("--deepgym", type=Path, required=True, help="its program")
    parser.add_argument("--scenlint", type=Path, default=shutil.which("scenlint"), help="its program")
    parser.add_argument("--out", type=Path, default=Path("deepgym-qa"), help="where what they print is kept")
    arguments = parser.parse_args()
    if arguments.scenlint is None:
        parser.error("there is no `scenlint` on PATH: name it with --scenlint")
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, Ran, Ran]] = []
    print("| environment | deepgym | s | scenlint | s |\n|---|---|---|---|---|")
    for folder in environments(arguments.folder):
        name = folder.relative_to(arguments.folder).as_posix()
        file = str(arguments.out / name.replace("/", "-"))
        theirs = deepgym(arguments.deepgym, folder, Path(f"{file}.deepgym.json"))
        ours = scenlint(arguments.scenlint, folder, Path(f"{file}.scenlint.json"))
        rows.append((name, theirs, ours))
        print(f"| {name} | {_cell(theirs)} | {theirs.seconds:.1f} | {_cell(ours)} | {ours.seconds:.1f} |", flush=True)
    if not rows:
        print(f"no environment below {arguments.folder}", file=sys.stderr)
        return 2
    times = [(theirs.seconds, ours.seconds) for _, theirs, ours in rows]
    ours_all, theirs_all = sum(t for _, t in times), sum(t for t, _ in times)
    figure(f"deep stage on {len(rows)} environments", f"{ours_all:.0f} s", f"deepgym qa --mutants {theirs_all:.0f} s")
    print(f"\n{len(rows)} environments; median {statistics.median(t for t, _ in times):.1f} s and ", end="")
    print(f"{statistics.median(t for _, t in times):.1f} s, in all {sum(t for t, _ in times):.0f} s and ", end="")
    print(f"{sum(t for _, t in times):.0f} s")
    return 0


def _cell(ran: Ran) -> str:
    names = list(dict.fromkeys(line.partition(":")[0] for line in ran.found))
    return f"{ran.verdict}" + (f": {', '.join(names)}" if names else "")


if __name__ == "__main__":
    raise SystemExit(main())
