"""Evaluates the expressions of a followed verifier: values, and on the way the facts that they rest on."""
# ruff: noqa: N802 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scenlint.source.python import Function, PyModule
from scenlint.source.pyvalue import (
    UNKNOWN,
    Map,
    PathText,
    Ref,
    Seq,
    Value,
    binary,
    combine,
    constants,
    is_scalar,
    join,
    known,
    plain,
    subscript,
    text_of,
    truth,
    unary,
    unknown,
)
from scenlint.task.checks.facts import Asked, Event, Facts, Failure, Judged, Output, Place, Step
from scenlint.task.checks.model import Comparison, Key
from scenlint.task.checks.program import Setup

STEPS = 60_000  # expressions that are evaluated for one verifier
UNROLL = 40  # rounds of a loop over known items


class Exhausted(Exception):
    """The verifier is too large to be followed further."""


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


class Expressions:
    """The expression half of the follower; `Flow` adds statements and calls."""

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
        self.cwd = ""  # the folder that relative paths start from, where something has set it
        self.written: set[str] = set()  # paths that the verifier has written itself
        self.values: dict[ast.AST, Value] = {}  # what calls and names were seen to be

    # -- to be given by Flow
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
        event = Event(kind, self.place(node, env), note)
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

    # -- evaluation
    def eval(self, node: ast.AST, env: Env) -> Value:
        self.steps += 1
        if self.steps > STEPS or self.depth > 150:
            raise Exhausted
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            return unknown(*[self.eval(c, env) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)])
        self.depth += 1
        try:
            value: Value = method(node, env)
        finally:
            self.depth -= 1
        return value

    depth = 0

    def _Constant(self, node: ast.Constant, env: Env) -> Value:
        return known(node.value, origin=Place(env.module, node))

    def _Name(self, node: ast.Name, env: Env) -> Value:
        value = env.get(node.id)
        if value is None:
            value = known(Ref(node.id))
        return value

    def _NamedExpr(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.eval(node.value, env)
        self.assign(node.target, value, env)
        return value

    def _JoinedStr(self, node: ast.JoinedStr, env: Env) -> Value:
        parts = [self.eval(p, env) for p in node.values]
        out = text_of(parts)
        origins = tuple(p.origin for p in parts if p.origin is not None)
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and str(first.value).lstrip().startswith("[") and len(parts) > 1:
            # `[{status}] (…pt) label`: the verdict rests on the status alone, not on what else the line shows.
            return replace(out, data=parts[1].all_data, why=parts[1].all_why, origin=origins)
        return replace(out, origin=origins)

    def _FormattedValue(self, node: ast.FormattedValue, env: Env) -> Value:
        value = self.eval(node.value, env)
        if node.conversion == 114:
            return combine(lambda o: repr(plain(o)), value)
        if node.format_spec is not None:
            spec = self.eval(node.format_spec, env)
            return combine(lambda o, s: format(plain(o), s), value, spec)
        return value

    def _Sequence(self, node: ast.List | ast.Tuple | ast.Set, env: Env, kind: str) -> Value:
        seq = Seq(kind)
        for item in node.elts:
            if isinstance(item, ast.Starred):
                inner = self.eval(item.value, env)
                items, more = self.elements(inner)
                seq.items += items
                seq.more |= more
                seq.data |= inner.all_data
                seq.why |= inner.all_why
            else:
                self._put(seq, self.eval(item, env))
        return known(seq, origin=Place(env.module, node))

    @staticmethod
    def _put(seq: Seq | Map, value: Value) -> None:
        if isinstance(seq, Seq):
            seq.items.append(value)
        seq.data |= value.all_data
        seq.why |= value.all_why

    def _List(self, node: ast.List, env: Env) -> Value:
        return self._Sequence(node, env, "list")

    def _Tuple(self, node: ast.Tuple, env: Env) -> Value:
        return self._Sequence(node, env, "tuple")

    def _Set(self, node: ast.Set, env: Env) -> Value:
        return self._Sequence(node, env, "set")

    def _Dict(self, node: ast.Dict, env: Env) -> Value:
        out = Map()
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.eval(item, env)
            self._put(out, value)
            if key is None:
                for option in value.options:
                    if isinstance(option, Map):
                        out.items.update(option.items)
                        out.more |= option.more
                    else:
                        out.more = True
                out.more |= value.open
                continue
            for k in (keys := self.eval(key, env)).options:
                if is_scalar(k):
                    out.items[k] = value
                elif isinstance(k, Seq):
                    try:
                        out.items[plain(k)] = value
                    except (ValueError, TypeError):
                        out.more = True
            out.more |= keys.open
        if "passed" in out.items and "id" in out.items:
            self.cases.append((out.items["id"], out.items["passed"], self.place(node, env), self.why()))
        return known(out, origin=Place(env.module, node))

    def _BinOp(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        out = binary(node.op, left, right)
        shape = out.shape
        if not shape and out.open:
            shape = next((s for s in (left.shape, right.shape) if s), "")
        if shape == "judged":  # sums of verdicts
            return replace(out, shape=shape)
        origins = tuple(v.origin for v in (left, right) if v.origin is not None)
        return replace(out, shape=shape, origin=out.origin or origins or None)

    def _UnaryOp(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.eval(node.operand, env)
        if isinstance(node.op, ast.Not):
            value = self.decide(value, node.operand, env)
        return unary(node.op, value)

    def _BoolOp(self, node: ast.BoolOp, env: Env) -> Value:
        values: list[Value] = []
        before = self.ctx
        stop = isinstance(node.op, ast.Or)
        for n, part in enumerate(node.values):
            value = self.eval(part, env)
            last = n == len(node.values) - 1
            decided = value if last and not values else self.decide(value, part, env)
            known_truth = truth(value)
            if known_truth is not None and known_truth is not stop and not last:
                values.append(replace(decided, options=(), open=False))
                continue
            if stop and not last and not decided.open:
                decided = replace(decided, options=tuple(o for o in decided.options if o or not is_scalar(o)))
            values.append(decided)
            self.ctx |= decided.all_why
            if known_truth is stop:
                break
        self.ctx = before
        out = join(values)
        judged = all(v.shape in ("judged", "") for v in values) and any(v.shape == "judged" for v in values)
        return replace(out, shape="judged" if judged else out.shape)

    def _IfExp(self, node: ast.IfExp, env: Env) -> Value:
        test = self.decide(self.eval(node.test, env), node.test, env)
        decided = truth(test)
        before = self.ctx
        self.ctx |= test.all_why
        sides = [s for s, want in ((node.body, True), (node.orelse, False)) if decided in (None, want)]
        out = join([self.eval(s, env) for s in sides])
        self.ctx = before
        return out.since(0, test.all_why)

    def _Await(self, node: ast.Await, env: Env) -> Value:
        return self.eval(node.value, env)

    def _Starred(self, node: ast.Starred, env: Env) -> Value:
        return self.eval(node.value, env)

    def _Yield(self, node: ast.Yield, env: Env) -> Value:
        value = self.eval(node.value, env) if node.value else known(None)
        if self.frames:
            self.frames[-1].yields.append(value)
        return UNKNOWN

    def _YieldFrom(self, node: ast.YieldFrom, env: Env) -> Value:
        items, _ = self.elements(self.eval(node.value, env))
        if self.frames:
            self.frames[-1].yields += items
        return UNKNOWN

    def _Lambda(self, node: ast.Lambda, env: Env) -> Value:
        return known(Func(node, env))

    def _Call(self, node: ast.Call, env: Env) -> Value:
        value = self.call(node, env)
        old = self.values.get(node)
        self.values[node] = value if old is None else join([old, value])
        return value

    def _Attribute(self, node: ast.Attribute, env: Env) -> Value:
        return self.attribute(self.eval(node.value, env), node.attr, node, env)

    def _Slice(self, node: ast.Slice, env: Env) -> Value:
        return UNKNOWN

    def _Subscript(self, node: ast.Subscript, env: Env) -> Value:
        value, key = self.eval(node.value, env), self.eval(node.slice, env)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice, env)
        return self.item(value, key, node, env)

    def item(self, value: Value, key: Value, node: ast.AST, env: Env, *, default: bool = False) -> Value:
        """`value[key]`: a key where the data are the agent's."""
        if any(isinstance(o, Ref) for o in value.options):
            return self._environment(value, key, node, env) or unknown(value, key)
        out = subscript(value, key)
        if not self.produced(value):
            return out
        bits = self._key_facts(value, key, node, env, default=default)
        if not default and not value.options:
            self.fail(node, env, "implicit", "LookupError", value)
        shape = (
            value.shape
            if value.shape in ("json", "rows", "agent", "opaque")
            else "text"
            if value.shape == "text"
            else ""
        )
        out = out.since(bits, 0)
        return replace(out, shape=out.shape or shape) if out.open else out

    def _key_facts(self, value: Value, key: Value, node: ast.AST, env: Env, *, default: bool = False) -> int:
        if any(isinstance(o, Map) and not o.more for o in value.options) and not value.open:
            return 0  # a table of the verifier's own that holds produced data
        bits = 0
        found = self.facts.paths(value.all_data)
        for option in key.options:
            if isinstance(option, str) and not isinstance(option, PathText) and "\ue000" not in option:
                place = key.origin.node if isinstance(key.origin, Place) else node
                module = key.origin.module if isinstance(key.origin, Place) else env.module
                bits |= self.facts.add(Key(option, module.span(place), found, default), produced=True)
        return bits

    def _environment(self, value: Value, key: Value, node: ast.AST, env: Env) -> Value | None:
        for option in value.options:
            if isinstance(option, Ref) and option.name == "os.environ":
                return self.variable(key, None, node, env)
            if isinstance(option, Ref) and option.name == "sys.argv":
                indices = [k for k in key.options if isinstance(k, int) and k > 0]
                if indices and indices[0] <= len(self.setup.arguments):
                    return self.setup.arguments[indices[0] - 1]
        return None

    def variable(self, key: Value, default: Value | None, node: ast.AST, env: Env) -> Value:
        """An environment variable: what is known of it, or its default, or anything."""
        found = [self.setup.environment[k] for k in key.options if isinstance(k, str) and k in self.setup.environment]
        if found:
            return join(found)
        if default is not None and (default.options or default.open):
            return replace(default, open=True) if default.options != (None,) else UNKNOWN
        return UNKNOWN

    def _slice(self, value: Value, node: ast.Slice, env: Env) -> Value:
        bounds = [self.eval(b, env) if b is not None else known(None) for b in (node.lower, node.upper, node.step)]

        def cut(option: Any, low: Any, high: Any, step: Any) -> Any:
            at = slice(low, high, step)
            if isinstance(option, Seq):
                return known(Seq(option.kind, option.items[at], option.more, option.data, option.why, option.maybe))
            return option[at] if isinstance(option, str | bytes) else NotImplemented

        if any(isinstance(o, Ref) and o.name == "sys.argv" for o in value.options):
            return known(Seq("list", list(self.setup.arguments), more=True))
        out = combine(cut, value, *bounds)
        return replace(out, shape=value.shape) if out.open else out

    # -- iteration
    def elements(self, value: Value) -> tuple[list[Value], bool]:
        """The known items of an iterable, and whether there may be others."""
        out: list[Value] = []
        more = value.open or not value.options
        for option in value.options:
            if isinstance(option, Seq):
                out += [item.since(value.data, value.why) for item in option.items]
                more |= option.more
            elif isinstance(option, Map):
                out += [known(k, data=value.data, why=value.why) for k in option.items]
                more |= option.more
            elif isinstance(option, str) and not isinstance(option, PathText) and len(option) <= UNROLL:
                out += [known(c) for c in option]
            else:
                more = True
        return out[:UNROLL], more or len(out) > UNROLL

    def element_of(self, value: Value) -> Value:
        """Any item of an iterable of which no item is known."""
        shape = {"text": "text", "lines": "text", "json": "json", "rows": "rows", "listing": "listing"}.get(
            value.shape, ""
        )
        return unknown(value, shape=shape)

    def rounds(self, iterable: Value) -> Iterator[Value]:
        """The values that a loop variable takes."""
        items, more = self.elements(iterable)
        yield from items
        if more and not items:
            yield self.element_of(iterable)

    def assign(self, target: ast.expr, value: Value, env: Env) -> None:
        """Bind a target, taking sequences apart."""
        if isinstance(target, ast.Name):
            env.put(target.id, value.since(0, self.ctx))
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value, env)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, env)
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value, env)
            for option in owner.options:
                if isinstance(option, Instance):
                    old = option.fields.get(target.attr)
                    new = value.since(0, self.ctx)
                    option.fields[target.attr] = new if old is None or not self.ctx else join([old, new])
        elif isinstance(target, ast.Subscript):
            owner, key = self.eval(target.value, env), self.eval(target.slice, env)
            for option in owner.options:
                if isinstance(option, Seq | Map):
                    option.data |= value.all_data
                    option.why |= value.all_why | self.ctx
                if isinstance(option, Map):
                    for k in key.options:
                        if is_scalar(k):
                            new = value.since(0, self.ctx)
                            option.items[k] = join([option.items[k], new]) if k in option.items else new
                    option.more |= key.open

    def _unpack(self, targets: list[ast.expr], value: Value, env: Env) -> None:
        columns: list[list[Value]] = [[] for _ in targets]
        clear = bool(value.options) and not value.open
        for option in value.options:
            starred = any(isinstance(t, ast.Starred) for t in targets)
            if isinstance(option, Seq) and not option.more and (len(option.items) == len(targets) or starred):
                for n, target in enumerate(targets):
                    if isinstance(target, ast.Starred):
                        columns[n] += [known(Seq("list", option.items[n:]))]
                    elif n < len(option.items):
                        columns[n].append(option.items[n] if not starred else option.items[n])
            else:
                clear = False
        rest = unknown(value, shape=value.shape if value.shape in ("json", "text", "rows", "opaque", "agent") else "")
        if value.shape == "process":
            rest = unknown(value)
        for n, target in enumerate(targets):
            found = columns[n] if clear else [*columns[n], rest]
            self.assign(target, join(found).since(value.data, value.why) if found else rest, env)

    def _comprehension(self, node: Any, env: Env, make: Callable[[Env], Value]) -> Value:
        inner = Env(env.module, {}, env)
        items: list[Value] = []
        flags = {"more": False, "data": 0, "why": 0}

        def run(level: int) -> None:
            if level == len(node.generators):
                items.append(make(inner).since(0, self.ctx & ~outside))
                return
            gen = node.generators[level]
            iterable = self.eval(gen.iter, inner)
            found, more = self.elements(iterable)
            flags["more"] |= more
            flags["data"] |= iterable.all_data
            flags["why"] |= iterable.all_why
            for item in found or ([self.element_of(iterable)] if more else []):
                self.assign(gen.target, item, inner)
                before = self.ctx
                kept = True
                self.filtering += 1
                for test in gen.ifs:
                    value = self.decide(self.eval(test, inner), test, inner)
                    flags["why"] |= value.all_why
                    flags["data"] |= value.all_data
                    self.ctx |= value.all_why
                    if truth(value) is False:
                        kept = False
                        break
                    flags["more"] |= truth(value) is None
                self.filtering -= 1
                if kept:
                    run(level + 1)
                self.ctx = before

        outside = self.ctx
        run(0)
        seq = Seq("list", items, bool(flags["more"]), flags["data"], flags["why"], bool(flags["more"]))
        for item in items:
            seq.data |= item.all_data
            seq.why |= item.all_why
        return known(seq)

    filtering = 0

    def _ListComp(self, node: ast.ListComp, env: Env) -> Value:
        return self._comprehension(node, env, lambda inner: self.eval(node.elt, inner))

    _GeneratorExp = _ListComp
    _SetComp = _ListComp

    def _DictComp(self, node: ast.DictComp, env: Env) -> Value:
        pairs = self._comprehension(
            node, env, lambda inner: known(Seq("tuple", [self.eval(node.key, inner), self.eval(node.value, inner)]))
        )
        out = Map()
        for option in pairs.options:
            if isinstance(option, Seq):
                out.more, out.data, out.why = option.more, option.data, option.why
                for pair in option.items:
                    key, value = pair.options[0].items
                    self._put(out, key)
                    self._put(out, value)
                    for k in key.options:
                        if is_scalar(k):
                            out.items[k] = value
                    out.more |= key.open
        return known(out)

    # -- comparisons
    def _Compare(self, node: ast.Compare, env: Env) -> Value:
        sides = [node.left, *node.comparators]
        values = [self.eval(s, env) for s in sides]
        out: list[Value] = []
        for n, op in enumerate(node.ops):
            close = self._closeness(sides[n], sides[n + 1], op, env)
            out.append(close or self.compare(_OPERATORS[type(op)], values[n], values[n + 1], node, env))
        if len(out) == 1:
            return out[0]
        return replace(unknown(*out), shape="judged")

    def _closeness(self, left: ast.expr, right: ast.expr, op: ast.cmpop, env: Env) -> Value | None:
        """`abs(a - b) < tolerance` is an equality within a tolerance."""
        if not isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return None
        if isinstance(op, ast.Gt | ast.GtE) and not (
            isinstance(left, ast.Call) and env.module.dotted(left.func).endswith("abs")
        ):
            left, right = right, left
        if not (isinstance(left, ast.Call) and len(left.args) == 1 and isinstance(left.args[0], ast.BinOp)):
            return None
        difference = left.args[0]
        if env.module.dotted(left.func).split(".")[-1] not in ("abs", "fabs") or not isinstance(difference.op, ast.Sub):
            return None
        a, b = self.eval(difference.left, env), self.eval(difference.right, env)
        if not (self.produced(a) or self.produced(b)):
            return None
        bound = self.eval(right, env)
        limits = [c for c in constants(bound) if isinstance(c, int | float)]
        whole = env.module.parent(left)
        return self.compare(
            "==", a, b, whole if whole is not None else left, env, tolerance=limits[0] if limits else 0.0
        )

    def compare(
        self, op: str, left: Value, right: Value, node: ast.AST, env: Env, *, tolerance: float | None = None
    ) -> Value:
        """One comparison: folded where both sides are known, a fact where one is the agent's."""
        here = unknown(left, right, shape="judged")
        left_made, right_made = self.produced(left), self.produced(right)
        if not left_made and not right_made:
            folded = combine(_FOLD[op], left, right) if op in _FOLD else UNKNOWN
            if folded.open or not folded.options:
                return here
            return replace(folded, data=here.data, why=here.why, shape="judged")
        if (
            op in ("in", "not in")
            and right_made
            and not left_made
            and (keyed := self._membership(left, right, node, env))
        ):
            return here.since(keyed, keyed)
        made, other, swapped = (left, right, False) if left_made else (right, left, True)
        both = left_made and right_made
        if not both and swapped and op in _SWAP:
            op = _SWAP[op]
        options = [] if both else _constants(other)
        span = env.module.span(node)
        where = other.origin.span if isinstance(other.origin, Place) else None
        presence = self._asks_presence(op, made, options)
        selects = self.filtering > 0 or made.shape == "selected"
        keys = [f.name for f in self.facts.of(made.data) if isinstance(f, Key)]
        paths = self.facts.paths(made.all_data)
        if other.shape.startswith("approx"):
            tolerance = float(other.shape[7:] or 1e-6)
        bits = 0
        neutral = made.shape == "neutral"
        for constant in options or [None]:
            fact = Comparison(
                op, constant, bool(options), not neutral, span, where if options else None, presence, selects,
                tolerance, keys[-1] if keys else None, paths,
            )  # fmt: skip
            bits |= self.facts.add(fact, basis=here.data)
        return here.since(0, bits)

    def _membership(self, left: Value, right: Value, node: ast.AST, env: Env) -> int:
        """`"key" in data` for structured data; what lies under a key may as well be a list or a text."""
        if right.shape not in ("json", "rows") and not any(isinstance(o, Map) for o in right.options):
            return 0
        nested = any(isinstance(f, Key) for f in self.facts.of(right.data))
        wanted = {o for o in left.options if isinstance(o, str)}
        if nested and right.shape == "json" and not wanted <= env.module.subscripts:
            return 0
        bits = self._key_facts(right, left, node, env, default=not _demanded(node, env.module))
        return bits | self.facts.add(Judged(env.module.span(node)), basis=bits | right.all_data) if bits else 0

    @staticmethod
    def _asks_presence(op: str, made: Value, options: list[Any]) -> bool:
        if op in ("is", "is not", "==", "!=") and options and all(o is None or o in ("", b"") for o in options):
            return True
        sized = made.shape in ("size", "count")
        if made.shape == "listing" and op in ("in", "not in"):
            return True
        if made.shape == "extent" and options and op in (">", ">=", "!="):
            return True  # a text of some length, a file of some bytes
        if op in ("==", "!=") and made.shape == "presence":
            return True
        if sized and options and all(isinstance(o, int) for o in options):
            return (op, options[0]) in ((">", 0), (">=", 1), ("!=", 0), ("==", 0), ("<=", 0), ("<", 1))
        return False


