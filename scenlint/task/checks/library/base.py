"""A call of something that is not the verifier's own, and the table of what such calls mean."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import UNKNOWN, Value
from scenlint.task.checks.facts import Fact

if TYPE_CHECKING:
    from scenlint.source.text import Span
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

Meaning = Callable[["Call"], Value]
MEANINGS: dict[str, Meaning] = {}


@dataclass(frozen=True)
class Call:
    """One call: the walk that it belongs to, the dotted name of what is called, its arguments and where it stands."""

    flow: Flow
    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.AST
    env: Env

    @property
    def first(self) -> Value:
        return self.arg(0)

    def arg(self, position: int, name: str = "") -> Value:
        """An argument by position or name; UNKNOWN where it is not given."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, UNKNOWN)

    @property
    def values(self) -> list[Value]:
        return [*self.args, *self.kwargs.values()]

    @property
    def span(self) -> Span:
        return self.env.module.span(self.node)

    def fact(self, fact: Fact, *, produced: bool = False, basis: int = 0) -> int:
        return self.flow.facts.add(fact, produced=produced, basis=basis)

    def may_raise(self, exception: str, value: Value) -> None:
        """Note that the call can fail by itself, over this value."""
        self.flow.fail(self.node, self.env, "implicit", exception, value)

    def note(self, kind: str, text: str = "") -> None:
        self.flow.note(kind, self.node, self.env, text)


def means(*names: str) -> Callable[[Meaning], Meaning]:
    """Register what calls of these dotted names mean."""

    def register(meaning: Meaning) -> Meaning:
        MEANINGS.update(dict.fromkeys(names, meaning))
        return meaning

    return register
