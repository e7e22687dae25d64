"""A test that only asks something of each thing the output holds, and passes where it holds none."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.judgements import is_made
from scenlint.task.vacuous import covers, vacuous


@rule(
    "vacuous-loop",
    "SL523",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="another check turns down output that holds nothing",
)
def vacuous_loop(task: Task) -> Iterator[Finding]:
    seen: set[tuple[str, int]] = set()
    for check in task.checks:
        found = vacuous(check)
        if found is None or (mark := (str(found.span.source.path), found.span.start)) in seen:
            continue
        seen.add(mark)
        if not found.accesses or not all(_is_made(task, a.path) for a in found.accesses):
            continue
        if any(covers(other, found) for other in task.checks if other is not check):
            continue
        yield Finding.at(
            found.span,
            "output that holds nothing passes: all that can fail here is asked of each of these",
            help="first assert how many there have to be, or go through what is expected",
            related=[
                related(
                    found.accesses[0].span, "they are read from here, and no other check asks whether there are any"
                )
            ],
        )


def _is_made(task: Task, path: str) -> bool:
    """Whether a path is the agent's to make, and nothing unknown may have put it there."""
    shown = path.partition("*")[0].rstrip("/")
    return is_made(task.visible, shown) and not task.visible.unlisted
