"""Checks stated by a program of its own: point lines, an exit status, a reward that is written, a DeepGym judge."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from scenlint.source.python import Function, PyModule
from scenlint.source.pyvalue import HOLE, Map, PathText, Value, known, texts, truth
from scenlint.source.shell import Command, last_status
from scenlint.source.text import Span
from scenlint.task.checks.facts import Event, Failure, Judged, Output, Place, Source, Step
from scenlint.task.checks.files import SOLUTION
from scenlint.task.checks.flow import Flow
from scenlint.task.checks.model import Check, Dialect
from scenlint.task.checks.program import Setup
from scenlint.task.checks.runner import Entry
from scenlint.task.checks.scope import Env, Func
from scenlint.task.checks.tests import NEUTRAL, existence_only, fill

_POINT = re.compile(rf"\s*\[(PASS|FAIL|{HOLE})\]\s*\(([\d.]+|{HOLE})\s*pts?\)\s*(.*)", re.DOTALL)
_BODY = "<verifier>"
_UNIT = re.compile(r"_*(?:test|check|criterion|verify|validate|assert|rule|case)_?\w+")


@dataclass
class _Sink:
    """A place where the verdict is decided, before sinks of one check are put together."""

    label: str
    span: Span
    module: PyModule
    node: ast.AST | None
    mask: int = 0
    why: int = 0
    weight: float | None = None
    can_fail: bool = False
    can_pass: bool = False
    failures: list[Failure] = field(default_factory=list)


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
    if entry.kind in ("assertions", "judge"):
        flow = Script(setup)
        flow.cwd = entry.cwd
        part = _assertions if entry.kind == "assertions" else _judge
        return list(part(flow, entry)), flow.events
    flow = follow(entry, setup)
    return list((_points if entry.kind == "points" else _script)(flow, entry)), flow.events


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


# -- point lines
def _points(flow: Script, entry: Entry) -> Iterator[Check]:
    sinks: dict[str, _Sink] = {}
    for output in flow.outputs:
        if output.kind == "exit":
            continue
        for text in texts(output.value):
            found = _POINT.match(text)
            if found is None:
                continue
            verdict, points, rest = found[1], found[2], found[3]
            label = re.split(r"\s{2,}\(", rest.strip(), maxsplit=1)[0].replace(HOLE, "*").strip()
            span, module, node = _site(output, rest)
            mark = label if label.strip("* ") else f"{span.start}"
            sink = sinks.setdefault(mark, _Sink(label, span, module, node))
            sink.mask |= output.why | output.value.all_why | output.value.all_data
            sink.why |= output.why | output.value.all_why
            sink.can_fail |= verdict != "PASS"
            sink.can_pass |= verdict != "FAIL"
            if points != HOLE:
                sink.weight = float(points)
    for n, sink in enumerate(sinks.values(), 1):
        check = Check(
            sink.label or f"check {n}", sink.label, sink.span, sink.module.fragment, Dialect.POINTS, sink.weight,
            node=sink.node, can_fail=sink.can_fail or not flow.complete, complete=flow.complete,
        )  # fmt: skip
        fill(check, flow.facts, sink.mask)
        facts = flow.facts
        check.existence_only = (
            flow.complete and sink.can_fail and not sink.why & facts.content and bool(sink.why & facts.presence)
        )
        yield check


def _site(output: Output, rest: str) -> tuple[Span, PyModule, ast.AST]:
    """Where a printed check is stated: the call or table row that its label's literal stands in."""
    origins = [p for p in _flat(output.value.origin) if isinstance(p.node, ast.Constant | ast.JoinedStr)]
    best: Place | None = None
    length = 0
    for place in origins:
        text = place.node.value if isinstance(place.node, ast.Constant) else ""
        if isinstance(text, str) and len(text) > max(length, 2) and text.strip() in rest:
            best, length = place, len(text)
    if best is None:
        return _calling(output)
    for step in output.stack:
        if (
            step.call.module is best.module
            and _holds(step.call.node, best.node)
            and isinstance(step.call.node, ast.Call)
        ):
            return step.call.span, step.call.module, step.call.node
    up = best.module.parent(best.node)
    while up is not None and not isinstance(up, ast.Tuple | ast.List | ast.Dict | ast.Call):
        up = best.module.parent(up)
    node = up or best.node
    if _holds(output.place.node, node):
        node = output.place.node
    return best.module.span(node), best.module, node


