"""What makes a verdict unreadable or senseless: texts, numbers and dicts that no harness takes for a score."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenlint.source.python import walk
from scenlint.source.pyvalue import HOLE, Map, Ref, Seq, constants
from scenlint.source.pyvalue import Value as PyValue
from scenlint.source.shell import Node
from scenlint.source.text import Span
from scenlint.task.checks.facts import Output
from scenlint.task.verdict_flow.judge import SCRIPT, Judge, judges
from scenlint.task.verdict_flow.numbers import json_problem, number_problem, text_problem
from scenlint.task.verdict_flow.points import points
from scenlint.task.verdict_flow.points import score_problems as point_problems
from scenlint.task.verdict_flow.programs import Program, programs, stream
from scenlint.task.verdict_flow.shell import flows

if TYPE_CHECKING:
    from scenlint.task.model import Task

Problem = tuple[Span, str]


def reward_problems(task: Task) -> Iterator[Problem]:
    """Reward files whose content is no reward, where a shell script or a Python program writes it."""
    known = list(programs(task))
    by_command = {id(p.entry.command): p for p in known if p.entry.command is not None}
    for flow in flows(task):
        if not flow.complete or not flow.setting.verdicts:
            continue
        for end in flow.ends:
            for path in flow.setting.verdicts:
                value = end.files.get(path)
                if value is None:
                    continue
                if value.text is not None and isinstance(value.source, Node):
                    problem = json_problem(value.text) if path.endswith(".json") else text_problem(value.text)
                    if problem is not None and value.text.strip():
                        yield value.source.span, problem
                elif value.maker is not None and (program := by_command.get(id(value.maker))):
                    yield from _printed(program, path)
    for program in known:
        for output in program.flow.outputs:
            for path in program.paths(output):
                if output.kind != "exit" and any(f.setting.is_verdict(path) for f in flows(task)):
                    found = _texts(output.value, output.place.span, path)
                    yield from ((_stated(program, text) or span, problem) for span, text, problem in found)
                    yield from ((output.place.span, problem) for problem in _not_finite(program, output))
                    if path.endswith(".json"):
                        yield from ((output.place.span, problem) for problem in _dumped(program, output))


def _printed(program: Program, path: str) -> Iterator[Problem]:
    """What a program prints where its output is the verdict; one that prints in several places is not judged."""
    prints = program.prints
    if len({o.place.node for o in prints}) == 1:
        for output in prints:
            yield from (
                (_stated(program, text) or span, p) for span, text, p in _texts(output.value, output.place.span, path)
            )


def _texts(value: PyValue, span: Span, path: str) -> Iterator[tuple[Span, object, str]]:
    """The contents that a value may be and that are no reward, each with what is wrong."""
    for option in value.options:
        if isinstance(option, Map):
            yield from ((span, None, problem) for problem in _members(option))
            continue
        if isinstance(option, Ref) and _is_nan(option):
            yield span, None, f"{option.name} is not a finite number"
        partly = isinstance(option, str) and HOLE in option and not path.endswith(".json")
        if partly and re.search(r"[^\d.eE+\s-]", option.replace(HOLE, "")):
            yield span, None, f"`{option.strip().replace(HOLE, '…')}` is not a number"
        for text in constants(PyValue((option,), False)):
            if isinstance(text, bytes) or (isinstance(text, str) and HOLE in text):
                continue
            problem = json_problem(str(text)) if path.endswith(".json") else text_problem(str(text))
            if problem is not None:
                yield span, text, problem


def _stated(program: Program, text: object) -> Span | None:
    """The `return` that such a value comes from."""
    for _, value, place, _, _ in reversed(program.flow.returns):
        if text is not None and any(str(c) == str(text).strip() for c in constants(value)):
            return place.span
    return None


def _dumped(program: Program, output: Output) -> Iterator[str]:
    """What is wrong with an object that is turned into JSON where it is written."""
    module = output.place.module
    for call in walk(output.place.node):
        if not isinstance(call, ast.Call) or module.dotted(call.func) != "json.dumps" or not call.args:
            continue
        value = call.args[0]
        if isinstance(value, ast.Dict):
            for key, member in zip(value.keys, value.values, strict=True):
                name = str(key.value) if isinstance(key, ast.Constant) else "…"
                for number in _possible(program, member):
                    problem = number_problem(number)
                    if problem is not None and (name == "reward" or "outside" not in problem):
                        yield f"`{name}`: {problem}"
        elif isinstance(value, ast.List | ast.Tuple) or _possible(program, value):
            yield "it is not a JSON object"


def _not_finite(program: Program, output: Output) -> Iterator[str]:
    """A number that is none among what goes into a text: `str(score)` where the score can be NaN."""
    module = output.place.module
    scope = module.function_of(output.place.node) or module.tree
    names = {n.id for n in walk(output.place.node) if isinstance(n, ast.Name)}
    for node in walk(scope):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in names for t in node.targets):
            for choice in _choices(node.value):
                value = program.flow.values.get(choice)
                for option in value.options if value is not None else ():
                    if isinstance(option, float) and not math.isfinite(option):
                        yield f"{option} is not a finite number"
                if isinstance(choice, ast.Attribute) and _is_nan(Ref(module.dotted(choice))):
                    yield f"{module.dotted(choice)} is not a finite number"


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions one of which gives the value: the branches of a conditional expression."""
    if isinstance(node, ast.IfExp):
        yield from _choices(node.body)
        yield from _choices(node.orelse)
    else:
        yield node


