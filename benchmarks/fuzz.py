"""Puts damaged tasks through `check`, in process, with bounds of memory and time; says what crashed, hung or was slow.

usage: fuzz.py [--count 10000] [--first 0] [--seed 0] [--memory 1500] [--limit 30]     many; exit status 1 after a fault
       fuzz.py --case N [--seed 0] [--keep FOLDER]                                     one, with its traceback

A case is a task made from a sound one (mutations.py): found, loaded, judged, planned, its fixes worked out, the report
rendered in every format. A process of its own judges case after case; where it dies or gives no answer it is begun
anew behind the culprit, so that one run finds them all.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutations import Maker
from timing import figure

from scenlint.config import Settings
from scenlint.lint import fix
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.run import check
from scenlint.report import FORMATS, render
from scenlint.task.plan import NotRunnableError


def judge(folder: Path) -> dict[str, Any]:
    """Everything the static stage does with what lies below a folder; `faults` are crashes of scenlint's own."""
    settings = Settings(root=folder)
    began = time.process_time()
    report = check([folder], settings, jobs=1)
    spent = time.process_time() - began
    faults = list(report.crashes)
    for name in FORMATS:
        render(report, name, verbose=True).encode()
    fix.plan(report.findings, unsafe=True)
    for ref in Finder(settings).discover([folder]).refs:
        form = format_named(ref.format)
        with suppress(NotRunnableError):
            form.plan(form.load(ref, settings.policy))
    return {"tasks": report.tasks, "findings": len(report.findings), "faults": faults, "seconds": spent}


def work(options: argparse.Namespace) -> None:
    """Judge case after case; a line of JSON before and after each."""
    bound = options.memory << 20
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    maker = Maker(options.seed)
    for number in range(options.first, options.first + options.count):
        print(json.dumps({"case": number}), flush=True)
        faulthandler.dump_traceback_later(options.limit, exit=True)
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            name = maker.make(number, folder)
            answer = {"seed": name, **judge(folder)}
        except BaseException as exc:
            if isinstance(exc, KeyboardInterrupt):
                raise
            place = traceback.extract_tb(exc.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            answer = {"faults": [f"{type(exc).__name__} at {where}: {str(exc)[:200]}"]}
        finally:
            faulthandler.cancel_dump_traceback_later()
            subprocess.run(["rm", "-rf", str(folder)], check=False)
        answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps({"done": number, **answer}), flush=True)


def run(options: argparse.Namespace) -> int:
    """Judge all cases in processes beside this one; gives how many faults there were."""
    end, first = options.first + options.count, options.first
    faults: list[str] = []
    tasks = findings = memory = 0
    slowest: list[tuple[float, int]] = []
    began = time.monotonic()
    while first < end:
        command = [sys.executable, __file__, "--work", "--first", first, "--count", min(options.fresh, end - first)]
        command += ["--seed", options.seed, "--memory", options.memory, "--limit", options.limit]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        worker = subprocess.Popen([str(c) for c in command], text=True, errors="replace", **pipes)
        assert worker.stdout is not None
        assert worker.stderr is not None
        last, open_case = first, None
        for line in worker.stdout:
            said = json.loads(line)
            if "case" in said:
                open_case = said["case"]
                continue
            open_case, last = None, said["done"] + 1
            faults += [f"case {said['done']}: {text}" for text in said["faults"]]
            tasks, findings = tasks + said.get("tasks", 0), findings + said.get("findings", 0)
            memory = max(memory, said["memory"])
            slowest = sorted([*slowest, (said.get("seconds", 0.0), said["done"])], reverse=True)[:5]
        told = worker.stderr.read()
        if worker.wait() != 0 or open_case is not None:
            frames = [row.strip() for row in told.splitlines() if row.lstrip().startswith("File ")]
            why = f"gave no answer or died (status {worker.returncode}): {' < '.join(frames[:3]) or told[-300:]}"
            faults.append(f"case {open_case}: {why}")
            last = (last if open_case is None else open_case) + 1
        elif told.strip():
            faults.append(f"cases {first}-{last - 1}: printed on standard error: {told[-300:]}")
        first = last
        for text in faults[len(faults) - 5 :] if faults else []:
            print(text, file=sys.stderr) if options.verbose else None
    minutes = (time.monotonic() - began) / 60
    print(f"{options.count} cases from {options.first}, seed {options.seed}: {tasks} tasks, {findings} findings")
    print(f"{minutes:.1f} minutes; most memory of a process: {memory} MB")
    print(f"slowest, in CPU time: {', '.join(f'{s:.2f} s (case {n})' for s, n in slowest)}")
    kinds = Counter(text.split(": ", 1)[1] for text in faults)
    for kind, number in kinds.most_common():
        example = next(text for text in faults if text.endswith(kind)).split(":")[0]
        print(f"FAULT {number} x, {example}: {kind}")
    figure(f"faults of {options.count:,} mutated tasks", f"{len(faults)} in {minutes:.0f} min, {memory} MB at most")
    return len(faults)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", type=int, default=1500, help="MB of address space")
    parser.add_argument("--limit", type=float, default=30, help="seconds for one case")
    parser.add_argument("--fresh", type=int, default=500, help="cases after which a new process is begun")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--case", type=int, help="judge only this one")
    parser.add_argument("--keep", type=Path, help="with --case: leave the task there")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
    elif options.case is not None:
        folder = options.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
        folder.mkdir(parents=True, exist_ok=True)
        print(Maker(options.seed).make(options.case, folder), folder)
        os.environ["SCENLINT_TRACEBACK"] = "1"
        print(judge(folder))
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    else:
        sys.exit(bool(run(options)))


if __name__ == "__main__":
    main()
