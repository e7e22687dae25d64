"""Writes full marks in advance wherever the verifier keeps a verdict, and into every report that it reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import rewards
from scenlint.task.paths import extension

_CLAIMS = {
    "reward": 1.0, "score": 1.0, "passed": True, "success": True, "ok": True, "status": "passed", "result": "pass",
    "verdict": "pass", "outcome": "passed", "failed": 0, "failures": 0, "errors": 0, "exit_code": 0,
}  # fmt: skip


@probe("planted-verdicts", TAMPERED)
def planted_verdicts(ground: Ground) -> Iterator[Attack]:
    claim = json.dumps({**dict.fromkeys(ground.keys, True), **_CLAIMS})
    texts = {"json": claim, "jsonl": claim, "yaml": claim, "yml": claim, "xml": _JUNIT, "": "1\n"}
    if not ground.local:
        kept = tuple(p for p in ground.mentioned if extension(p) in ("txt", "json", "log", "xml", "out", "csv"))
        script = "".join(ground.fill(text, (path,)) for path, text in rewards(ground)) + ground.fill(texts, kept)
        if script.strip():
            yield ground.attack(
                script, "wrote full marks in advance to every verdict and note of the verifier", "verdicts"
            )
    reports = tuple(p for p in ground.files if extension(p) in texts and extension(p))
    if reports:
        yield ground.attack(ground.fill(texts, reports), "handed in reports that say that all is well", "reports")


_JUNIT = '<testsuite tests="1" failures="0" errors="0"><testcase classname="all" name="all"/></testsuite>\n'
