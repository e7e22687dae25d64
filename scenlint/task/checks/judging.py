"""Checks of a DeepGym judge, and of graders whose assertions are expressions that all have to hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from scenlint.source.python import Function
from scenlint.source.pyvalue import HOLE, Map, PathText, Value, known, texts, truth
from scenlint.task.checks.facts import Source
from scenlint.task.checks.library.files import SOLUTION
from scenlint.task.checks.model import Check, Dialect
from scenlint.task.checks.runner import Entry
from scenlint.task.checks.scope import Env, Func
from scenlint.task.checks.scripts import Script
from scenlint.task.checks.sinks import NEUTRAL, Sink, fill

_BODY = "<verifier>"
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


def assertions(flow: Script, entry: Entry) -> Iterator[Check]:
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


def judge(flow: Script, entry: Entry) -> Iterator[Check]:
    """The cases that a judge reports, or the judge as a whole."""
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
        env = flow.modules[module] = Env(
            module, {"solution_path": solution, "__file__": known(flow.setup.home(module))}
        )
        arguments = ast.arguments([], [], None, [], [], None, [])
        body = ast.FunctionDef(
            _BODY, arguments, module.tree.body or [ast.Pass()], [], None, None, lineno=1, col_offset=0
        )
        flow.enter(Func(body, env), [], {}, module.tree, env)


def _cases(flow: Script, shallow: bool) -> Iterator[Check]:
    """One check for every case that the judge reports by a name of its own."""
    sinks: dict[str, Sink] = {}
    for name, passed, place, why in flow.cases:
        for text in texts(name):
            label = text.replace(HOLE, "*")
            sink = sinks.setdefault(label, Sink(label, place.span, place.module, place.node))
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
