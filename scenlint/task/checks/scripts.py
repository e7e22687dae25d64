"""Checks stated by a program of its own: by its exit status, or by a reward that it writes or prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scenlint.source.python import PyModule, walk
from scenlint.source.pyvalue import HOLE, Value, known, texts, truth
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.facts import Event, Failure, Judged, Output, Place, Step
from scenlint.task.checks.flow import Flow
from scenlint.task.checks.model import Check, Dialect
from scenlint.task.checks.program import Setup
from scenlint.task.checks.runner import Entry
from scenlint.task.checks.scope import Env, Func
from scenlint.task.checks.shells import decides
from scenlint.task.checks.sinks import Sink, existence_only, fill

_UNIT = regex(r"_*(?:test|check|criterion|verify|validate|assert|rule|case)_?\w+")


class Script(Flow):
    """A program that is followed from its first line, with what its functions return kept."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.returns: list[tuple[Func, Value, Place, int, tuple[Step, ...]]] = []

    def returned(self, value: Value, node: ast.Return, env: Env) -> None:
        func = self.frames[-1].func
        self.returns.append((func, value, self.place(node, env), self.why(), self.stack()))


def checks(entry: Entry, setup: Setup) -> tuple[list[Check], list[Event]]:
    """The checks of a program."""
    from scenlint.task.checks import judging, points

    if entry.kind in ("assertions", "judge"):
        flow = Script(setup)
        flow.cwd = entry.cwd
        part = judging.assertions if entry.kind == "assertions" else judging.judge
        return list(part(flow, entry)), flow.events
    flow = follow(entry, setup)
    return list(points.checks(flow) if entry.kind == "points" else _script(flow, entry)), flow.events


def follow(entry: Entry, setup: Setup) -> Script:
    """The program as it runs from its first line, followed once per way of running it."""

    def work() -> Script:
        flow = Script(setup)
        flow.cwd = entry.cwd
        flow.run(_main, flow, entry.module)
        return flow

    return entry.module.fragment.memo(("followed", entry.kind, entry.cwd), work)


def _main(flow: Flow, module: PyModule) -> None:
    flow.load(module, main=True)


# -- exit status and reward
def _script(flow: Script, entry: Entry) -> Iterator[Check]:
    sinks: dict[object, Sink] = {}
    for failure in flow.failures:
        if failure.kind == "implicit":
            continue
        if failure.kind == "exit" and (inner := _behind(flow, failure)):
            for value, place, why, stack in inner:
                _add(flow, sinks, place, why | value.all_why, value, stack, failure)
            continue
        value = failure.value or known(None)
        _add(flow, sinks, failure.place, failure.why, value, failure.stack, failure)
    for failure in flow.caught:  # an assertion whose failure a handler notes down
        if failure.kind in ("assert", "fail"):
            _add(flow, sinks, failure.place, failure.why, failure.value or known(None), failure.stack, failure)
    captured = entry.command is not None and (
        entry.command.in_substitution or bool(entry.command.redirects) or entry.command.pipeline is not None
    )
    for output in flow.outputs:
        if _is_verdict(flow, output, captured):
            why, value = output.why | output.value.all_why, output.value
            if value.open or any(HOLE in t for t in texts(value)):  # a figure worked out from the data judges them
                why |= flow.facts.add(Judged(output.place.span), basis=value.all_data)
            failure = Failure(output.place, "assert", "", why, value.all_data, value)
            _add(flow, sinks, output.place, why, value, output.stack, failure)
    for sink in sorted(_single(flow, list(sinks.values())), key=lambda s: (s.span.source.path, s.span.start)):
        check = Check(
            sink.label,
            sink.label,
            sink.span,
            sink.module.fragment,
            Dialect.COMMAND,
            node=sink.node,
            complete=flow.complete,
        )
        fill(check, flow.facts, sink.mask)
        check.existence_only = flow.complete and existence_only(flow.facts, sink.failures)
        yield check
    if not sinks:
        yield from _silent(flow, entry, captured)


