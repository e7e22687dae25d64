"""Lints the tasks of a folder with the texts that an editor holds, and puts the result as the protocol wants it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from scenlint import config
from scenlint.lint import baseline
from scenlint.lint.discover import Finder
from scenlint.lint.fix import Fixed, applied, parses, plan_file
from scenlint.lint.run import check
from scenlint.lsp.places import Places, edits
from scenlint.source.files import read_source
from scenlint.source.overlay import overlaid
from scenlint.source.text import Source
from scenlint.task.finding import Finding, Location, Severity
from scenlint.task.suppression import comment_style, suppressions_in

_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


@dataclass
class Offer:
    """A change of one file that an action makes."""

    title: str
    path: Path
    edits: list[types.TextEdit]
    safe: bool = True


@dataclass
class Notice:
    """A finding for the editor: what is shown, and what may be done about it."""

    path: Path
    diagnostic: types.Diagnostic
    fix: Offer | None = None
    suppression: Offer | None = None


@dataclass
class Judged:
    """What came of the tasks of a folder."""

    notices: list[Notice] = field(default_factory=list)
    fixes: dict[Path, Offer] = field(default_factory=dict)  # all safe fixes of a file at once
    problems: list[str] = field(default_factory=list)  # of the configuration, or of scenlint itself


def home_of(path: Path) -> Path | None:
    """The folder of the task, or tasks, that a file belongs to; None where it belongs to none that is linted."""
    try:
        settings = config.load(path.parent)
    except config.ConfigError:
        settings = config.Settings(root=path.parent)
    with overlaid({path: ""} if not path.exists() else {}):
        refs = Finder(settings, force_exclude=True).around(path)
    return refs[0].folder if refs else None


def judge(home: Path, texts: Mapping[Path, str], encoding: str) -> Judged:
    """Lint the tasks whose folder this is; `texts` are the files of theirs that are open, as the editor has them."""
    with overlaid({path: text for path, text in texts.items() if _edited(path, text)}):
        try:
            settings = config.load(home)
            report = check([home], settings, jobs=1, force_exclude=True)
            baseline.apply(report, settings.baseline, [home])
        except config.ConfigError as exc:
            return Judged(problems=[str(exc)])
        writer = _Writer(encoding, min((path for path in texts if path.is_relative_to(home)), default=home))
        notices = [writer.notice(finding, report.severity(finding)) for finding in report.findings]
        return Judged(notices, writer.fixes(report.findings), list(report.crashes))


def _edited(path: Path, text: str) -> bool:
    """Whether the text is another than the file's; what lies on disk is then read, bytes that are no text included."""
    source = read_source(path)
    return source is None or source.truncated or _normal(source.text) != _normal(text)


def _normal(text: str) -> str:
    return re.sub("[\udc80-\udcff]|\ufffd", "", re.sub(r"\r\n?", "\n", text))


class _Writer:
    """Puts findings as the protocol wants them; what is about a folder or a missing file stands in the file `spare`."""

    def __init__(self, encoding: str, spare: Path) -> None:
        self.encoding, self.spare = encoding, spare
        self.source = cache(read_source)

    def notice(self, finding: Finding, severity: Severity) -> Notice:
        place = finding.location
        source = self.source(place.path)
        diagnostic = types.Diagnostic(
            range=self._range(place, source),
            message="\n".join(part for part in (finding.message, finding.help and f"help: {finding.help}") if part),
            severity=_SEVERITY[severity],
            code=finding.rule,
            source="scenlint",
            related_information=[self._related(other) for other in finding.related] or None,
        )
        return Notice(
            place.path if source else self.spare,
            diagnostic,
            self._fix(finding),
            self._suppression(finding, source) if source else None,
        )

    def fixes(self, findings: Sequence[Finding]) -> dict[Path, Offer]:
        """All safe fixes of each file that has some."""
        out: dict[Path, Offer] = {}
        wanted: dict[Path, list[Finding]] = {}
        for finding in findings:
            if finding.fix is not None and finding.fix.safe:
                wanted.setdefault(finding.fix.path, []).append(finding)
        for path, several in wanted.items():
            done = Fixed()
            if before := self.source(path):
                plan_file(before, several, done)
            if path in done.files:
                changes = edits(done.files[path].before, done.files[path].after, self.encoding)
                out[path] = Offer("Apply all safe fixes of scenlint", path, changes)
        return out

    def _range(self, place: Location, source: Source | None) -> types.Range:
        if source is None or source.binary:
            return types.Range(types.Position(0, 0), types.Position(0, 0))
        return Places(source, self.encoding).of(place)

    def _related(self, place: Location) -> types.DiagnosticRelatedInformation:
        where = self._range(place, self.source(place.path))
        location = types.Location(from_fs_path(str(place.path)) or "", where)
        return types.DiagnosticRelatedInformation(location, place.message or "see here")

    def _fix(self, finding: Finding) -> Offer | None:
        fix = finding.fix
        before = self.source(fix.path) if fix else None
        if fix is None or before is None or before.digest != fix.seen:
            return None
        after = applied(before, [finding])
        if after is None or after.text == before.text:
            return None
        title = fix.title[:1].upper() + fix.title[1:]
        title += "" if fix.safe else " (look at what it did)"
        return Offer(title, fix.path, edits(before, after, self.encoding), fix.safe)

    def _suppression(self, finding: Finding, source: Source) -> Offer | None:
        """A comment on the line above; without a reason it suppresses nothing, so that one has to be written."""
        style, line = comment_style(source.path.name), finding.location.line
        above = source.index.line_text(line - 1)
        text = source.index.line_text(line)
        if not style or not finding.location.excerpt or above.endswith("\\") or (line == 1 and text.startswith("#")):
            return None
        indent = text[: len(text) - len(text.lstrip())]
        closing = " -->" if style == "<!--" else ""
        start = source.index.offset(line)

        def commented(reason: str) -> Source:
            return source.replaced(
                [(start, start, f"{indent}{style} scenlint: ignore[{finding.rule}] {reason}{closing}\n")]
            )

        trial = commented("because")
        if not parses(trial) and parses(source):
            return None
        place, last = finding.location, max(finding.location.line, finding.location.end_line)
        covering = (s for s in suppressions_in(trial) if s.covers(place.path, place.line + 1, last + 1))
        if not any(finding.rule in [name for name, _ in s.rules] and s.reason for s in covering):
            return None
        title = f"Suppress `{finding.rule}` here (write the reason behind it)"
        return Offer(title, source.path, edits(source, commented(""), self.encoding), safe=False)
