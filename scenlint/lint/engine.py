"""Judges one task: loads it, runs the selected rules, applies suppressions, and keeps count of all that was dropped."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from scenlint.config import Settings
from scenlint.formats.base import TaskRef
from scenlint.lint.discover import format_named
from scenlint.lint.registry import Registry, load_rules
from scenlint.lint.select import Selection, select
from scenlint.report.model import RuleCard
from scenlint.rules.base import Rule
from scenlint.rules.meta.unknown_rule import unknown
from scenlint.rules.meta.unused_suppression import removed
from scenlint.source.files import FileTree
from scenlint.source.ignores import ignore_spec
from scenlint.task.card import Card
from scenlint.task.finding import Finding, NotAssessed
from scenlint.task.model import NotAssessableError, Task
from scenlint.task.record import TrialRecord
from scenlint.task.suppression import Suppression, find_suppressions


@dataclass
class Outcome:
    """What came of one task."""

    task: str
    findings: list[Finding] = field(default_factory=list)
    not_assessed: list[NotAssessed] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)  # names of the rules that judged it
    suppressed: int = 0
    used_suppressions: set[int] = field(default_factory=set)  # positions in Settings.suppressions
    crashes: list[str] = field(default_factory=list)  # faults of scenlint itself
    card: Card | None = None


@dataclass
class Selected:
    """What a report says of the rules of a run, and whether anything may have to be said of their configuration."""

    rules: list[RuleCard]
    only_trials: bool = False  # none of them judges tasks
    plain: bool = False  # no suppression and no unknown name stands in the configuration


class Engine:
    """The settings of a run made ready; `judge` may be called for any number of tasks."""

    def __init__(self, settings: Settings, registry: Registry | None = None) -> None:
        self.settings = settings
        self.registry = registry or load_rules()
        self.selection: Selection = select(self.registry, settings)

    def judge(self, ref: TaskRef) -> Outcome:
        """Load a task and run every selected rule on it. Never raises: a fault is kept as a crash of that task."""
        name = f"{ref.folder.name}/{ref.key}" if ref.key else ref.folder.name
        try:
            task = format_named(ref.format).load(ref, self.settings.policy)
        except Exception as exc:
            return Outcome(name, crashes=[crash(f"while {name} was loaded", exc)])
        return self.judge_task(task)

    def judge_task(self, task: Task) -> Outcome:
        """Run every selected rule on a loaded task."""
        out = Outcome(task.id)
        rules = [r for r in self.selection.rules if not r.formats or task.format in r.formats]
        self._run([r for r in rules if r.check and not r.late], task, out)
        self._suppress(task, out)
        late = Outcome(task.id)
        self._note_suppressed_names(task, out)
        self._run([r for r in rules if r.check and r.late], task, late)
        out.findings += [] if task.shared else self._not_ignored(late.findings, out)
        out.crashes += late.crashes
        out.ran += late.ran
        try:
            out.card = None if task.shared else Card.of(task)
        except Exception as exc:
            out.crashes.append(crash(f"while {task.id} was summarised", exc))
        return out

    def judge_trials(
        self,
        task: Task,
        records: Sequence[TrialRecord],
        obstacle: str = "",
        *,
        deep: bool = False,
        calibration: bool = False,
    ) -> Outcome:
        """Run the selected rules about trials on a task's records; `obstacle` says why the task could not be run.

        Rules about experiments run where some were to be made (`deep`), or were. Those about calibrations alone run
        with `calibration`.
        """
        out = Outcome(task.id)
        deep = deep or any(r.experiment for r in records)
        rules = self.calibration_rules if calibration else [r for r in self.trial_rules if deep or not r.deep]
        if obstacle and not records:
            out.not_assessed = [NotAssessed(r.name, r.code, task.id, obstacle) for r in rules]
            return out
        self._run(rules, task, out, records)
        self._suppress(task, out)
        return out

    @property
    def task_rules(self) -> list[Rule]:
        """The selected rules of the static stage."""
        return [r for r in self.selection.rules if r.trial_check is None]

    @property
    def trial_rules(self) -> list[Rule]:
        """The selected rules about trials of oracle and nop, and about experiments."""
        return [r for r in self.selection.rules if r.trial_check is not None and not r.calibration]

    @property
    def calibration_rules(self) -> list[Rule]:
        """The selected rules about calibrations."""
        return [r for r in self.selection.rules if r.calibration]

    def finish(self, rule: Rule, finding: Finding, task: str) -> Finding:
        """A rule's finding with what the engine knows: identity, defaults, overrides."""
        return replace(
            finding,
            rule=rule.name,
            code=rule.code,
            kind=rule.kind,
            severity=self.selection.severity.get(rule.name) or finding.severity or rule.severity,
            confidence=finding.confidence or rule.confidence,
            refute=finding.refute or rule.refute,
            task=task,
            policy=self.settings.policy.profile.value if rule.profiles else finding.policy,
        )

    def _run(self, rules: Iterable[Rule], task: Task, out: Outcome, records: Sequence[TrialRecord] = ()) -> None:
        for rule in rules:
            reason = rule.inapplicable(task)
            if reason is not None:
                # A file that tasks share has only some roles; what it lacks is judged in the tasks.
                if not task.shared:
                    out.not_assessed.append(NotAssessed(rule.name, rule.code, task.id, reason))
                continue
            if task.shared and not rule.needs:
                continue
            try:
                found = rule.trial_check(task, records) if rule.trial_check else rule.check(task) if rule.check else ()
                out.findings += [self.finish(rule, _at_home(f, task), task.id) for f in found]
                out.ran.append(rule.name)
            except NotAssessableError as exc:
                out.not_assessed.append(NotAssessed(rule.name, rule.code, task.id, str(exc)))
            except Exception as exc:
                out.crashes.append(crash(f"in rule {rule.name} on {task.id}", exc))

    def _suppress(self, task: Task, out: Outcome) -> None:
        if self.settings.no_ignores:
            return
        kept = []
        for finding in self._not_ignored(out.findings, out):
            if self._inline(task.suppressions, finding) or self._configured(finding, out):
                out.suppressed += 1
            else:
                kept.append(finding)
        out.findings = kept

    def _not_ignored(self, findings: list[Finding], out: Outcome) -> list[Finding]:
        if self.settings.no_ignores:
            return findings
        kept = [f for f in findings if not self._ignored_here(f)]
        out.suppressed += len(findings) - len(kept)
        return kept

    def _ignored_here(self, finding: Finding) -> bool:
        path = self._relative(finding.location.path) if self.selection.per_path else ""
        return any(finding.rule in names and spec.match_file(path) for spec, names in self.selection.per_path)

    def _inline(self, suppressions: Sequence[Suppression], finding: Finding) -> bool:
        """Whether a comment suppresses the finding; every comment that would is marked as used."""
        place, hit = finding.location, False
        for suppression in suppressions:
            if not suppression.reason or not suppression.covers(
                place.path, place.line, max(place.line, place.end_line)
            ):
                continue
            for name, _ in suppression.rules:
                rule = self.registry.find(name)
                if rule is not None and rule.name == finding.rule:
                    suppression.used.add(name)
                    hit = True
        return hit

    def _configured(self, finding: Finding, out: Outcome) -> bool:
        path = self._relative(finding.location.path) if self.settings.suppressions else ""
        for position, entry in enumerate(self.settings.suppressions):
            rule = self.registry.find(entry.rule.text)
            if rule and rule.name == finding.rule and entry.reason.strip() and _matches(entry.path, path):
                out.used_suppressions.add(position)
                return True
        return False

    def _note_suppressed_names(self, task: Task, out: Outcome) -> None:
        """Tell the rules about suppressions which of the names in them have been judged and which nobody knows."""
        judged = set()
        for name in {name for s in task.suppressions for name, _ in s.rules}:
            rule = self.registry.find(name)
            if rule is None:
                task.unknown_names[name] = self.registry.suggest(name)
            elif rule.name in out.ran and not self.settings.no_ignores:
                judged.add(name)
        task.judged_names = frozenset(judged)

    def _relative(self, path: Path) -> str:
        try:
            return path.relative_to(self.settings.root).as_posix()
        except ValueError:
            return path.as_posix()

    def without_ignored(self, findings: Sequence[Finding]) -> tuple[list[Finding], set[int]]:
        """What is left of findings that compare tasks, and the configured suppressions that took the rest."""
        if self.settings.no_ignores:
            return list(findings), set()
        kept, scratch = [], Outcome("")
        for finding in findings:
            files = FileTree.of_file(finding.location.path)
            inline = files is not None and self._inline(find_suppressions(files), finding)
            if not (self._ignored_here(finding) or inline or self._configured(finding, scratch)):
                kept.append(finding)
        return kept, scratch.used_suppressions

    def about_configuration(self, used: set[int], complete: bool) -> list[Finding]:
        """Findings about the configuration file: unknown rules, and suppressions that no task needed.

        `complete` tells whether every task the file speaks of was checked; otherwise nothing can be called unused.
        """
        out = []
        names = [*self.selection.unknown, *(s.rule for s in self.settings.suppressions)]
        late = {r.name: r for r in self.selection.rules if r.late}
        for named in names:
            if named.span and not self.registry.matching(named.text) and "unknown-rule" in late:
                finding = unknown(named.text, named.span, self.registry.suggest(named.text))
                out.append(self.finish(late["unknown-rule"], finding, ""))
        rule = late.get("unused-suppression")
        running = {r.name for r in self.task_rules}
        for position, entry in enumerate(self.settings.suppressions):
            target = self.registry.find(entry.rule.text)
            if rule and complete and target and target.name in running and position not in used and entry.rule.span:
                message = f"nothing in `{entry.path}` is suppressed by this entry for `{target.name}`"
                finding = Finding.at(entry.rule.span, message, help="remove the entry", fix=removed(entry.rule.span))
                out.append(self.finish(rule, finding, ""))
        return out


def _at_home(finding: Finding, task: Task) -> Finding:
    """The finding, without its fix where that would write outside the task and its suite, whatever the task names."""
    if finding.fix is None:
        return finding
    homes = [task.folder]
    if task.suite is not None:
        homes.append(task.suite if task.suite.is_dir() else task.suite.parent)
    target = Path(os.path.realpath(finding.fix.path))
    inside = any(target.is_relative_to(os.path.realpath(home)) for home in homes)
    return finding if inside else replace(finding, fix=None)


def _matches(pattern: str, path: str) -> bool:
    return path == pattern or bool(ignore_spec([pattern]).match_file(path))


def crash(where: str, exc: BaseException) -> str:
    """A fault of scenlint's own as one message."""
    frames = traceback.extract_tb(exc.__traceback__)
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    # The exception's text may quote the task's content; its type and place are what a bug report needs.
    return f"internal error {where}: {type(exc).__name__}{at}"
