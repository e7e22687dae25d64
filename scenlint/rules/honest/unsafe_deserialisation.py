"""A verifier that evals, unpickles or otherwise revives what the agent wrote, and so runs the code in it."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.checks import Event

_EVALUATES = ("eval", "exec")


@rule(
    "unsafe-deserialisation",
    "SL417",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the data are the verifier's own, or this runs in a process whose status and output nobody trusts",
)
def unsafe_deserialisation(task: Task) -> Iterator[Finding]:
    found = [(event, name) for event in task.survey.events if (name := _reader(event))]
    if not found:
        return
    (event, name), *others = sorted(found, key=lambda f: (str(f[0].span.source.path), f[0].span.start))
    yield Finding.at(
        event.span,
        f"`{name}` is given what the agent wrote, and runs whatever code that holds",
        help="have results handed in as JSON, CSV or another format without code, and read them with `json.load`, "
        "`ast.literal_eval`, `yaml.safe_load` or `weights_only=True`; where it must be a pickle, read it in a process "
        "of its own, without rights and with its output checked",
        related=[related(other.span, f"and `{reader}` here") for other, reader in others[:5]],
    )


def _reader(event: Event) -> str:
    """The function that runs what it reads; "" where the event is another."""
    call = event.place.node if event.place else None
    if event.place is None or not isinstance(call, ast.Call):
        return ""
    name = event.place.module.dotted(call.func)
    return name if event.kind == "revives" or (event.kind == "loads" and name in _EVALUATES) else ""
