"""Times what is asked of a ledger of a million trials, with the memory that it takes.

usage: ledger_scale.py [--trials 1000000] [--scenarios 200] [--per-scenario 10] [--keep FOLDER] [--rounds 3]

The trials are synthetic: runs of one agent after the other over the same scenarios, each with the record of an ordinary
trial (eight phases, five checks, outputs of some hundred characters). Timed are whole processes, start-up included,
output to a pipe: listings by `scenlint trials`, and `diff` and `watch`. The time to bring a ledger of version 1 of the
same size up to date is measured with --migrate. Wall time (median of the rounds) and the largest resident memory.
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
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from timing import figure

from scenlint.grading.audit.chain import Chain, path_of
from scenlint.grading.model import Run, Scenario, version_of
from scenlint.harness.ledger import Ledger, schema
from scenlint.task.record import CheckResult, Experiment, FailureClass, Phase, PhaseName, Status, TrialRecord, Verdict

AGENT = "candidate"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch, "ledger")
        if not (folder / "ledger.db").exists():
            seconds = build(folder, options.trials, options.scenarios, options.per_scenario)
            print(f"built in {seconds:.0f} s")
        size = (folder / "ledger.db").stat().st_size / 1e9
        with sqlite3.connect(folder / "ledger.db") as db:
            (many,) = db.execute("SELECT count(*) FROM trials").fetchone()
        print(f"{many:,} trials, ledger.db {size:.2f} GB")
        for title, command in commands(folder).items():
            report(title, command, options.rounds)
        if options.migrate:
            old = Path(scratch, "first")
            make_first(folder, old)
            report("bring version 1 up to date", ["trials", "--ledger", str(old), "--limit", "1"], 1)


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed."""
    every = sorted(path.stem for path in (folder / "audit").glob("*.jsonl"))
    first, last = every[-2], every[-1]
    place = ["--ledger", str(folder)]
    return {
        "trials": ["trials", *place],
        "trials --task --agent": ["trials", "--task", "scenario-7", "--agent", AGENT, *place],
        "trials --run": ["trials", "--run", last, *place],
        "trials --failure (a rare one)": ["trials", "--failure", "cheating", *place],
        "trials ID": ["trials", f"{last}-1", *place],
        "trials --limit 0 (all of them)": ["trials", "--limit", "0", *place],
        "audit verify RUN": ["audit", "verify", last, *place],
        "diff": ["diff", first, last, *place],
        "watch --once": ["watch", "--once", *place],
    }


def report(title: str, command: list[str], rounds: int) -> None:
    """Run it some times; what it needs."""
    scenlint = Path(sys.executable).with_name("scenlint")
    times, memory, status = [], 0, 0
    for _ in range(rounds):
        began = time.perf_counter()
        process = subprocess.Popen([scenlint, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, code, usage = os.wait4(process.pid, 0)
        status = process.returncode = os.waitstatus_to_exitcode(code)
        times.append(time.perf_counter() - began)
        memory = max(memory, usage.ru_maxrss)
    figure(f"`{title}`, a million trials", f"{statistics.median(times):.1f} s, {memory / 1024:.0f} MB")
    print(f"{title:<32} {statistics.median(times):7.2f} s  {memory / 1024:6.0f} MB  exit status {status}", flush=True)


# ---------------------------------------------------------------- the ledger


def build(folder: Path, trials: int, scenarios: int, per_scenario: int) -> float:
    """A ledger of so many trials; the seconds that it took."""
    began = time.perf_counter()
    ledger = Ledger(folder)
    suite = tuple(Scenario(f"tasks/scenario-{n}", f"scenario-{n}", f"sha256:{n:064x}") for n in range(scenarios))
    with sqlite3.connect(folder / "ledger.db") as db:
        db.execute("PRAGMA synchronous=OFF")
        made = 0
        runs = -(-trials // (scenarios * per_scenario))
        for number in range(runs):
            run = Run(f"run{number:05d}", version_of(suite), suite, AGENT, per_scenario, started=_when(made))
            lines = []
            for record, key in _trials(run, made, trials - made):
                if number >= runs - 2:  # the two that are verified and compared
                    lines.append(record)
                schema.insert(db, (record["id"], run.id, key, "settings"), record, finished=True)
                made += 1
            db.commit()
            chain = Chain.create(path_of(folder, run.id), run.to_json(), ledger)
            for record in lines:
                chain.append("trial", {"record": record, "files": {}})
            chain.end({})
    ledger.close()
    return time.perf_counter() - began


def _trials(run: Run, first: int, most: int) -> Iterator[tuple[dict[str, Any], str]]:
    dice = random.Random(run.id)
    pairs = [(scenario, n) for n in range(run.trials) for scenario in run.scenarios]
    kinds = {passed: _template(run, passed).to_json() for passed in (True, False)}
    for number, (scenario, attempt) in enumerate(pairs[:most], 1):
        passed = dice.random() < 0.3 + 0.5 * (int(scenario.task.rpartition("-")[2]) % 7) / 7
        own = {
            "id": f"{run.id}-{number}",
            "task": scenario.task,
            "task_digest": scenario.task_digest,
            "attempt": attempt + 1,
            "started": _when(first + number),
            "duration": dice.uniform(60, 600),
            "cost_usd": round(dice.lognormvariate(-1, 0.4), 4),
            "input_tokens": dice.randrange(10_000, 500_000),
            "output_tokens": dice.randrange(500, 20_000),
            "experiment": {**kinds[passed]["experiment"], "target": scenario.key},
        }
        if not passed and dice.random() < 1e-4:
            own["failure_class"] = FailureClass.CHEATING.value
        yield {**kinds[passed], **own}, scenario.key


def _template(run: Run, passed: bool) -> TrialRecord:
    """What the trials of a run have in common that passed, or that did not."""
    return TrialRecord(
        *("", "", "harbor", run.agent, float(passed), Status.PASSED if passed else Status.FAILED),
        None if passed else FailureClass.WRONG_ANSWER,
        strict=Verdict(float(passed), passed),
        phases=[Phase(n.value, started=run.started, duration=1.0, exit_code=0, output="x" * 40) for n in PhaseName],
        checks=[CheckResult(f"tests/test_outputs.py::test_{n}", passed, duration=0.01) for n in range(5)],
        image_digest="sha256:" + "a" * 64,
        model="model-1",
        suite=run.suite,
        experiment=Experiment("grade", run.id),
        confidence="high",
    )


def _when(number: int) -> str:
    """Ten seconds from trial to trial."""
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=10 * number)).isoformat(timespec="milliseconds")


def make_first(folder: Path, old: Path) -> None:
    """The same trials as version 1 kept them."""
    old.mkdir()
    with sqlite3.connect(old / "ledger.db") as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("ATTACH ? AS new", (str(folder / "ledger.db"),))
        shared = "id, run, place, task, format, agent, attempt, settings, started, finished, status, reward, record"
        db.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, command TEXT, started TEXT, owner TEXT)")
        db.execute(f"CREATE TABLE trials ({shared.replace('id,', 'id TEXT PRIMARY KEY,', 1)})")
        db.execute("CREATE TABLE phases (trial TEXT, number INTEGER, phase TEXT, PRIMARY KEY (trial, number))")
        db.execute("CREATE INDEX trials_of_task ON trials (place, agent, attempt)")
        db.execute(f"INSERT INTO trials SELECT {shared} FROM new.trials JOIN new.records USING (number)")
        db.execute("PRAGMA user_version=1")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--scenarios", type=int, default=200)
    parser.add_argument("--per-scenario", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--migrate", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Make the ledger there, or use the one that is.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
