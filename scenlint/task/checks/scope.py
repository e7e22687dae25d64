"""What names mean while a verifier is followed: scopes, and functions, classes, objects and modules of its own."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from scenlint.source.python import Function, PyModule
from scenlint.source.pyvalue import Value, join
from scenlint.task.checks.facts import Place


@dataclass(eq=False)
class Env:
    """Names of one scope; `outer` is the scope around it, `module` that of the file."""

    module: PyModule
    names: dict[str, Value] = field(default_factory=dict)
    outer: Env | None = None
    shared: set[str] = field(default_factory=set)  # names declared global or nonlocal

    def get(self, name: str) -> Value | None:
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return env.names[name]
            env = env.outer
        return None

    def put(self, name: str, value: Value) -> None:
        if name in self.shared and self.outer is not None:
            env = self.outer
            while name not in env.names and env.outer is not None:
                env = env.outer
            old = env.names.get(name)
            env.names[name] = value if old is None else join([old, value])
        else:
            self.names[name] = value


@dataclass(frozen=True, eq=False)
class Func:
    """A function of the verifier's own, with the scope it was made in and the object it is bound to."""

    node: Function | ast.Lambda
    env: Env
    bound: Value | None = None
    owner: ast.ClassDef | None = None


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the verifier's own."""

    node: ast.ClassDef
    env: Env


@dataclass(eq=False)
class Instance:
    """An object of one of the verifier's own classes."""

    cls: Class
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Module:
    """One of the verifier's own modules."""

    env: Env


@dataclass(eq=False)
class Frame:
    """A call that is being followed."""

    func: Func
    module: PyModule
    call: Place
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    escaped: int = 0  # tests under which something was left early


def merged(a: dict[str, Value], b: dict[str, Value], why: int, before: dict[str, Value]) -> dict[str, Value]:
    """Names after two ways met; what differs depends on the test that chose the way."""
    out: dict[str, Value] = {}
    for name in {**a, **b}:
        if name in a and name in b:
            same = a[name] is b[name]
            out[name] = a[name] if same else join([a[name], b[name]]).since(0, why)
        else:
            out[name] = (a.get(name) or b[name]).since(0, why)
    return out
