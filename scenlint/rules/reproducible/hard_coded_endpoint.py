"""A host, port or container name stands in the verifier where the harness gives a variable for it."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import PyModule, parse
from scenlint.source.pyvalue import HOLE
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks import Event
from scenlint.task.model import HarnessVariables

_URL = regex(rf"(?:[a-z][\w+.-]*:)?//(?:[^@/]*@)?(?P<host>[\w.\-{HOLE}]+|\[[^]]*\])(?::(?P<port>[\w{HOLE}]+))?")
_LOCAL = regex(
    r"localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|"
    r"172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+"
)


@rule(
    "hard-coded-endpoint",
    "SL312",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the harness runs the application at this very address for every trial",
)
def hard_coded_endpoint(task: Task) -> Iterator[Finding]:
    variables = task.environment.variables if task.environment else None
    if variables is None or not variables.given or task.verifier is None:
        return
    seen: set[Span] = set()
    for event in task.survey.events:
        if event.kind == "endpoint" and (found := _fixed(event, variables)) is not None:
            what, literal, instead = found
            span = (_origin(event.place.module, literal) if event.place else None) or event.span
            if span not in seen:
                seen.add(span)
                yield Finding.at(
                    span,
                    f"{what} is fixed here, but every trial has its own",
                    help=f"take it from {instead}, which the harness sets",
                )
    for fragment in task.verifier.code("python"):
        yield from _defaults(parse(fragment), variables)


def _fixed(event: Event, variables: HarnessVariables) -> tuple[str, str, str] | None:
    """What an endpoint fixes in every form it can take, the literal that does, and the variable to use."""
    if event.note.startswith("container "):
        name = event.note.removeprefix("container ")
        instead = _named(variables, "_CONTAINER")
        return (f"the container `{name}`", name, instead) if HOLE not in name and instead else None
    parts = [m for url in event.note.split("\n") if (m := _URL.match(url))]
    if not parts:
        return None
    hosts, ports = {m["host"] for m in parts}, {m["port"] or "" for m in parts}
    host, port = next(iter(hosts)), next(iter(ports))
    if len(hosts) == 1 and _LOCAL.fullmatch(host):
        known_port = len(ports) == 1 and port.isdigit()
        instead = "`SERVER_HOSTNAME`" + (f" and {_named(variables, '_PORT')}" if known_port else "")
        return f"the address `{host}{':' + port if known_port else ''}`", host, instead
    if all(HOLE in h for h in hosts) and len(ports) == 1 and port.isdigit() and (instead := _named(variables, "_PORT")):
        return f"the port `{port}`", port, instead
    return None


def _named(variables: HarnessVariables, ending: str) -> str:
    names = sorted(n for n in variables.given if n.endswith(ending))
    return " or ".join(f"`{n}`" for n in names[:3])


def _origin(module: PyModule, literal: str) -> Span | None:
    """Where the literal itself stands, wherever the URL is put together."""
    found = [
        n
        for n in module.nodes
        if isinstance(n, ast.Constant)
        and (
            n.value == literal
            or str(n.value) == literal
            or (isinstance(n.value, str) and re.search(rf"(?://|:){re.escape(literal)}\b", n.value))
        )
    ]
    return module.span(min(found, key=lambda n: (n.lineno, n.col_offset))) if found else None


def _defaults(module: PyModule, variables: HarnessVariables) -> Iterator[Finding]:
    """`os.environ.get("APP_PORT", "8080")`: where the variable is missing, the wrong application may answer."""
    for call in module.calls("os.environ.get", "os.getenv"):
        if len(call.args) != 2 or not all(isinstance(a, ast.Constant) for a in call.args):
            continue
        name, default = call.args[0], call.args[1]
        assert isinstance(name, ast.Constant)
        assert isinstance(default, ast.Constant)
        if name.value == "SERVER_HOSTNAME" or name.value not in variables.given or not default.value:
            continue
        yield Finding.at(
            module.span(default),
            f"where `{name.value}` is not set, `{default.value!s}` is asked instead of failing",
            help=f'read it as `os.environ["{name.value}"]`',
            severity=Severity.WARNING,
        )
