"""The baseline: findings that were there when a suite began to be checked, so that only new ones fail."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from scenlint.config import ConfigError
from scenlint.report.model import Report
from scenlint.rules.base import Rule
from scenlint.source.secrets import redact
from scenlint.task.finding import Finding
from scenlint.task.fingerprint import Known, mark

FILE_NAME = "scenlint-baseline.json"
VERSION = 1

Key = tuple[str, str, str]


@dataclass
class Baseline:
    """The known findings in one file; their paths are relative to its folder."""

    file: Path
    known: list[Known] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """ConfigError where the file is missing or is no baseline."""
        try:
            data = json.loads(file.read_bytes())
            if data["version"] != VERSION:
                raise ConfigError(f"{file}: version {data['version']} of the baseline is not known to this scenlint")
            return cls(file, [_known(entry) for entry in data["findings"]])
        except FileNotFoundError:
            raise ConfigError(f"{file}: there is no such baseline; `scenlint baseline` records one") from None
        except OSError as exc:
            raise ConfigError(f"{file}: {exc.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"{file}: this is no baseline of scenlint; `scenlint baseline --update` writes it anew"
            raise ConfigError(message) from None

    def text(self) -> str:
        """The file's content: sorted, one finding a line, so that a change shows as the lines it concerns."""
        rows = [json.dumps(_entry(k)) for k in sorted(self.known, key=lambda k: (k.path, k.rule, k.mark, k.task))]
        body = "[\n" + ",\n".join(f"    {row}" for row in rows) + "\n  ]" if rows else "[]"
        return f'{{\n  "version": {VERSION},\n  "findings": {body}\n}}\n'

    def record(self, findings: Iterable[Finding]) -> None:
        """Take further findings in."""
        place = _places(self.file)
        entries = {(k.path, k.rule, k.mark): k for k in self.known}
        for f in sorted(findings, key=lambda f: (*f.sort_key, f.message)):
            key = place(f), f.rule, mark(f)
            known = entries.get(key)
            entries[key] = replace(known, count=known.count + 1) if known else Known(*key, f.task, f.message)
        self.known = list(entries.values())

    def renew(self, report: Report, paths: Sequence[Path], *, add: bool = True) -> tuple[int, int]:
        """Take in what is new (unless told not to) and out what is gone; how many findings either were.

        What is still there is recorded where it now is; what this run did not judge stays as it is.
        """
        new, missed = self.split(report.findings)
        gone = self.gone(missed, report, paths)
        self.known = [known for known in missed if known not in gone]
        fresh = {id(f) for f in new}
        self.record(f for f in report.findings if add or id(f) not in fresh)
        return len(new) if add else 0, sum(known.count for known in gone)

    def split(self, findings: Sequence[Finding]) -> tuple[list[Finding], list[Known]]:
        """The findings that are new, and what of the known ones was not met again (with how many are missing)."""
        place = _places(self.file)
        left = Counter({n: known.count for n, known in enumerate(self.known)})
        exact: dict[Key, list[int]] = {}
        moved: dict[Key, list[int]] = {}
        for n, known in enumerate(self.known):
            exact.setdefault((known.path, known.rule, known.mark), []).append(n)
            if not os.path.lexists(self.file.parent / known.path):  # its file was renamed, or is gone
                moved.setdefault((known.task, known.rule, known.mark), []).append(n)

        def take(numbers: Iterable[int]) -> bool:
            n = next((n for n in numbers if left[n]), None)
            if n is not None:
                left[n] -= 1
            return n is not None

        new = [f for f in findings if not take(exact.get((place(f), f.rule, mark(f)), ()))]
        new = [f for f in new if not take(moved.get((f.task, f.rule, mark(f)), ()))]
        return new, [replace(self.known[n], count=number) for n, number in left.items() if number]

    def gone(self, missed: Iterable[Known], report: Report, paths: Sequence[Path]) -> list[Known]:
        """Those of the known findings not met again that this run would have met if they were still there."""
        if report.crashes:
            return []
        top = os.path.realpath(self.file.parent)
        checked = [os.path.realpath(path) for path in paths]
        whole = any(_inside(top, path) for path in checked)

        def judged(known: Known) -> bool:
            if known.rule in report.ran.get(known.task, ()):
                return True
            if known.rule not in report.cards:
                return _rule(known.rule) is None
            place = os.path.normpath(os.path.join(top, known.path))
            if not os.path.lexists(place) and any(_inside(place, path) for path in checked):
                return True
            # Of several tasks at once, or of one that is no more: only a look at all of them tells.
            rule = _rule(known.rule)
            return whole and (known.task not in report.ran or (rule is not None and rule.suite_check is not None))

        return [known for known in missed if judged(known)]

    def write(self) -> None:
        """ConfigError where that cannot be done. The old file stays until the new one is whole."""
        draft = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            draft.write_text(self.text(), "utf-8")
            os.replace(draft, self.file)
        except OSError as exc:
            draft.unlink(missing_ok=True)
            raise ConfigError(f"{self.file} cannot be written: {exc.strerror}") from None


def apply(report: Report, file: Path | None, paths: Sequence[Path]) -> None:
    """Hide what the baseline knows from a report, and tell it what is gone."""
    if file is None:
        return
    baseline = Baseline.read(file)
    ordered = report.ordered()
    report.findings, missed = baseline.split(ordered)
    report.baselined = len(ordered) - len(report.findings)
    report.baseline = file
    report.gone = baseline.gone(missed, report, paths)


def _places(file: Path) -> Callable[[Finding], str]:
    """How the path of a finding is written in a baseline."""
    top = os.path.realpath(file.parent)

    @cache
    def folder(path: str) -> str:
        return os.path.relpath(os.path.realpath(path), top)

    def place(finding: Finding) -> str:
        head, tail = os.path.split(os.path.abspath(finding.location.path))
        path = os.path.normpath(os.path.join(folder(head), tail)).replace(os.sep, "/")
        return redact(path).encode("utf-8", "replace").decode()

    return place


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _rule(name: str) -> Rule | None:
    from scenlint.lint.registry import load_rules

    return load_rules().find(name)


def _entry(known: Known) -> dict[str, Any]:
    entry = {"path": known.path, "rule": known.rule, "task": known.task, "message": known.message, "mark": known.mark}
    entry = {key: value.encode("utf-8", "replace").decode() for key, value in entry.items()}
    return {**entry, "count": known.count} if known.count > 1 else entry


def _known(entry: dict[str, Any]) -> Known:
    known = Known(**{"task": "", "message": "", "count": 1, **entry})
    texts = (known.path, known.rule, known.mark, known.task, known.message)
    if not all(isinstance(text, str) for text in texts) or type(known.count) is not int:
        raise ValueError("no entry of a baseline")
    return known