def _single(flow: Script, sinks: list[Sink]) -> list[Sink]:
    """The sinks without the exit or reward that only sums up what assertions have decided one by one."""

    def compared(sink: Sink) -> int:
        return flow.facts.whole(sink.mask) & flow.facts.comparisons

    def sums_up(sink: Sink) -> bool:
        return all(f.kind == "exit" or not f.exception for f in sink.failures)

    apart = 0
    for sink in sinks:
        apart |= 0 if sums_up(sink) else compared(sink)
    return [s for s in sinks if not sums_up(s) or not compared(s) or compared(s) & ~apart]


def _silent(flow: Script, entry: Entry, captured: bool) -> Iterator[Check]:
    """A script without any statement that decides, although its exit status is the verdict."""
    command = entry.command
    asked = command is None or decides(command)
    if captured or not asked or not entry.module.tree.body:
        return
    first = entry.module.tree.body[-1]
    name = entry.module.fragment.path.name
    check = Check(name, name, entry.module.span(first), entry.module.fragment, Dialect.COMMAND, node=first)
    check.complete = flow.complete
    check.can_fail = bool(flow.failures) or not flow.complete
    fill(check, flow.facts, flow.facts.touched)
    check.existence_only = flow.complete and existence_only(flow.facts, flow.failures)
    if flow.complete and any(c.produced and not c.presence for c in check.comparisons):
        flow.note("idle", first, Env(entry.module))
    yield check


def _is_verdict(flow: Script, output: Output, captured: bool) -> bool:
    """Whether an output carries the verdict: a reward that is written, or what the caller reads from stdout."""
    value = output.value
    if not value.all_why | value.all_data | output.why:
        return False
    if output.kind == "write":
        return output.to is not None and any(flow.setup.hidden(t) for t in texts(output.to))
    if output.kind != "print" or not captured or output.to is not None:
        return False
    words = [
        o for o in value.options if isinstance(o, str) and not re.fullmatch(r"[\s\d.{}\":,\w]*", o.replace(HOLE, ""))
    ]
    return not words and bool(value.all_why | value.all_data)


def _behind(flow: Script, failure: Failure) -> list[tuple[Value, Place, int, tuple[Step, ...]]]:
    """The returns behind `sys.exit(main())` that can be other than success."""
    node = failure.place.node
    arguments = node.args if isinstance(node, ast.Call) else getattr(getattr(node, "exc", None), "args", [])
    if not arguments or not isinstance(arguments[0], ast.Call):
        return []
    found = [r for r in flow.returns if r[4] and r[4][0].call.node is arguments[0]]
    return [(value, place, why, stack) for _, value, place, why, stack in found if truth(value) is not False]


def _add(
    flow: Script,
    sinks: dict[object, Sink],
    place: Place,
    why: int,
    value: Value,
    stack: tuple[Step, ...],
    failure: Failure,
) -> None:
    label, span, module, node = _unit(place, stack)
    sink = sinks.setdefault(node, Sink(label, span, module, node))
    sink.mask |= why | value.all_why | value.all_data
    sink.failures.append(
        Failure(failure.place, failure.kind, failure.exception, why | value.all_why, value.all_data, value, stack)
    )


def _unit(place: Place, stack: tuple[Step, ...]) -> tuple[str, Span, PyModule, ast.AST]:
    """The function that reads as one check around a failure, or the failing statement itself."""
    for step in reversed(stack):
        function = step.function
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and _UNIT.fullmatch(function.name):
            call = step.call.node
            literal = next(
                (
                    a.value
                    for a in getattr(call, "args", [])
                    if isinstance(a, ast.Constant) and isinstance(a.value, str)
                ),
                "",
            )
            if literal and isinstance(call, ast.Call):
                return literal, step.call.span, step.call.module, call
            doc = step.module.docstring(function)
            return (doc[0] if doc else function.name), step.module.head(function), step.module, function
    for step in stack:
        call = step.call.node
        literals = [
            a.value for a in getattr(call, "args", []) if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        if literals and isinstance(call, ast.Call) and " " in literals[0]:
            return literals[0], step.call.span, step.call.module, call
    return _message(place), place.span, place.module, place.node


def _message(place: Place) -> str:
    """What a failing statement says: an assert's message, an exception's or exit's text, or the statement itself."""
    node = place.node
    found = (
        [n.value for n in walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if not isinstance(node, ast.Assert)
        else []
    )
    if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Constant):
        found = [str(node.msg.value)]
    text = max(found, key=len, default="")
    return text if " " in text else place.span.text.split("\n")[0]
