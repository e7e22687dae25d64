"""Checks stated as point lines: `[PASS] (2pt) label`, wherever and however they are printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scenlint.source.python import PyModule, walk
from scenlint.source.pyvalue import HOLE, texts
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.facts import Output, Place
from scenlint.task.checks.flow import Flow
from scenlint.task.checks.model import Check, Dialect
from scenlint.task.checks.sinks import Sink, fill

_POINT = regex(rf"\s*\[(PASS|FAIL|{HOLE})\]\s*\(([\d.]+|{HOLE})\s*pts?\)\s*(.*)", re.DOTALL)


def checks(flow: Flow) -> Iterator[Check]:
    """One check for every label that is printed with a verdict."""
    sinks: dict[str, Sink] = {}
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
            sink = sinks.setdefault(mark, Sink(label, span, module, node))
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
    caller = output.stack[0].call if output.stack else output.place
    place = caller if isinstance(caller.node, ast.Call) else output.place
    return place.span, place.module, place.node


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return any(n is inner for n in walk(outer))


def _flat(origin: object, depth: int = 6) -> Iterator[Place]:
    if isinstance(origin, Place):
        yield origin
    elif isinstance(origin, tuple) and depth:
        for part in origin:
            yield from _flat(part, depth - 1)
