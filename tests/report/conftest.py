"""A desk to make findings on: real files, real spans, one Report."""

from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.report import Report, RuleCard
from scenlint.source.text import Source, Span
from scenlint.task.finding import Confidence, Finding, Kind, Severity


class Desk:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.report = Report(version="1.2.3", root=root, tasks=1)

    def span(self, path: str, content: str | bytes, needle: str = "") -> Span:
        """Write a file and point at a needle in it (the file's start where there is none)."""
        data = content.encode() if isinstance(content, str) else content
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        source = Source(file, data)
        begin = source.text.index(needle)
        return source.span(begin, begin + len(needle))

    def add(self, where, message="is wrong", *, rule="unpinned-image", code="SL301", **more) -> Finding:
        """Add a finding to the report: an error, a fact, of high confidence, unless said otherwise."""
        known = {k: more.pop(k) for k in ("task", "kind", "policy") if k in more}
        made = Finding.at(where, message, **{"severity": Severity.ERROR, "confidence": Confidence.HIGH, **more})
        finding = replace(made, rule=rule, code=code, **{"task": "a", "kind": Kind.FACT, **known})
        self.report.findings.append(finding)
        return finding

    def card(self, name="unpinned-image", code="SL301", **more) -> None:
        self.report.rules.append(RuleCard(name, code, more.pop("summary", "An image without a digest."), **more))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