def _calling(output: Output) -> tuple[Span, PyModule, ast.AST]:
    if output.stack and isinstance(output.stack[0].call.node, ast.Call):
        place = output.stack[0].call
    else:
        place = output.place
    return place.span, place.module, place.node


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return any(n is inner for n in ast.walk(outer))


def _flat(origin: object, depth: int = 6) -> Iterator[Place]:
    if isinstance(origin, Place):
        yield origin
    elif isinstance(origin, tuple) and depth:
        for part in origin:
            yield from _flat(part, depth - 1)


# -- expressions that all have to hold
_CONTEXT = (
    "output",
    "outcome",
    "transcript",
    "tool_calls",
    "tool_events",
    "events",
    "errors",
    "duration_ms",
    "command_invocations",
)


def _assertions(flow: Script, entry: Entry) -> Iterator[Check]:
    """A `code` grader's assertions: one expression a line, over what the agent said and did."""
    env = flow.modules[entry.module] = Env(entry.module)
    for name in _CONTEXT:
        bit = flow.facts.add(Source("context", name, entry.module.fragment.span(0, 0)), produced=True)
        env.names[name] = Value((), True, bit, 0, "text" if name == "output" else "json")
    for statement in entry.module.tree.body:
        if not isinstance(statement, ast.Expr):
            continue
        flow.facts.touched = 0
        value = flow.decide(flow.eval(statement.value, env), statement.value, env)
        span = entry.module.span(statement)
        check = Check(span.text, span.text, span, entry.module.fragment, Dialect.GRADER, node=statement)
        check.can_fail = truth(value) is not True
        fill(check, flow.facts, flow.facts.touched | value.all_data)
        check.existence_only = not value.all_why & flow.facts.content and bool(value.all_why & flow.facts.presence)
        yield check


# -- exit status and reward
def _script(flow: Script, entry: Entry) -> Iterator[Check]:
    sinks: dict[object, _Sink] = {}
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
    for sink in _single(flow, list(sinks.values())):
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


def _single(flow: Script, sinks: list[_Sink]) -> list[_Sink]:
    """The sinks without the exit or reward that only sums up what assertions have decided one by one."""

    def compared(sink: _Sink) -> int:
        return flow.facts.whole(sink.mask) & flow.facts.comparisons

    def sums_up(sink: _Sink) -> bool:
        return all(f.kind == "exit" or not f.exception for f in sink.failures)

    apart = 0
    for sink in sinks:
        apart |= 0 if sums_up(sink) else compared(sink)
    return [s for s in sinks if not sums_up(s) or not compared(s) or compared(s) & ~apart]


def _silent(flow: Script, entry: Entry, captured: bool) -> Iterator[Check]:
    """A script without any statement that decides, although its exit status is the verdict."""
    command = entry.command
    asked = command is None or command.in_condition or bool(command.followed_by) or _asked_later(command)
    if captured or not asked or not entry.module.tree.body:
        return
    first = entry.module.tree.body[-1]
    name = entry.module.fragment.path.name
    check = Check(name, name, entry.module.span(first), entry.module.fragment, Dialect.COMMAND, node=first)
    check.complete = flow.complete
    check.can_fail = bool(flow.failures) or not flow.complete
    fill(check, flow.facts, flow.facts.touched)
    check.existence_only = flow.complete and existence_only(flow.facts, flow.failures)
    yield check


def _asked_later(command: Command) -> bool:
    """Whether the script looks at the command's exit status afterwards, or ends with it."""
    script = command.script
    if any(command is c for c in last_status(script.root)):
        return True
    return any(
        "?" in word.variables and command in script.status_of(other)
        for other in script.commands
        for word in (*other.argv, *(a.value for a in other.assignments if a.value is not None))
    )


