"""A marker, prefix or pattern that the verifier demands and nothing the agent can read tells."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.task import demands


@rule(
    "unstated-literal",
    "SL205",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read gives the wording, or the right answer holds it by itself",
)
def unstated_literal(task: Task) -> Iterator[Finding]:
    visible = task.visible
    for demand in demands.wordings(task):
        text = demand.what
        if visible.mentions(text):
            continue
        # Part of the answer if the material holds its words, though apart.
        words = [w for w in text.replace("_", " ").split() if any(c.isalpha() for c in w)]
        if len(words) > 1 and all(visible.mentions(word, word=True) for word in words):
            continue
        yield Finding.at(
            demand.span,
            f"the verifier wants the text `{text}`, which nothing the agent can read gives",
            help="give the wording or the form in the brief, or accept every form that the brief allows",
            related=[related(task.briefs[-1].prose.source, "the brief does not give it")],
            confidence=Confidence.LOW if visible.opaque else Confidence.MEDIUM,
        )
