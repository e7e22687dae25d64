"""Times the summing up of a run of ten thousand recorded trials, with the memory that it takes.

usage: grade_scale.py [--trials 10000] [--scenarios 100] [--output 4000] [--rounds 3]

The trials are synthetic: one agent on every scenario, each trial with the record of an ordinary one (eight phases with
`--output` characters each, ten checks), most with a verdict, some cut off by a limit, some excluded. Timed is a whole
process, start-up included, that reads the ledger, rules on every trial and prints all figures as text and as JSON, as
`scenlint grade` does at its end; and `scenlint report` on the same run.
Wall time (median of the rounds) and the largest resident memory.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from timing import figure

from scenlint.grading.audit.chain import Chain, path_of
from scenlint.grading.model import KIND, Run, Scenario, version_of
from scenlint.harness.ledger import Ledger, schema
from scenlint.task.record import CheckResult, Experiment, FailureClass, Phase, PhaseName, Status, TrialRecord

SUM_UP = """
import json, sys
from pathlib import Path
from scenlint.grading.output import summary_json, summary_text
from scenlint.grading.runs import records_of, runs
from scenlint.grading.summary import summarise
from scenlint.harness.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), create=False)
(run,) = runs(ledger.folder)
summary = summarise(run, records_of(ledger, run))
print(summary_text(summary), json.dumps(summary_json(summary)))
"""
RUN = "20300101-000000-abcd"
OUTCOMES = (
    (50, Status.PASSED, None),
    (30, Status.FAILED, FailureClass.WRONG_ANSWER),
    (8, Status.FAILED, FailureClass.AGENT_TIMEOUT),
    (6, Status.FAILED, FailureClass.TOOL_ERROR),
    (6, Status.NO_VERDICT, FailureClass.INFRASTRUCTURE),
)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "ledger")
        build(folder, options.trials, options.scenarios, options.output)
        size = (folder / "ledger.db").stat().st_size / 1e6
        print(f"{options.trials:,} trials of {options.scenarios} scenarios, ledger.db {size:.0f} MB")
        scenlint = str(Path(sys.executable).with_name("scenlint"))
        page = ["report", "--run", RUN, "--ledger", str(folder), "-o", str(Path(scratch, "report.html"))]
        for what, command in {
            "summary": [sys.executable, "-c", SUM_UP, str(folder)],
            "HTML report": [scenlint, *page],
        }.items():
            times, memory = measured(command, options.rounds)
            figure(f"{what} of {options.trials:,} trials", f"{statistics.median(times):.1f} s, {memory:.0f} MB")


def measured(command: list[str], rounds: int) -> tuple[list[float], float]:
    """Seconds of each round, and the largest resident memory in MB."""
    times, memory = [], 0
    for _ in range(rounds):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        assert process.returncode == 0
        times.append(time.perf_counter() - began)
        memory = max(memory, usage.ru_maxrss)
    return times, memory / 1024


def build(folder: Path, trials: int, scenarios: int, output: int) -> None:
    """A ledger with one run of so many trials."""
    ledger = Ledger(folder)
    suite = tuple(Scenario(f"task-{n}", f"task-{n}", f"sha256:{n:064x}") for n in range(scenarios))
    run = Run(RUN, version_of(suite), suite, "frontier", trials // scenarios)
    Chain.create(path_of(folder, run.id), run.to_json(), ledger)
    dice = random.Random(7)
    with sqlite3.connect(folder / "ledger.db") as db:
        db.execute("PRAGMA synchronous=OFF")
        for number in range(trials):
            record = trial(run, suite[number % scenarios], number, dice, "x" * output)
            schema.insert(db, (record.id, "r", record.task, "settings"), record.to_json(), finished=True)
    ledger.close()


def trial(run: Run, scenario: Scenario, number: int, dice: random.Random, output: str) -> TrialRecord:
    """One trial, with an outcome at random."""
    ((_, status, failure),) = dice.choices(OUTCOMES, [share for share, _, _ in OUTCOMES])
    names = list(PhaseName) if status is not Status.NO_VERDICT else [PhaseName.BUILD]
    started = (datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=number)).isoformat()
    return TrialRecord(
        *(f"r-{number}", scenario.task, "harbor", run.agent),
        {Status.PASSED: 1.0, Status.FAILED: dice.choice((0.0, 0.5))}.get(status),
        *(status, failure, "the agent ended with exit status 1" if failure is FailureClass.TOOL_ERROR else ""),
        phases=[Phase(name.value, started=started, duration=1.0, output=output) for name in names],
        checks=[CheckResult(f"tests/test_outputs.py::test_{n}", True, duration=0.01) for n in range(10)],
        task_digest=scenario.task_digest,
        attempt=number // len(run.scenarios) + 1,
        started=started,
        duration=dice.uniform(60, 600),
        cost_usd=dice.uniform(0.1, 2),
        suite=run.suite,
        experiment=Experiment(KIND, run.id, target=scenario.key),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--scenarios", type=int, default=100)
    parser.add_argument("--output", type=int, default=4_000, metavar="CHARACTERS")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
