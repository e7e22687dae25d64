"""An HTTP, subprocess or socket call of a verifier that waits without a limit."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Isolation, Kind, Role, Severity, Task, rule
from scenlint.source.edit_python import set_keyword
from scenlint.source.python import PyModule, parse

_HTTP = {
    f"{m}.{v}" for m in ("requests", "httpx") for v in ("get", "post", "put", "patch", "delete", "head", "request")
}
# httpx waits 5 s by default.
_WAITING = {n for n in _HTTP if n.startswith("requests.")} | {
    "urllib.request.urlopen",
    "socket.create_connection",
    "http.client.HTTPConnection",
    "http.client.HTTPSConnection",
}
_PROCESSES = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output")}
# Position of the timeout where it may be given without its name.
_POSITION = {"urllib.request.urlopen": 2, "socket.create_connection": 1}


@rule(
    "call-without-timeout",
    "SL313",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="a limit is set elsewhere: for the whole client or process, or by a wrapper such as `timeout 30`",
    fix="unsafe",
)
def call_without_timeout(task: Task) -> Iterator[Finding]:
    assert task.verifier is not None
    # In a container of its own task, the harness's limit on the verifier ends a stuck program; a stuck network call
    # is worth a word there too, since it depends on somebody else.
    wanted = _WAITING if task.verifier.isolation in (Isolation.SHARED, Isolation.SEPARATE) else _WAITING | _PROCESSES
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        if any(module.calls("socket.setdefaulttimeout", "signal.alarm", "signal.setitimer")):
            continue
        for call in module.calls(*wanted):
            if not _has_timeout(module, call):
                yield Finding.at(
                    module.span(call.func),
                    f"`{module.dotted(call.func)}` waits without a limit",
                    help="give it a `timeout=` well below the verifier's own limit, and count a timeout as no answer",
                    fix=_limited(module, call),
                )


def _limited(module: PyModule, call: ast.Call) -> Fix | None:
    """With a limit: that of the function around the call, where it takes one."""
    function = module.function_of(call)
    given = function is not None and any(a.arg == "timeout" for a in [*function.args.args, *function.args.kwonlyargs])
    limit = "timeout" if given else "60" if module.dotted(call.func) in _PROCESSES else "30"
    return Fix.of(f"pass `timeout={limit}`", *set_keyword(module, call, "timeout", limit), safe=False)


def _has_timeout(module: PyModule, call: ast.Call) -> bool:
    if any(k.arg is None or k.arg == "timeout" for k in call.keywords):
        return not any(
            k.arg == "timeout" and isinstance(k.value, ast.Constant) and k.value.value is None for k in call.keywords
        )
    position = _POSITION.get(module.dotted(call.func))
    return (position is not None and len(call.args) > position) or _wrapped(call)


def _wrapped(call: ast.Call) -> bool:
    """Whether the command itself is run under `timeout`."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.List | ast.Tuple):
        words = [e.value for e in first.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        return "timeout" in words
    text = first.value if isinstance(first, ast.Constant) else None
    return isinstance(text, str) and text.lstrip().startswith("timeout ")