def _is_nan(option: Ref) -> bool:
    return option.name.split(".")[-1].lower() in ("nan", "inf", "infty")


def _possible(program: Program, node: ast.expr) -> list[object]:
    """The constants that an expression can be."""
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return _possible(program, node.body) + _possible(program, node.orelse)
    value = program.flow.values.get(node)
    return [c for c in constants(value) if not isinstance(c, dict)] if value is not None and not value.open else []


def _members(reward: Map) -> Iterator[str]:
    for key, value in reward.items.items():
        for member in constants(value):
            problem = number_problem(member)
            if problem is not None and (key == "reward" or "outside" not in problem):
                yield f"`{key}`: {problem}"


def score_problems(task: Task) -> Iterator[Problem]:
    """SCORE lines that give a score outright which is none."""
    for found in points(task):
        yield from ((line.output.place.span, problem) for line, problem in point_problems(found))


# -- DeepGym


def judge_problems(task: Task) -> Iterator[Problem]:
    """Verdicts of a DeepGym judge that the harness refuses or reads otherwise than they are meant."""
    for judge in judges(task):
        if judge.shape == SCRIPT:
            yield from _script(judge)
            continue
        for value, place in judge.results:
            for problem in _result(value):
                yield place.span, problem
        if judge.falls and judge.results and judge.verify is not None:
            yield judge.module.head(judge.verify), "it can end without a `return`, and None is no verdict"


def _result(value: PyValue) -> Iterator[str]:
    for option in value.options:
        if isinstance(option, Map):
            yield from _verdict(option)
        elif isinstance(option, Seq | str | bytes) or option is None:
            kind = option.kind if isinstance(option, Seq) else type(option).__name__
            yield f"a value of type `{kind}` is no verdict" if option is not None else "None is no verdict"
        elif isinstance(option, int | float) and (problem := number_problem(option)):
            yield f"the score {problem}"


def _verdict(verdict: Map) -> Iterator[str]:
    """What is wrong with a dict: `score` counts 0 and `passed` False where they are missing."""
    if verdict.more:
        return
    for name in ("score", "passed"):
        if name not in verdict.items:
            yield f"a dict without `{name}` " + ("never passes" if name == "passed" else "scores 0")
    for score in constants(verdict.items["score"]) if "score" in verdict.items else []:
        if problem := number_problem(score):
            yield f"the score {problem}"
    for name in ("passed", "truncated"):
        value = verdict.items.get(name)
        if value is not None and value.options and not value.open:
            scalars = constants(value)
            if len(scalars) == len(value.options) and not any(isinstance(s, bool) for s in scalars):
                yield f"`{name}` is {scalars[0]!r}, not a bool"


def _script(judge: Judge) -> Iterator[Problem]:
    """A script's verdict is the last line of stdout that is a JSON object as a whole."""
    prints = [o for o in judge.program.flow.outputs if o.kind != "exit" and stream(o) != "stderr"]
    if not judge.program.complete or any(stream(o) != "stdout" for o in prints):
        return
    found = [(output.place.span, _printed_verdict(judge, output)) for output in prints]
    if any(problem is None for _, problem in found):
        return
    shaped = [(span, problem) for span, problem in found if problem and problem is not _NO_OBJECT]
    for span, problem in shaped or found[-1:]:
        if problem:
            yield span, problem


_NO_OBJECT = "no line that is printed is a JSON object"


def _printed_verdict(judge: Judge, output: Output) -> str | None:
    """Why a printed text is no verdict; None where it can be one."""
    node = output.place.node
    dump = _dump(judge, node) if isinstance(node, ast.Call) else None
    if dump is not None and any(k.arg == "indent" and not _is_none(k.value) for k in dump.keywords):
        return "the JSON goes over several lines, and the harness reads one"
    texts = [o for o in output.value.options if isinstance(o, str)]
    if any(isinstance(option, Map) for option in output.value.options) and dump is None:
        return "a dict is printed as Python writes it, which is not JSON"
    known = not output.value.open and len(texts) == len(output.value.options)
    numbers = not output.value.open and all(isinstance(o, int | float) for o in output.value.options)
    if numbers or (known and not any(line.startswith(("{", HOLE)) for t in texts for line in t.split("\n"))):
        return _NO_OBJECT
    return None


def _dump(judge: Judge, call: ast.Call) -> ast.Call | None:
    """The call of json.dump or json.dumps behind a printing call."""
    module = judge.module
    if module.dotted(call.func) == "json.dump":
        return call
    for argument in call.args[:1]:
        inner: ast.expr = argument
        if isinstance(inner, ast.Name):
            function = module.function_of(call)
            assigned = [
                n.value
                for n in walk(function or module.tree)
                if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == inner.id for t in n.targets)
            ]
            inner = assigned[-1] if assigned else inner
        for node in walk(inner):
            if isinstance(node, ast.Call) and module.dotted(node.func) == "json.dumps":
                return node
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
