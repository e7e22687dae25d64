"""A verdict taken from what the agent says it did, with nothing that looks at the work itself."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks import Check, How
from scenlint.task.finding import Location
from scenlint.task.judgements import Judgement, is_made
from scenlint.task.statements import sentences

_SELF = regex(
    r"(?:[a-z]+_)*(?:pass(?:ed)?|success(?:ful)?|succeeded|verified|validated|fixed|completed|compiled|resolved|works?|"
    r"working|tested)|"
    r"(?:tests?|build|compilation|compile|deploy(?:ment)?|verification|validation|fix|repair|migration)_(?:status|result|ok)",
    re.IGNORECASE,
)
_YES = frozenset([
    "true", "yes", "pass", "passed", "success", "successful", "succeeded", "ok", "fixed", "completed", "complete",
    "done", "verified", "resolved", "1",
])  # fmt: skip
_ACCOUNT = regex(
    r"\b(?:commands?|steps?|actions?|changes|calls|everything|what|work) (?:that |which )?(?:you|the agent) "
    r"(?:have |has )?(?:run|ran|did|do|done|take|took|taken|execute[ds]?|perform(?:ed)?|made|make|issued?|used?)\b|"
    r"\b(?:log|record|note|keep|list|write)\b[^.]{0,30}\b(?:every|each|all|your) (?:commands?|steps?|actions?)\b|"
    r"\b(?:output|results?|log|report) of (?:the|your) (?:own )?(?:tests?|test (?:run|suite)|build|verification)\b",
    re.IGNORECASE,
)


@rule(
    "trusts-agent-report",
    "SL519",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="a check looks at what the work changed, or the report is all the work there is",
)
def trusts_agent_report(task: Task) -> Iterator[Finding]:
    path = _only_report(task)
    if path is None:
        return
    if account := _account(task, path):
        read = next(a for c in task.checks for a in c.accesses if a.path == path)
        yield _finding(
            read.span,
            f"all checks read `{path}`, in which the agent tells what it did",
            [related(account, "the brief asks for it")],
        )
        return
    told = [j for j in task.judgements if path in j.comparison.paths and _SELF.fullmatch(j.comparison.key or "")]
    looked_at = {a.path for c in task.checks for a in c.accesses if a.how is not How.WRITE} - {path}
    if any(is_made(task.visible, p) for p in looked_at):
        return
    # A field that may also say no is compared with others, not believed.
    compared = {j.comparison.key for j in told if not _answers(j) <= _YES}
    claims = [j for j in told if j.comparison.key not in compared and _says_so(j)]
    if claims:
        first, *rest = claims
        yield _finding(
            first.span,
            f"`{first.comparison.key}` is what the agent says of its own work, and no check looks at that work",
            [related(j.span, "and so is this") for j in rest[:5]],
        )


def _finding(at: Span, message: str, more: list[Location]) -> Finding:
    return Finding.at(
        at, message, help="look at what the work leaves behind: run it, or read the state that it changed", related=more
    )


def _only_report(task: Task) -> str | None:
    """The one file that the checks look into, if the agent makes it and they look at nothing else."""
    checks = [c for c in task.checks if c.can_fail and not c.existence_only]
    if task.survey.programs or not all(map(_only_reads, checks)):
        return None
    paths = {a.path for c in checks for a in c.accesses if a.how in (How.READ, How.LIST)}
    return paths.pop() if len(paths) == 1 and all(is_made(task.visible, p) for p in paths) else None


def _only_reads(check: Check) -> bool:
    ran = any(a.how is How.RUN for a in check.accesses) or check.names
    return not ran and check.complete and bool(check.accesses) and not any(k.sources for k in check.comparisons)


def _account(task: Task, path: str) -> Span | None:
    """Where a brief asks for a file in which the agent writes down what it did."""
    name = PurePosixPath(path).name
    for brief in task.briefs:
        for sentence in sentences(brief.prose):
            if name in sentence.text and _ACCOUNT.search(sentence.text):
                return sentence.span()
    return None


def _says_so(judgement: Judgement) -> bool:
    return judgement.comparison.operator in ("==", "!=", "is", "in") and judgement.wanted and bool(_answers(judgement))


def _answers(judgement: Judgement) -> set[str]:
    return {str(c).lower() for c in judgement.constants}
