"""What rules ask of recorded trials: which show something, where their checks stand, and what the verifier said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.model import Check
from scenlint.task.finding import At
from scenlint.task.model import NotAssessableError, Role, Task
from scenlint.task.record import CheckResult, FailureClass, PhaseName, Status, TrialRecord

_TELLING = regex(r"error|assert|expected|exception|denied|refused|not found|killed|\bnan\b|fail", re.IGNORECASE)
_FRAME = regex(r"[=_\-\s]*|.*\b\d+ (?:passed|failed)\b.*|FAILED .*|ERROR .*")  # pytest's own summaries
_QUOTE = 160  # characters
_OUTSIDE = ("infrastructure:", "internal:", "interrupted", "not runnable:")


def obstacle(record: TrialRecord) -> str:
    """Why a trial shows nothing about its task: no engine, a full disk, an interruption, a refusal; "" if it does."""
    if record.reward is not None:
        return ""
    if record.failure_class in (FailureClass.INTERRUPTED, FailureClass.CONFIGURATION):
        return record.failure_evidence or record.failure_class.value
    error = next((p.error for p in record.phases if p.error.startswith(_OUTSIDE)), "")
    return error.partition("\n")[0]


def experiments(task: Task, records: Sequence[TrialRecord], kind: str, *names: str) -> list[TrialRecord]:
    """The trials of one kind of experiment (and of these names only) that were made to the end.

    NotAssessableError where there is none, which says why: what stood in the way is never a pass.
    """
    wanted = [(r, r.experiment) for r in records if r.experiment is not None and r.experiment.kind == kind]
    wanted = [(r, e) for r, e in wanted if not names or e.name in names]
    out = [r for r, e in wanted if e.outcome not in ("", "skipped")]
    if not out:
        ordinary = [r for r in records if r.experiment is None and r.agent == "oracle"]
        perfect = any(r.status is Status.PASSED for r in ordinary)
        reasons = dict.fromkeys(f"{e.name}: {e.reason or obstacle(r) or 'no outcome'}" for r, e in wanted)
        told = "; ".join(list(reasons)[:3]) + (f" and {len(reasons) - 3} more" if len(reasons) > 3 else "")
        if not perfect:
            told = "the oracle must earn 1.0 first" if ordinary else _missing(task, [], "oracle")
        raise NotAssessableError(told or f"no experiment of this kind ({', '.join(names) or kind}) was made")
    return out


def of(records: Iterable[TrialRecord], agent: str) -> list[TrialRecord]:
    """An agent's trials that show something."""
    return [r for r in records if r.agent == agent and not obstacle(r)]


def graded(task: Task, records: Sequence[TrialRecord], agent: str) -> list[TrialRecord]:
    """An agent's trials that ended with a verdict; NotAssessableError where there is none."""
    out = [r for r in records if r.agent == agent and r.reward is not None]
    if not out:
        raise NotAssessableError(_missing(task, [r for r in records if r.agent == agent], agent))
    return out


def shown(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The ordinary trials (no experiments) that show something; NotAssessableError where none does."""
    records = [r for r in records if r.experiment is None]
    out = [r for r in records if not obstacle(r)]
    if not out:
        raise NotAssessableError(obstacle(records[0]) if records else "no trial was run")
    return out


def _missing(task: Task, there: Sequence[TrialRecord], agent: str) -> str:
    if not there:
        lacks = task.lacks(Role.ORACLE) if agent == "oracle" else None
        return lacks or f"no trial of `{agent}` was run"
    why = obstacle(there[0]) or there[0].failure_evidence
    return f"no trial of `{agent}` gave a verdict ({why})" if why else f"no trial of `{agent}` gave a verdict"


def named(records: Sequence[TrialRecord]) -> str:
    """`trial a`, or `trials a, b and 3 more`."""
    ids = [f"`{r.id}`" for r in records]
    more = f" and {len(ids) - 3} more" if len(ids) > 4 else ""
    return f"trial{'s' if len(ids) > 1 else ''} {', '.join(ids[: 3 if more else 4])}{more}"


# ---------------------------------------------------------------- places


def entry(task: Task) -> At:
    """The verifier's first line, or where it is declared; the task's folder where it has none."""
    graders = task.verifier.graders if task.verifier else []
    grader = next((g for g in graders if g.required), graders[0] if graders else None)
    if grader is None:
        return task.folder
    if grader.span is not None:
        return first_line(grader.span)
    return grader.script.first_line() if grader.script else task.folder


def asked(task: Task) -> At:
    """The first line of what the agent is told; the task's folder where there is nothing."""
    prose = next((b.prose for b in task.briefs if b.prose.text.strip()), None)
    if prose is None:
        return task.folder
    begin = len(prose.text) - len(prose.text.lstrip())
    return first_line(prose.span(begin, len(prose.text)))


def place(task: Task, checks: Iterable[CheckResult]) -> At:
    """Where the first of some checks stands in the verifier; its entry where that cannot be told."""
    return next((span for check in checks if (span := _span(task, check)) is not None), entry(task))


def known(task: Task, check: CheckResult) -> Check | None:
    """The check as it was read in the verifier, by its name."""
    names = _names(check)
    return next((c for c in task.checks if {c.id, c.label, _bare(c.id), getattr(c.node, "name", "")} & names), None)


def _span(task: Task, check: CheckResult) -> Span | None:
    read = known(task, check)
    if read is not None:
        return first_line(read.span)
    graders = task.verifier.graders if task.verifier else []
    span = next((g.span for g in graders if g.name in _names(check) and g.span), None)
    return first_line(span) if span else None


def _names(check: CheckResult) -> set[str]:
    return {name for given in (check.id, check.label) if given for name in (given, _bare(given))}


def _bare(name: str) -> str:
    """A test's name without its file and parameters."""
    return name.rpartition("::")[2].partition("[")[0]


def first_line(span: Span) -> Span:
    """The part of a span in its first line, which is what a reader is pointed at."""
    if span.line == span.end_line:
        return span
    text = span.text
    return span.source.span(span.start, span.start + len(text.splitlines()[0])) if text.strip() else span


# ---------------------------------------------------------------- words


def wrong(record: TrialRecord) -> list[CheckResult]:
    """The required checks that failed."""
    return [c for c in record.checks if c.required and c.passed is False]


def listed(checks: Sequence[CheckResult]) -> str:
    """The names of some checks."""
    names = list(dict.fromkeys(f"`{c.label or c.id}`" for c in checks))
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def quote(record: TrialRecord, phase: str = PhaseName.VERIFY) -> str:
    """The line of its output that tells most, as words to end a message with; "" where there is none."""
    details = [c.detail for c in wrong(record)] if phase == PhaseName.VERIFY else []
    outputs = [p.output for p in record.phases if p.name == phase]
    for text in (*details, *reversed(outputs)):
        lines = [line.strip() for line in text.splitlines() if not _FRAME.fullmatch(line.strip())]
        telling = [line for line in lines if _TELLING.search(line)] or lines
        if telling:
            line = telling[-1]
            return f"; it printed `{line[:_QUOTE]}{'…' if len(line) > _QUOTE else ''}`"
    return ""


def look(record: TrialRecord) -> str:
    """The advice that ends every help: where the rest of the evidence is."""
    return f"`scenlint trials {record.id}` shows the whole trial"
