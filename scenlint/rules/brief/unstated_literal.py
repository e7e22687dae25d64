"""A marker, prefix or pattern that the verifier demands and nothing the agent can read tells."""

import re
from collections.abc import Iterator

from scenlint.rules import Finding, Role, Severity, Task, rule
from scenlint.task import demands
from scenlint.task.visible import Visible


@rule(
    "unstated-literal",
    "SL205",
    severity=Severity.WARNING,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the brief or a file the agent can read gives the wording, or the right answer holds it by itself",
)
def unstated_literal(task: Task) -> Iterator[Finding]:
    for demand in demands.wordings(task):
        if not _told(demand.what, demand.visible):
            yield Finding.at(
                demand.span,
                f"the verifier wants the text `{demand.what}`, which nothing the agent can read gives",
                help="give the wording or the form in the brief, or accept every form that the brief allows",
                related=[demand.silence],
                confidence=demand.confidence,
            )


def _told(text: str, visible: Visible) -> bool:
    """Whether the text, or its core in the same letters, stands somewhere; or all of its words do, though apart."""
    if visible.mentions(text):
        return True
    core = re.sub(r"^[^\w]+|[^\w]+$", "", text)
    if core != text and any(re.search(rf"(?<!\w){re.escape(core)}(?!\w)", brief.text) for brief in visible.briefs):
        return True
    if re.fullmatch(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\s*[=:]", text):
        return visible.mentions(core) is not None  # a field's name is told as a whole only
    words = re.findall(r"[^\W_]+", text)
    return len(words) > 1 and all(visible.mentions(w, word=True) for w in words)
