"""The solution's side: loads or runs the solution in its sandbox and answers one judge over its standard input."""

from __future__ import annotations

import base64
import builtins
import importlib.machinery
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from . import folders, wire

_PLACE = "/tmp/solution"
_OUTPUT = 64 * 1024 * 1024  # bytes of each output stream of a run


def main() -> None:
    judge = socket.socket(fileno=os.dup(0))
    judge.set_inheritable(False)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    wire.send(judge, {"ready": True})
    first = wire.receive(judge)
    if first["op"] == "run":
        wire.send(judge, _run(first, judge))
        return
    _Server(judge).serve(first)


class _Server:
    """Answers requests about one loaded solution. Objects that cannot cross stay here, under a number."""

    def __init__(self, judge: socket.socket) -> None:
        self.judge = judge
        self.exports: dict[str, Any] = {}
        self.objects: list[Any] = []

    def serve(self, message: dict[str, Any]) -> None:
        while True:
            try:
                answer = self.answer(message)
            except wire.GarbageError as exc:
                answer = {"raised": {"name": "ValueError", "base": "ValueError", "text": str(exc)}}
            except BaseException as exc:  # SystemExit and KeyboardInterrupt too: the judge shall hear of it
                answer = {"raised": described(exc)}
            try:
                wire.send(self.judge, answer)
            except wire.GarbageError as exc:
                wire.send(self.judge, {"raised": {"name": "ValueError", "base": "ValueError", "text": str(exc)}})
            message = wire.receive(self.judge)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["op"] == "load":
            self.exports = _load(message)
            return {"exports": {name: _kind(value) for name, value in self.exports.items()}}
        args = [wire.decode(arg, self.object) for arg in message["args"]]
        target = self.object({"h": message["ref"]})
        if message["what"] == "next":
            try:
                return {"value": wire.encode(next(target), self.kept)}
            except StopIteration:
                return {"stop": True}
        return {"value": wire.encode(_DO[message["what"]](target, *args), self.kept)}

    def object(self, data: Mapping[str, Any]) -> Any:
        ref = data["h"]
        return self.exports[ref["name"]] if isinstance(ref, dict) else self.objects[ref]

    def kept(self, value: Any) -> dict[str, Any]:
        self.objects.append(value)
        return {"h": len(self.objects) - 1, "n": type(value).__name__}


def _call(target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return target(*args, **kwargs)


def _attribute(target: Any, name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(target, name)


_DO: dict[str, Callable[..., Any]] = {
    "value": lambda target: target,
    "get": _attribute,
    "call": _call,
    "len": len,
    "bool": bool,
    "iter": iter,
    "getitem": lambda target, key: target[key],
    "setitem": lambda target, key, value: target.__setitem__(key, value),
    "delitem": lambda target, key: target.__delitem__(key),
    "contains": lambda target, key: key in target,
}


def _kind(value: Any) -> str:
    return "callable" if callable(value) else "value"


def described(error: BaseException) -> dict[str, str]:
    """An exception as plain text: its name, the builtin it derives from, what it says."""
    base = next(c.__name__ for c in type(error).__mro__ if getattr(builtins, c.__name__, None) is c)
    try:
        text = str(error)
    except Exception:
        text = ""
    return {"name": type(error).__name__, "base": base, "text": text}


def _written(message: Mapping[str, Any], root: str) -> str:
    """Lay down the files of a message; the path of the entry."""
    for name, content in message["files"].items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(wire.decode(content, dict))
    return os.path.join(root, message["entry"])


def _load(message: Mapping[str, Any]) -> dict[str, Any]:
    entry = _written(message, _PLACE)
    os.chdir(_PLACE)
    sys.path.insert(0, _PLACE)
    sys.dont_write_bytecode = True
    sys.argv = [entry]
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
    name = os.path.splitext(os.path.basename(entry))[0]
    loader = importlib.machinery.SourceFileLoader(name, entry)
    module = ModuleType(name)
    module.__file__, module.__loader__ = entry, loader
    sys.modules[name] = module
    loader.exec_module(module)
    return {key: value for key, value in vars(module).items() if not key.startswith("_")}


# A run as a script


def _run(message: Mapping[str, Any], judge: socket.socket) -> dict[str, Any]:
    cwd = message["cwd"]
    os.makedirs(cwd, exist_ok=True)
    if message["tree"] is not None:
        folders.unpack(message["tree"], cwd)
    script = message["script"] if message["script"] is not None else _written(message, _PLACE)
    _loopback(message["port"], judge)
    given, limit = message["input"], message["timeout"]
    out, err = (os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600) for _ in range(2))
    stdin = os.open(os.devnull, os.O_RDONLY)
    if given is not None:
        stdin = os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)
        with os.fdopen(os.dup(stdin), "wb") as file:
            file.write(base64.b64decode(given))
        os.lseek(stdin, 0, os.SEEK_SET)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_OUTPUT, _OUTPUT))
    process = subprocess.Popen(
        [sys.executable, "-B", script, *message["args"]],
        cwd=cwd,
        env=message["env"],
        stdin=stdin,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )
    late = False
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        late = True
    # Whatever it started must not change the files while they are packed.
    with suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)
    answer: dict[str, Any] = {
        "late": late,
        "code": None if late else process.wait(),
        "out": _text(out),
        "err": _text(err),
    }
    if message["tree"] is not None:
        try:
            answer["tree"] = folders.pack(cwd)
        except wire.GarbageError as exc:
            return {"raised": {"name": "ValueError", "base": "ValueError", "text": f"it left {exc}"}}
    return answer


def _text(fd: int) -> str:
    os.lseek(fd, 0, os.SEEK_SET)
    with os.fdopen(fd, "rb") as file:
        return base64.b64encode(file.read(_OUTPUT // 4)).decode("ascii")


def _loopback(port: int | None, judge: socket.socket) -> None:
    """Hand the judge a listener on this sandbox's own 127.0.0.1:port, for it to connect with its own."""
    if port is not None:
        listener = socket.create_server(("127.0.0.1", port))
        socket.send_fds(judge, [b"L"], [listener.fileno()])
        listener.close()
