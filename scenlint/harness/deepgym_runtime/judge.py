"""Runs a verifier of any of the three shapes and sees to it that its end is one verdict, or none.

An uncaught exception overrides whatever was printed before it: until the solution was consulted it is the verifier's
own fault (exit 2, no verdict), afterwards a judged 0: a solution cannot dodge its score by breaking the verifier.
"""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import sys
import time
import traceback
from types import CodeType, FrameType, ModuleType
from typing import Any

from . import deepgym_solution
from .errors import LaunchError, SolutionError
from .process import SESSION

_TOLERANCE = 1e-6
_KEPT = ("details", "truncated", "reward_components", "metrics", "seed", "cases", "error_type")
_ARGUMENTS = ("solution_path", "test_cases_path")


class _OverrunError(BaseException):
    """The run's time is up."""


class _BadReturnError(Exception):
    """What `verify` returned is no verdict."""

    def __init__(self, error_type: str, text: str) -> None:
        super().__init__(text)
        self.error_type = error_type


def main() -> None:
    """argv: settings as JSON, the verifier, the solution[, test cases]."""
    settings = json.loads(sys.argv[1])
    paths = sys.argv[2:]
    SESSION.socket = settings["socket"]
    SESSION.case_timeout = settings["case_timeout"]
    SESSION.deadline = time.monotonic() + settings["timeout"]
    SESSION.solution_folder = os.path.dirname(os.path.abspath(paths[1]))
    sys.modules["deepgym_solution"] = deepgym_solution
    sys.path.insert(0, os.path.dirname(os.path.abspath(paths[0])))
    sys.dont_write_bytecode = True
    sys.argv = list(paths)
    signal.signal(signal.SIGALRM, _overrun)
    # Later than the last call's time is up: a verifier that keeps partial credit has a moment to report it.
    signal.setitimer(signal.ITIMER_REAL, settings["timeout"] + settings["grace"])
    try:
        with open(paths[0], "rb") as file:
            source = file.read()
        sys.addaudithook(_watch)
        verdict = _judge(source, paths, settings["mode"])
    except SystemExit:
        raise
    except BaseException as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        traceback.print_exc()
        _end(*_fault(error))
    else:
        if verdict is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            _end(verdict, 0 if verdict["passed"] else 1)


def _judge(source: bytes, paths: list[str], mode: str) -> dict[str, Any] | None:
    """The verdict as the protocol has it; None from a script, which prints its own."""
    shape = shape_of(source) if mode in ("", "auto") else mode
    if shape == "script":
        module = ModuleType("__main__")
        module.__file__ = paths[0]
        sys.modules["__main__"] = module
        exec(compile(source, paths[0], "exec", dont_inherit=True), vars(module))
        return None
    module = ModuleType("verifier")
    module.__file__ = paths[0]
    sys.modules["verifier"] = module
    exec(
        _body(source, paths[0]) if shape == "body" else compile(source, paths[0], "exec", dont_inherit=True),
        vars(module),
    )
    return _verdict(vars(module)["verify"](*paths[1:3]))


def shape_of(source: bytes) -> str:
    """ "script", "verify_function" or "body", by the syntax tree of the top level.

    `task.verdict_flow.judge` tells them apart in the same way; here, in the sandbox, nothing of scenlint is there.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return "body"
    if any(isinstance(node, ast.If) and _is_main_guard(node.test) for node in body):
        return "script"
    if any(isinstance(node, ast.Return) for node in body):
        return "body"
    if any(isinstance(node, ast.FunctionDef) and node.name == "verify" for node in body):
        return "verify_function"
    return "body"


def _is_main_guard(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = {ast.unparse(test.left), ast.unparse(test.comparators[0])}
    return sides == {"__name__", "'__main__'"}


def _body(source: bytes, path: str) -> CodeType:
    """The text as the body of `verify(solution_path, test_cases_path=None)`, `from __future__` before it."""
    tree = ast.parse(source, path)
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    rest = [n for n in tree.body if n not in future] or [ast.Pass()]
    arguments = ast.arguments([], [ast.arg(a) for a in _ARGUMENTS], None, [], [], None, [ast.Constant(None)])
    wrapper = ast.FunctionDef("verify", arguments, rest, [])
    module = ast.fix_missing_locations(ast.Module([*future, wrapper], []))
    return compile(module, path, "exec", dont_inherit=True)


# What is returned


def _verdict(value: Any) -> dict[str, Any]:
    if value is True or value is False:
        return _scored({"score": float(value), "passed": value})
    if isinstance(value, int | float):
        return _scored({"score": float(value), "passed": value >= 0.5})
    if isinstance(value, dict):
        told = {"score": value.get("score", 0.0), "passed": value.get("passed", False)}
        return _scored(told | {key: value[key] for key in _KEPT if value.get(key) is not None})
    raise _BadReturnError("runtime_error", f"`verify` returned a {type(value).__name__}: return a float, bool or dict")


def _scored(told: dict[str, Any]) -> dict[str, Any]:
    for key in ("passed", "truncated"):
        if not isinstance(told.get(key, False), bool):
            raise _BadReturnError("runtime_error", f"`{key}` is a {type(told[key]).__name__}, not a bool")
    score = told["score"]
    if not isinstance(score, int | float) or not math.isfinite(score):
        raise _BadReturnError("invalid_score", f"invalid score {score!r}")
    if not -_TOLERANCE <= score <= 1 + _TOLERANCE:
        raise _BadReturnError("invalid_score", f"score {score} is outside of [0, 1]")
    told["score"] = min(max(float(score), 0.0), 1.0)
    json.dumps(told)  # a value that is no JSON is the verifier's error, found here
    return told


def _fault(error: BaseException) -> tuple[dict[str, Any], int]:
    """The verdict of an uncaught exception, and the exit status."""
    if isinstance(error, LaunchError):
        kind, code = "sandbox_error", 2
    elif isinstance(error, SolutionError):
        kind, code = error.error_type, 1
    elif isinstance(error, _OverrunError):
        kind, code = ("solution_timeout", 1) if SESSION.consulted else ("timeout", 2)
    elif SESSION.consulted:
        kind, code = "solution_error", 1
    else:
        kind, code = getattr(error, "error_type", "runtime_error"), 2
    said = f"{type(error).__name__}: {error}"[:2000]
    return {"score": 0.0, "passed": False, "error_type": kind, "details": said}, code


def _end(verdict: dict[str, Any], code: int) -> None:
    """Print the verdict as the last line, past whatever the verifier did to sys.stdout, and end at once."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            continue
    line = json.dumps({"schema_version": "1.0", **verdict})
    data = f"\n{line}\n".encode("ascii")
    while data:
        data = data[os.write(1, data) :]
    os._exit(code)


# Guards


def _watch(event: str, args: tuple[Any, ...]) -> None:
    """The verifier itself opens, lists or starts something of the solution's: from then on it is judged."""
    if SESSION.consulted or event not in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.posix_spawn"):
        return
    for arg in args:
        named = arg if isinstance(arg, list | tuple) else [arg]
        for text in (os.fsdecode(n) for n in named if isinstance(n, str | bytes)):
            path = os.path.abspath(text)
            if path == SESSION.solution_folder or path.startswith(SESSION.solution_folder + "/"):
                SESSION.consulted = True


def _overrun(signum: int, frame: FrameType | None) -> None:
    raise _OverrunError("the run's time is up")