def _demanded(node: ast.AST, module: PyModule) -> bool:
    """Whether a key that is asked for has to be there: asserted, or its absence tested."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn):
        return True
    up = next((p for p in module.parents(node) if isinstance(p, ast.stmt)), None)
    return isinstance(up, ast.Assert | ast.Return)


def _constants(value: Value) -> list[Any]:
    return constants(value) if not value.open or value.options else []


def _contains(a: Any, b: Any) -> Any:
    if isinstance(b, Seq):
        return NotImplemented if b.more else a in plain(b)
    if isinstance(b, Map):
        return NotImplemented if b.more else a in b.items
    return a in b if isinstance(b, str | bytes) and "\ue000" not in str(b) else NotImplemented


def _same(a: Any, b: Any) -> Any:
    if isinstance(a, Ref) and isinstance(b, Ref):
        return True if a == b else NotImplemented
    return plain(a) == plain(b)


def _negated(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        result = function(a, b)
        return result if result is NotImplemented else not result

    return run


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_SWAP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "==": _same,
    "!=": _negated(_same),
    "is": _same,
    "is not": _negated(_same),
    "<": lambda a, b: plain(a) < plain(b),
    "<=": lambda a, b: plain(a) <= plain(b),
    ">": lambda a, b: plain(a) > plain(b),
    ">=": lambda a, b: plain(a) >= plain(b),
    "in": _contains,
    "not in": _negated(_contains),
}
