"""A fixed container name, host port or shared path that two trials at once would both claim."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Isolation, Kind, Role, Severity, Task, rule
from scenlint.source.python import parse
from scenlint.source.text import Span
from scenlint.task.model import Document


@rule(
    "fixed-name-collision",
    "SL315",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the harness replaces the name for each trial",
)
def fixed_name_collision(task: Task) -> Iterator[Finding]:
    assert task.environment is not None
    for document in task.environment.compose:
        for what, value, span in _claims(document):
            yield Finding.at(
                span,
                f"the {what} `{value}` is fixed, so a second trial at the same time cannot start",
                help="leave it to the harness: drop it, or take the name from the harness's variable",
            )
    if task.verifier is not None and task.verifier.isolation is Isolation.HOST:
        yield from _host_files(task)


def _claims(document: Document) -> Iterator[tuple[str, str, Span]]:
    data = document.data
    services = data.get("services")
    for name, service in services.items() if isinstance(services, dict) else ():
        if not isinstance(service, dict):
            continue
        container = service.get("container_name")
        if isinstance(container, str) and "$" not in container and "{" not in container:
            yield "container name", container, data.span("services", name, "container_name")
        ports = service.get("ports")
        for n, port in enumerate(ports if isinstance(ports, list) else ()):
            host = _host_port(port)
            if host:
                yield "host port", host, data.span("services", name, "ports", n)


def _host_port(port: object) -> str | None:
    """The host's side of a port mapping, where it is one fixed number."""
    if isinstance(port, dict):
        host = str(port.get("published") or "")
        return host if host.isdigit() and host != "0" else None
    parts = str(port).split("/")[0].rsplit(":", 2)
    if len(parts) < 2 or "$" in str(port):
        return None
    return parts[-2] if parts[-2].isdigit() and parts[-2] != "0" else None


def _host_files(task: Task) -> Iterator[Finding]:
    """Files under /tmp of the harness's machine that verify.py writes under a fixed name."""
    import ast

    assert task.verifier is not None
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        for call in module.calls("open"):
            path = call.args[0] if call.args else None
            mode = (
                call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "mode"), None)
            )
            writes = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set("wax") & set(mode.value)
            name = path.value if isinstance(path, ast.Constant) and isinstance(path.value, str) else ""
            if writes and path is not None and name.startswith("/tmp/"):
                yield Finding.at(
                    module.span(path),
                    f"the verifier writes `{name}` on the machine that all trials share",
                    help="use `tempfile.mkdtemp()`",
                )
