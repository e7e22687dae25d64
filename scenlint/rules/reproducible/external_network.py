"""A verifier that asks a public host for something while it grades."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.pyvalue import HOLE
from scenlint.source.text import Span
from scenlint.task.checks import Event
from scenlint.task.hosts import host_of, is_near


@rule(
    "external-network",
    "SL309",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the name is answered inside the trial, or the verdict is the same with the network off",
)
def external_network(task: Task) -> Iterator[Finding]:
    found: dict[tuple[object, str], list[Span]] = {}
    for event in task.survey.events:
        if host := _public_host(event):
            places = found.setdefault((event.span.source.path, host), [])
            places += [event.span] if event.span not in places else []
    for (_, host), (first, *others) in found.items():
        yield Finding.at(
            first,
            f"grading asks `{host}`, which can change, refuse or be out of reach",
            help="keep what it needs in the verifier's own files, or run a service of the task's own",
            related=[related(span, "and here") for span in others[:5]],
        )


def _public_host(event: Event) -> str:
    """The public host that a request goes to whatever its address is put together from; "" for any other event."""
    if event.kind != "endpoint" or _is_command(event):
        return ""
    hosts = [host_of(url) for url in event.note.split("\n") if "://" in url]
    return hosts[0] if hosts and all(HOLE not in h and not is_near(h) for h in hosts) else ""


def _is_command(event: Event) -> bool:
    """Whether a command asks (`git clone`, `curl`): that is a download, which `download-at-grading` reports."""
    call = event.place.node if event.place else None
    return (
        isinstance(call, ast.Call)
        and event.place is not None
        and event.place.module.dotted(call.func).startswith(("subprocess.", "os."))
    )
