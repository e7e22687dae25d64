"""GitLab's Code Quality report: a JSON array with a unique, line-independent fingerprint per finding."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scenlint.report.model import Report, relative
from scenlint.report.style import Style, decoded
from scenlint.task.finding import Severity
from scenlint.task.fingerprint import fingerprints

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, style: Style) -> str:
    # Paths count from the project, which need not be the current directory.
    root = Path(os.environ.get("CI_PROJECT_DIR") or report.root)
    found = report.ordered()
    entries = [
        {
            "description": decoded(f"{f.code} {f.rule}: {f.message}"),
            "check_name": f.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[report.severity(f)],
            "location": {
                "path": decoded(relative(report.root / f.location.path, root)),
                "lines": {"begin": f.location.line, "end": f.location.end_line},
            },
        }
        for f, fingerprint in zip(found, fingerprints(found, report.root), strict=True)
    ]
    return json.dumps(entries, indent=2) + "\n"
