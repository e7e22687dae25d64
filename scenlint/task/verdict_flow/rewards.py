"""What makes a verdict unreadable or senseless: texts, numbers and dicts that no harness takes for a score."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import HOLE, Map, Seq, constants
from scenlint.source.pyvalue import Value as PyValue
from scenlint.source.shell import Node
from scenlint.source.text import Span
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
                if output.kind == "write" and any(f.setting.is_verdict(path) for f in flows(task)):
                    found = _texts(output.value, output.place.span, path)
                    yield from ((_stated(program, text) or span, problem) for span, text, problem in found)


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
        for text in constants(PyValue((option,), False)):
            if isinstance(text, bytes) or HOLE in str(text):
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
    if not judge.program.complete:
        return
    prints = [o for o in judge.program.flow.outputs if o.kind != "exit" and stream(o) == "stdout"]
    spread: list[Problem] = []
    for output in prints:
        node = output.place.node
        if not isinstance(node, ast.Call):
            continue
        dump = _dump(judge, node)
        if dump is not None and any(k.arg == "indent" and not _is_none(k.value) for k in dump.keywords):
            spread.append((output.place.span, "the JSON goes over several lines, and the harness reads one"))
        elif dump is not None:
            return
        elif any(isinstance(option, Map) for option in output.value.options):
            spread.append((output.place.span, "a dict is printed as Python writes it, which is not JSON"))
        elif not all(isinstance(o, str) and not o.lstrip().startswith(("{", HOLE)) for o in output.value.options):
            return  # it may be the verdict
        elif output.value.open:
            return
    yield from spread


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
                for n in ast.walk(function or module.tree)
                if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == inner.id for t in n.targets)
            ]
            inner = assigned[-1] if assigned else inner
        for node in ast.walk(inner):
            if isinstance(node, ast.Call) and module.dotted(node.func) == "json.dumps":
                return node
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
