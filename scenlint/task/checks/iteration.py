"""Loops and bindings of a followed verifier: what an iterable holds, what a target is bound to, comprehensions."""
# ruff: noqa: N802 (methods are named after the syntax nodes that they handle)

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from scenlint.source.pyvalue import Map, PathText, Seq, Value, is_scalar, join, known, truth, unknown
from scenlint.task.checks.follower import Follower
from scenlint.task.checks.scope import Env, Instance

UNROLL = 40  # rounds of a loop over known items


class Iteration(Follower):
    """Iterables, targets and comprehensions."""

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
                        columns[n].append(option.items[n])
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
                    put(out, key)
                    put(out, value)
                    for k in key.options:
                        if is_scalar(k):
                            out.items[k] = value
                    out.more |= key.open
        return known(out)


def maybe(value: Value) -> bool:
    """Whether an iterable may be empty although items of it are known."""
    return value.open or any(isinstance(o, Seq) and (o.maybe or (o.more and not o.items)) for o in value.options)


def put(container: Seq | Map, value: Value) -> None:
    """Note in a container what one of its items rests on; a sequence gets the item too."""
    if isinstance(container, Seq):
        container.items.append(value)
    container.data |= value.all_data
    container.why |= value.all_why
