"""A ledger with an audited run of a few trials, made without running any."""

import json
from pathlib import Path

from graded import run_of, trials

from scenlint.grading.audit import Chain, path_of, trial_data
from scenlint.harness.ledger import Ledger, Wanted

RUN = "run-1"


def audited(folder: Path, *, ended: bool = True, **letters: str) -> Path:
    """The ledger's folder. Each trial has left an `agent.log`, a link, and a file in a folder."""
    letters = letters or {"one": "PF", "two": "I"}
    ledger = Ledger(folder)
    ledger.open_run("r1", "grade")
    run = run_of(letters, 2)
    chain = Chain.create(path_of(ledger.folder, run.id), run.to_json(), ledger)
    for number, record in enumerate(trials(**letters), 1):
        wanted = Wanted(f"suite/{record.task}", record.task, "harbor", record.agent, record.attempt, "s1")
        record.id, place = ledger.begin("r1", number, wanted)
        (place / "agent.log").write_text(f"trial {number}\n" * 3)
        (place / "verifier").mkdir()
        (place / "verifier" / "report.json").write_text(json.dumps({"number": number}))
        (place / "latest").symlink_to("verifier")
        ledger.finish(record)
        chain.append("trial", trial_data(record, place))
    if ended:
        chain.end({"complete": True})
    ledger.close()
    return folder