def _is_verdict(flow: Script, output: Output, captured: bool) -> bool:
    """Whether an output carries the verdict: a reward that is written, or what a script prints for its caller to read."""
    value = output.value
    if not (value.all_why | value.all_data | output.why) & ~0:
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
    sinks: dict[object, _Sink],
    place: Place,
    why: int,
    value: Value,
    stack: tuple[Step, ...],
    failure: Failure,
) -> None:
    label, span, module, node = _unit(place, stack)
    sink = sinks.setdefault(node, _Sink(label, span, module, node))
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
        [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if not isinstance(node, ast.Assert)
        else []
    )
    if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Constant):
        found = [str(node.msg.value)]
    text = max(found, key=len, default="")
    return text if " " in text else place.span.text.split("\n")[0]


# -- DeepGym
def _judge(flow: Script, entry: Entry) -> Iterator[Check]:
    module = entry.module
    verify = module.functions.get("verify")
    flow.run(_run_judge, flow, entry, verify)
    facts = flow.facts
    mask = facts.touched
    values = [(value, why) for func, value, _, why, _ in flow.returns if func.node.name in ("verify", _BODY)]  # type: ignore[union-attr]
    why = 0
    for value, test in values:
        why |= test | value.all_why
        for option in value.options:
            if isinstance(option, Map):
                for name in ("score", "passed"):
                    why |= option.items[name].all_why if name in option.items else 0
    blind = any(f.exception not in NEUTRAL for f in flow.failures if f.kind == "implicit")
    shallow = flow.complete and not blind and not why & facts.content and bool(why & facts.presence)
    found = list(_cases(flow, shallow))
    if found:
        yield from found
        return
    doc = module.docstring(verify) if verify else module.docstring(module.tree)
    span = module.head(verify) if verify else module.fragment.span(0, 0)
    label = doc[0] if doc else "verify"
    check = Check("verify", label, span, module.fragment, Dialect.CASE, node=verify, complete=flow.complete)
    fill(check, facts, mask)
    check.existence_only = bool(values) and shallow
    yield check


def _run_judge(flow: Script, entry: Entry, verify: Function | None) -> None:
    """Run a judge in the shape it has: a function, the body of one, or a script."""
    module = entry.module
    bit = flow.facts.add(Source("solution", "", module.fragment.span(0, 0)), produced=True)
    solution = Value((PathText(SOLUTION),), False, bit)
    if entry.grader.kind == "script":
        flow.setup = replace(flow.setup, arguments=(solution,))
        flow.load(module, main=True)
    elif verify is not None and entry.grader.kind != "body":
        env = flow.load(module)
        flow.facts.touched = 0
        flow.enter(Func(verify, env), [solution], {}, verify, env)
    else:
        env = flow.modules[module] = Env(module, {"solution_path": solution, "__file__": known(flow.setup.home(module))})
        arguments = ast.arguments([], [], None, [], [], None, [])
        body = ast.FunctionDef(_BODY, arguments, module.tree.body or [ast.Pass()], [], None, None, lineno=1, col_offset=0)
        flow.enter(Func(body, env), [], {}, module.tree, env)


def _cases(flow: Script, shallow: bool) -> Iterator[Check]:
    """One check for every case that the judge reports by a name of its own."""
    sinks: dict[str, _Sink] = {}
    for name, passed, place, why in flow.cases:
        for text in texts(name):
            label = text.replace(HOLE, "*")
            sink = sinks.setdefault(label, _Sink(label, place.span, place.module, place.node))
            mask = why | passed.all_why
            sink.mask |= mask | passed.all_data
            sink.why |= mask
            sink.can_fail |= truth(passed) is not True
    for sink in sinks.values():
        check = Check(sink.label, sink.label, sink.span, sink.module.fragment, Dialect.CASE, node=sink.node)
        check.complete, check.can_fail = flow.complete, sink.can_fail
        fill(check, flow.facts, sink.mask)
        alone = not sink.why & flow.facts.content and bool(sink.why & flow.facts.presence)
        check.existence_only = flow.complete and shallow and alone
        yield check
