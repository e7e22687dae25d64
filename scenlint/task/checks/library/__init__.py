"""What calls of Python's own functions and of common libraries mean for a verifier that is followed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scenlint.source.pyfold import combine
from scenlint.source.pyvalue import PathText, Ref, Value, known, plain, unknown
from scenlint.task.checks.library import assertions, commands, files, functions, methods, process, servers
from scenlint.task.checks.library.base import MEANINGS, Call
from scenlint.task.checks.model import Name
from scenlint.task.checks.scope import Func

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

__all__ = ["Call", "Method", "call", "constant", "field", "method", "opaque"]
_PARTS = (assertions, commands, files, functions, process, servers)  # each registers what its calls mean


@dataclass(frozen=True, eq=False)
class Method:
    """A method of a value, not yet called."""

    value: Value
    name: str


def call(flow: Flow, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    """A call of something that is not the verifier's own, by its dotted name."""
    this = Call(flow, name, args, kwargs, node, env)
    meaning = MEANINGS.get(name)
    if meaning is not None:
        return meaning(this)
    if (answer := servers.guess(this)) is not None:
        return answer
    last = name.rsplit(".", 1)[-1]
    if last.startswith("assert") or name == "jsonschema.validate":
        return assertions.assertion(this, last)
    pure = _PURE.get(name)
    if pure is not None:
        return combine(lambda *a: pure(*(plain(x) for x in a)), *args) if args else unknown()
    return opaque(flow, known(Ref(name)), args, kwargs, node, env)


def opaque(flow: Flow, target: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    """A call that cannot be seen through: its result may rest on all that went into it."""
    this = Call(flow, "", args, kwargs, node, env)
    out = unknown(target, *this.values)
    if target.shape == "agent":
        for name in kwargs.keys() - {"*"}:
            at = next((k for k in getattr(node, "keywords", []) if k.arg == name), node)
            this.fact(Name(name, "argument", env.module.span(at)))
        this.may_raise("Exception", target)
        called = [f.name for f in flow.facts.of(target.data) if isinstance(f, Name)]
        return replace(out, shape="agent" if called and called[-1][:1].isupper() else "")
    for value in this.values:
        for option in value.options:
            if isinstance(option, Func) and option.node not in [f.func.node for f in flow.frames]:
                inner = flow.enter(option, [], {}, node, env)  # a callback: it may be called
                out = out.since(inner.all_data, inner.all_why)
    out = out.since(files.guess(this))
    if flow.produced(out) or target.options:
        this.may_raise("Exception", out)
    return replace(out, shape="opaque") if flow.produced(out) else out


def method(flow: Flow, option: Method, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    """A method of a value."""
    return methods.call(Call(flow, option.name, args, kwargs, node, env), option.value)


def constant(name: str) -> Value:
    """An attribute of a library."""
    return known(_CONSTANTS[name]) if name in _CONSTANTS else known(Ref(name))


def field(flow: Flow, value: Value, name: str, node: ast.AST, env: Env) -> Value:
    """An attribute of a value that is no object of ours."""
    option = value.options[0] if value.options else None
    if isinstance(option, PathText) and (found := methods.path_field(value, name)) is not None:
        return found
    if isinstance(option, files.File) and name == "name":
        return option.path
    up = env.module.parent(node)
    called = isinstance(up, ast.Call) and up.func is node
    if value.shape == "agent":
        bit = flow.facts.add(Name(name, "attribute", env.module.span(node)))
        if not called:
            flow.fail(node, env, "implicit", "AttributeError", value)
        return value.since(bit)
    if called:
        return Value((Method(value, name),), False, value.data, value.why)
    if value.shape.startswith("process"):
        status = {"process": "code", "process-neutral": "neutral", "process-presence": "presence"}[value.shape]
        return unknown(value, shape={"returncode": status, "stdout": "text", "stderr": "text"}.get(name, ""))
    return unknown(value, shape=_FIELDS.get((value.shape, name), _FIELDS.get(("", name), "")))


_FIELDS = {
    ("reply", "status_code"): "status", ("reply", "status"): "status", ("reply", "ok"): "status",
    ("reply", "text"): "text", ("reply", "content"): "text", ("json", "columns"): "rows",
    ("", "st_size"): "extent", ("", "columns"): "rows", ("", "size"): "size", ("", "stdout"): "text",
    ("", "stderr"): "text",
}  # fmt: skip
_CONSTANTS: dict[str, Any] = {
    "os.sep": "/", "os.linesep": "\n", "os.pathsep": ":", "os.devnull": "/dev/null", "os.curdir": ".",
    "os.pardir": "..", "sys.executable": "python3", "sys.platform": "linux", "math.pi": 3.141592653589793,
    "math.e": 2.718281828459045, "math.inf": float("inf"), "typing.TYPE_CHECKING": False,
    "string.ascii_lowercase": "abcdefghijklmnopqrstuvwxyz", "string.ascii_uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "string.digits": "0123456789",
}  # fmt: skip
_PURE: dict[str, Callable[..., Any]] = {
    "bytes": bytes, "round": round, "abs": abs, "ord": ord, "chr": chr, "hex": hex, "repr": repr, "divmod": divmod,
    "complex": complex,
}  # fmt: skip
