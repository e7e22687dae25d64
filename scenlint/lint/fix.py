"""Applies fixes that do not overlap, file by file, each parsed again before it is written, until none is left."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scenlint.formats.base import language_of
from scenlint.report.model import Report
from scenlint.source.text import Source
from scenlint.source.writing import RefusedError, read_unchanged, write
from scenlint.task.finding import Finding
from scenlint.task.fix import Change, Fix

ROUNDS = 10  # fixes make room for others; what has not settled by then never will


@dataclass
class Rewritten:
    """A file before and after, and whose findings were fixed in it how often."""

    before: Source
    after: Source
    rules: Counter[str] = field(default_factory=Counter)


@dataclass
class Fixed:
    """What was done, file by file, and what was not and why."""

    files: dict[Path, Rewritten] = field(default_factory=dict)
    refused: dict[str, None] = field(default_factory=dict)  # messages, each once
    later: int = 0  # fixes that overlap others and have to wait for another round

    @property
    def rules(self) -> Counter[str]:
        """How many findings of each rule were fixed."""
        return sum((file.rules for file in self.files.values()), Counter())

    def take(self, other: Fixed) -> None:
        """Add what a further round did."""
        for path, file in other.files.items():
            earlier = self.files.get(path, file)
            rules = file.rules if earlier is file else earlier.rules + file.rules
            self.files[path] = Rewritten(earlier.before, file.after, rules)
        self.refused |= other.refused
        self.later = other.later


def fix(check: Callable[[], Report], *, unsafe: bool) -> tuple[Report, Fixed]:
    """Check and fix in turns until nothing is left to fix; the report says what remains."""
    done = Fixed()
    for _ in range(ROUNDS):
        report = check()
        turn = plan(report.findings, unsafe=unsafe)
        for path, file in list(turn.files.items()):
            try:
                write(path, file.after, file.before.digest)
            except RefusedError as exc:
                turn.refused[str(exc)] = None
                del turn.files[path]
        done.take(turn)
        if not turn.files:
            return report, done
    done.refused[f"fixes did not settle after {ROUNDS} rounds; the last ones were of {', '.join(turn.rules)}"] = None
    return check(), done


def plan(findings: Iterable[Finding], *, unsafe: bool) -> Fixed:
    """What one round of fixes makes of the files; nothing is written."""
    out = Fixed()
    wanted: dict[Path, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and (finding.fix.safe or unsafe):
            wanted.setdefault(finding.fix.path, []).append(finding)
    for path, several in wanted.items():
        try:
            before = read_unchanged(path, several[0].fix.seen if several[0].fix else "")
        except RefusedError as exc:
            out.refused[str(exc)] = None
            continue
        plan_file(before, several, out)
    return out


def plan_file(before: Source, findings: Sequence[Finding], out: Fixed) -> None:
    """The fixes of one file: all together where that parses, else one after the other without the culprit."""
    chosen: list[Finding] = []
    for finding in findings:
        if finding.fix is None or _overlaps(finding.fix, chosen):
            out.later += 1
        else:
            chosen.append(finding)
    after = applied(before, chosen)
    if after is None:
        sound: list[Finding] = []
        for finding in chosen:
            if applied(before, [*sound, finding]) is not None:
                sound.append(finding)
            else:
                place = f"{before.path}:{finding.location.line}"
                out.refused[f"{place}: {finding.rule}: the fix was not applied: the file would no longer parse"] = None
        chosen, after = sound, applied(before, sound)
    if chosen and after is not None and after.text != before.text:
        out.files[before.path] = Rewritten(before, after, Counter(finding.rule for finding in chosen))


def _overlaps(fix: Fix, chosen: Sequence[Finding]) -> bool:
    taken = [change for finding in chosen if finding.fix for change in finding.fix.changes]
    return any(_touch(one, other) for one in fix.changes for other in taken)


def _touch(one: Change, other: Change) -> bool:
    if one == other:
        return False  # two findings ask for the same
    if one.start == one.end or other.start == other.end:
        at, wide = (one, other) if one.start == one.end else (other, one)
        return wide.start < at.start < wide.end or at.start == at.end == wide.start == wide.end
    return one.start < other.end and other.start < one.end


def applied(before: Source, findings: Sequence[Finding]) -> Source | None:
    """The file with the fixes applied; None where it could be parsed before and cannot be now."""
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    changes = sorted({change for fix in fixes for change in fix.changes}, key=lambda c: (c.start, c.end))
    after = before.replaced([(change.start, change.end, change.text) for change in changes])
    modules = sorted({name for fix in fixes for name in fix.imports})
    if modules and parses(after):
        from scenlint.source.edit_python import with_imports

        text = with_imports(after.text, modules)
        if text is None:
            return None
        after = before.replaced_by(text)
    return after if parses(after) or not parses(before) else None


def parses(source: Source) -> bool:
    """Whether the file is sound text of its language, as far as scenlint can read that."""
    from scenlint.source import data, dockerfile, python, shell

    language = language_of(source.path.name, source)
    suffix = {".yml": "yaml"}.get(source.path.suffix.lower(), source.path.suffix.lower().lstrip("."))
    if language == "data" and suffix in ("json", "yaml", "toml"):
        return data.parse(source.fragment(suffix)).error is None
    if language == "python":
        return python.parse(source.fragment(language)).fault is None
    if language == "shell":
        return shell.parse(source.fragment(language)).error is None
    return language != "dockerfile" or not dockerfile.parse(source.fragment(language)).problems


def diff(fixed: Fixed, root: Path) -> str:
    """What the fixes change, as a unified diff whose paths are relative to a folder."""
    from difflib import unified_diff

    out = []
    for path, file in sorted(fixed.files.items()):
        name = os.path.relpath(path, root)
        old, new = _lines(file.before.text), _lines(file.after.text)
        for line in unified_diff(old, new, name, name):
            # A last line without its end is marked, as `diff` does, so that `patch` can apply it.
            out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)


def _lines(text: str) -> list[str]:
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])
