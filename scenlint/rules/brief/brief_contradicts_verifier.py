"""The brief states a path or key, and the verifier reads another one like it."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import contradictions


@rule(
    "brief-contradicts-verifier",
    "SL207",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief names both, or what the verifier reads follows from what the brief says",
)
def brief_contradicts_verifier(task: Task) -> Iterator[Finding]:
    for kind, found in (("key", contradictions.keys(task)), ("path", contradictions.paths(task))):
        for one in found:
            yield Finding.at(
                one.demand.span,
                f"the verifier reads the {kind} `{one.demand.what}`, the brief says `{one.stated}`",
                help=f"let brief and verifier name the same {kind}",
                related=[related(one.stated_at, f"the brief says `{one.stated}`; no check reads it")],
            )
