"""The verifier asks no more than whether the work is there."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.checks import Access, Check, How
from scenlint.task.model import Contract, Verifier

_QUOTED = regex(r"[`\"“]([^`\"“”]{3,})[`\"”]")
_HELP = "compare what stands in it with what the brief asks for: an agent that writes an empty file passes as it is"


@rule(
    "existence-only",
    "SL501",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="empty or nonsensical work is graded below 1.0",
)
def existence_only(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or not task.checks:
        return
    if all(c.existence_only for c in task.checks):
        if _wholly_seen(task, verifier) and _asks_for_more(task, verifier):
            yield _whole(task.checks)
        return
    yield from _deliverables(task)


def _whole(checks: list[Check]) -> Finding:
    first, *rest = checks
    what = "the only check" if not rest else f"all {len(checks)} checks"
    return Finding.at(
        first.span,
        f"{what} of the verifier only {'asks' if not rest else 'ask'} whether something is there",
        help=_HELP,
        related=[related(c.span, "and so does this one") for c in rest[:5]],
    )


def _wholly_seen(task: Task, verifier: Verifier) -> bool:
    """Whether nothing else is run that may look deeper: a program in another language, a test runner not at hand."""
    if any(
        g.kind == "program" and (g.script is None or g.script.language not in ("python", "shell"))
        for g in verifier.graders
    ):
        return False
    return not task.survey.programs and all(c.complete for c in task.checks)


def _asks_for_more(task: Task, verifier: Verifier) -> bool:
    """Whether the brief quotes what no check looks for: a record with a certain name can be all that is wanted."""
    if verifier.contract is not Contract.POINT_LINES:
        return True
    code = "\n".join(f.text for f in verifier.files)
    quoted = [
        q for b in task.briefs for s in (b.work_list.steps if b.work_list else []) for q in _QUOTED.findall(s.text)
    ]
    return any(text.strip() not in code for text in quoted)


def _deliverables(task: Task) -> Iterator[Finding]:
    """Files that the brief names and of which every check asks no more than that they are there."""
    if any(a.how is How.RUN for c in task.checks for a in c.accesses) or task.survey.programs:
        return  # a program that is run may read any file
    asked: dict[str, list[Check]] = {}
    for check in task.checks:
        for path in {a.path for a in check.accesses if a.how is not How.WRITE}:
            asked.setdefault(path, []).append(check)
    for path, checks in asked.items():
        if not all(c.existence_only for c in checks) or not _is_file(path) or _seen_otherwise(path, asked, task):
            continue
        said = task.visible.in_brief(PurePosixPath(path).name, word=True)
        if said is None or task.visible.exists(path) is not None:
            continue
        yield Finding.at(
            _access(checks[0], path).span,
            f"nothing in `{path}` is ever looked at: {_count(checks)} only whether it is there",
            help=_HELP,
            related=[related(said, "the brief asks for it here")],
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )


def _is_file(path: str) -> bool:
    return "*" not in path and "." in PurePosixPath(path).name.lstrip(".")


def _seen_otherwise(path: str, asked: dict[str, list[Check]], task: Task) -> bool:
    """Whether the file may be read under another name: through its folder, a pattern or a path that is not known."""
    name = PurePosixPath(path).name
    for other, checks in asked.items():
        if other != path and any(not c.existence_only for c in checks):
            wild = "*" in other or path.startswith(other.rstrip("/") + "/")
            if wild or PurePosixPath(other).name == name:
                return True
    if any(
        n.kind == "module" and n.name.split(".")[-1] == PurePosixPath(path).stem for c in task.checks for n in c.names
    ):
        return True
    return any(not c.existence_only and not c.accesses and not c.names for c in task.checks)


def _access(check: Check, path: str) -> Access:
    return next(a for a in check.accesses if a.path == path)


def _count(checks: list[Check]) -> str:
    return "the one check of it asks" if len(checks) == 1 else f"the {len(checks)} checks of it ask"
