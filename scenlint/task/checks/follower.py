"""The state of a walk through a verifier, and how facts, failures and events are noted down on the way."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from scenlint.source.pyvalue import UNKNOWN, Value, truth
from scenlint.task.checks.facts import Asked, Event, Facts, Failure, Judged, Output, Place, Step
from scenlint.task.checks.program import Setup
from scenlint.task.checks.scope import Env, Frame, Func

STEPS = 60_000  # expressions that are evaluated for one verifier
DEEPEST = 150  # expressions inside each other


class ExhaustedError(Exception):
    """The verifier is too large to be followed further."""


class Follower:
    """What every part of the follower shares; the parts that it leaves open are given by `Expressions` and `Flow`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.facts = Facts()
        self.steps = 0
        self.ctx = 0  # the tests under which the present statement runs
        self.frames: list[Frame] = []
        self.failures: list[Failure] = []
        self.caught: list[Failure] = []  # failures that a handler caught
        self.cases: list[tuple[Value, Value, Place, int]] = []  # dicts with an `id` and `passed`
        self.outputs: list[Output] = []
        self.events: list[Event] = []
        self.temp = 0  # data that went into temporary files
        self.foreign = False  # a folder that is not the verifier's own is on the path of imports
        self.uncertain = 0  # branches around that may not be taken
        self.repeats = 0  # loops around whose rounds are not known
        self.jumps: list[list[tuple[dict[str, Value], int]]] = []  # a loop each: names where a round was left, and why
        self.cwd = ""  # the folder that relative paths start from, where something has set it
        self.written: set[str] = set()  # paths that the verifier has written itself
        self.values: dict[ast.AST, Value] = {}  # what calls and names were seen to be
        self.depth = 0
        self.filtering = 0  # filters of comprehensions around

    # -- given by those who build on this
    def eval(self, node: ast.AST, env: Env) -> Value:
        raise NotImplementedError

    def call(self, node: ast.Call, env: Env) -> Value:
        raise NotImplementedError

    def attribute(self, value: Value, name: str, node: ast.AST, env: Env) -> Value:
        raise NotImplementedError

    def enter(self, func: Func, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
        raise NotImplementedError

    # -- facts
    def produced(self, value: Value) -> bool:
        """Whether a value comes from what the agent made."""
        return bool(value.all_data & self.facts.produced)

    def place(self, node: ast.AST, env: Env) -> Place:
        return Place(env.module, node)

    def why(self) -> int:
        return self.ctx | (self.frames[-1].escaped if self.frames else 0)

    def stack(self) -> tuple[Step, ...]:
        return tuple(Step(f.call, f.func.node, f.module) for f in reversed(self.frames))

    def fail(self, node: ast.AST, env: Env, kind: str, exception: str, value: Value = UNKNOWN) -> None:
        why = self.why() | value.all_why
        self.failures.append(Failure(self.place(node, env), kind, exception, why, value.all_data, value, self.stack()))

    def note(self, kind: str, node: ast.AST, env: Env, note: str = "") -> None:
        event = Event(kind, env.module.span(node), note, self.place(node, env))
        if event not in self.events:
            self.events.append(event)

    def decide(self, value: Value, node: ast.AST, env: Env) -> Value:
        """A value used as a truth value: asking for presence is a fact of its own."""
        if value.shape == "judged" or truth(value) is not None or not self.produced(value):
            return value
        span = env.module.span(node)
        fact = Judged(span) if value.shape in ("opaque", "status") else Asked(span)
        if value.shape == "neutral":
            return value
        return replace(value, why=value.why | self.facts.add(fact, basis=value.all_data), shape="judged")
