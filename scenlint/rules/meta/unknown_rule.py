"""A suppression or a configuration entry that names no known rule."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Severity, Task, rule
from scenlint.source.edit import respelled
from scenlint.source.text import Span


@rule(
    "unknown-rule",
    "SL003",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="`scenlint rules` lists the name",
    late=True,
    fix="unsafe",
)
def unknown_rule(task: Task) -> Iterator[Finding]:
    for suppression in task.suppressions:
        for name, span in suppression.rules:
            if name in task.unknown_names:
                yield unknown(name, span, task.unknown_names[name])


def unknown(name: str, span: Span, close: list[str]) -> Finding:
    """The finding for one unknown name; the engine makes it for configuration files too."""
    hint = f"did you mean `{close[0]}`?" if close else "`scenlint rules` lists the known ones"
    fix = Fix.of(f"name `{close[0]}`", respelled(span, name, close[0]), safe=False) if close else None
    return Finding.at(span, f"no rule is called `{name}`", help=hint, fix=fix)
