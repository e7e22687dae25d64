"""Requests by which an agent changes an app, as they pass through its sandbox's ports: told apart, kept, one changed.

Only HTTP/1.1 with a body of known length is read. Whatever else passes, passes as it is.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from scenlint.harness.forward import Server, pump

WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
KEPT = 2000  # requests
_HEAD = 64 * 1024  # bytes
_BODY = 4 * 1024 * 1024
_ANSWER = 16 * 1024
_NOTHING = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
_LINE = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1")
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d+)[ \t]*\r?$")
_KIND = re.compile(rb"(?im)^content-type:[ \t]*([^\r\n]*)")
_OTHERWISE = re.compile(rb"(?im)^(?:transfer-encoding|upgrade|expect):")


@dataclass(frozen=True)
class Request:
    """One request that changes something: its method, its path, the fields of its body, and what it was answered."""

    method: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()  # (name, dotted where they lie within each other; value as text)
    answer: list[str] = field(default_factory=list, compare=False, repr=False)  # in parts, as Latin-1

    @property
    def place(self) -> str:
        """Its path without numbers, which are other ones in every trial, and without its query."""
        return re.sub(r"\d+", "N", self.path.partition("?")[0])


@dataclass(frozen=True)
class Tampering:
    """What is done to the first request of this method and place in which a field has this value (no name: any)."""

    how: str  # "drop", "twice" or "change"
    method: str
    place: str
    name: str
    old: str
    new: str = ""
    answer: str = field(default="", repr=False)  # what is said instead of the app, as Latin-1

    def meets(self, request: Request) -> bool:
        same = (request.method, request.place) == (self.method, self.place)
        return same and (not self.name or (self.name, self.old) in request.fields)


class Watch:
    """Sees all requests of one sandbox, keeps those that change something, and tampers with one."""

    def __init__(self, tampering: Tampering | None = None) -> None:
        self.tampering, self.done = tampering, False
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def join(self, server: Server, caller: socket.socket, connect: Callable[[], socket.socket]) -> None:
        """Serve one connection of the agent's to an app."""
        with connect() as called, server.cuts(called) as there:
            if not there:
                return
            asked: list[Request] = []  # on this connection, one after the other
            back = threading.Thread(target=pump, args=(called, caller, lambda data: _hear(asked, data)), daemon=True)
            back.start()
            with suppress(OSError):
                for part in self._parts(caller, connect, asked):
                    if isinstance(part, bytes):
                        called.sendall(part)
                    else:
                        caller.sendall(part.answer)
            pump(caller, called)
            back.join()

    def _parts(
        self, caller: socket.socket, connect: Callable[[], socket.socket], asked: list[Request]
    ) -> Iterator[bytes | _Answer]:
        """What is passed on, request by request; once something is not understood, all that was read of it."""
        have = bytearray()
        while True:
            while b"\r\n\r\n" not in have:
                data = caller.recv(1 << 16)
                have += data
                if not data or len(have) > _HEAD:
                    yield bytes(have)
                    return
            head, _, rest = bytes(have).partition(b"\r\n\r\n")
            line, length = _LINE.match(head), _LENGTH.search(head)
            size = int(length[1]) if length else 0
            if line is None or _OTHERWISE.search(head) or size > _BODY:
                yield bytes(have)
                return
            while len(rest) < size:
                data = caller.recv(1 << 16)
                if not data:
                    yield head + b"\r\n\r\n" + rest
                    return
                rest += data
            body, have = rest[:size], bytearray(rest[size:])
            yield self._passed(line, head, body, connect, asked)

    def _passed(
        self,
        line: re.Match[bytes],
        head: bytes,
        body: bytes,
        connect: Callable[[], socket.socket],
        asked: list[Request],
    ) -> bytes | _Answer:
        whole = head + b"\r\n\r\n" + body
        method, path = line[1].decode(), line[2].decode("latin-1")
        if method not in WRITING:
            asked.append(Request(method, path))  # its answer is not the one before it's
            return whole
        kind = (_KIND.search(head) or [b"", b""])[1].decode("latin-1").lower()
        request = Request(method, path, tuple(fields(kind, body)))
        asked.append(request)
        with self._lock:
            if len(self.requests) < KEPT:
                self.requests.append(request)
            wanted = self.tampering
            if wanted is None or self.done or not wanted.meets(request):
                return whole
            self.done = True
        if wanted.how == "drop":
            return _Answer(wanted.answer.encode("latin-1") or _NOTHING)
        if wanted.how == "twice":
            _send(whole, connect)
            return whole
        new = changed(kind, body, wanted.name, wanted.old, wanted.new)
        return _LENGTH.sub(b"Content-Length: %d\r" % len(new), head + b"\r\n") + b"\r\n" + new


@dataclass(frozen=True)
class _Answer:
    answer: bytes = field(repr=False)


def _hear(asked: list[Request], data: bytes) -> None:
    """Keep an answer with the request that came last on its connection."""
    if asked and asked[-1].method in WRITING and sum(map(len, asked[-1].answer)) <= _ANSWER:
        asked[-1].answer.append(data.decode("latin-1"))


def _send(whole: bytes, connect: Callable[[], socket.socket]) -> None:
    """The request on a connection of its own, whose answer nobody reads."""
    with suppress(OSError), connect() as other:
        head, _, body = whole.partition(b"\r\n\r\n")
        head = re.sub(rb"(?im)^connection:[^\r\n]*\r\n", b"", head + b"\r\n") + b"Connection: close\r\n\r\n"
        other.sendall(head + body)
        other.settimeout(30)
        while other.recv(1 << 16):
            pass


# Bodies


def fields(kind: str, body: bytes) -> list[tuple[str, str]]:
    """The fields of a body in JSON or of a form, as far as they are text, numbers or yes and no."""
    if "json" in kind:
        with suppress(ValueError, RecursionError):
            return list(_leaves(json.loads(body)))
    elif "x-www-form-urlencoded" in kind:
        with suppress(ValueError):
            return parse_qsl(body.decode(), keep_blank_values=True)
    return []


def changed(kind: str, body: bytes, name: str, old: str, new: str) -> bytes:
    """The body with another value in a field; numbers stay numbers."""
    if "json" in kind:
        document = json.loads(body)
        return json.dumps(_replaced(document, "", name, old, new)).encode()
    pairs = parse_qsl(body.decode(), keep_blank_values=True)
    return urlencode([(k, new if (k, v) == (name, old) else v) for k, v in pairs]).encode()


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{name}[{number}]")
    elif value is not None:
        yield name, _text(value)


def _replaced(value: Any, at: str, name: str, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {k: _replaced(v, f"{at}.{k}" if at else str(k), name, old, new) for k, v in value.items()}
    if isinstance(value, list):
        return [_replaced(v, f"{at}[{n}]", name, old, new) for n, v in enumerate(value)]
    if value is None or at != name or _text(value) != old:
        return value
    if isinstance(value, str):
        return new
    with suppress(ValueError):
        return json.loads(new)
    return new


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
