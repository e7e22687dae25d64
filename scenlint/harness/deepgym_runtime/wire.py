"""Messages between judge and solution: JSON with a length before it, and plain data in JSON without loss."""

from __future__ import annotations

import base64
import json
import math
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

LIMIT = 64 * 1024 * 1024  # bytes of one message
DEPTH = 100  # levels of nesting
_NODES = 4_000_000  # values in one message
_EXACT = 1 << 62  # larger integers go as hexadecimal text: their decimal text may be refused


class ClosedError(Exception):
    """The other side has gone."""


class GarbageError(Exception):
    """What came is no message, or holds more than plain data."""


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode("ascii")
    if len(data) > LIMIT:
        raise GarbageError(f"more than {LIMIT // 1024**2} MB in one message")
    try:
        sock.sendall(struct.pack(">Q", len(data)) + data)
    except TimeoutError:
        raise
    except OSError as exc:
        raise ClosedError(str(exc)) from exc


def receive(sock: socket.socket, deadline: float | None = None) -> dict[str, Any]:
    """The next message; TimeoutError at the deadline (of time.monotonic)."""
    (size,) = struct.unpack(">Q", _exactly(sock, 8, deadline))
    if size > LIMIT:
        raise GarbageError(f"a message of {size} bytes")
    try:
        message = json.loads(_exactly(sock, size, deadline))
    except (ValueError, RecursionError) as exc:
        raise GarbageError("a message that is no JSON") from exc
    if not isinstance(message, dict):
        raise GarbageError("a message that is no object")
    return message


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
        else:
            sock.settimeout(None)
        try:
            part = sock.recv(min(size, 1 << 20))
        except TimeoutError:
            raise
        except OSError as exc:
            raise ClosedError(str(exc)) from exc
        if not part:
            raise ClosedError("end of stream")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# Plain data


def encode(value: Any, opaque: Callable[[Any], dict[str, Any]]) -> Any:
    """A value as JSON. Subclasses become their base; what is no plain data becomes what `opaque` makes of it."""
    return _Encoder(opaque).value(value, 0)


class _Encoder:
    def __init__(self, opaque: Callable[[Any], dict[str, Any]]) -> None:
        self.opaque, self.nodes = opaque, 0

    def value(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > DEPTH or self.nodes > _NODES:
            raise GarbageError("data that is nested too deeply" if depth > DEPTH else "too much data")
        if value is None or value is True or value is False:
            return value
        scalar = _numpy_scalar(value)
        if scalar is not value:
            return self.value(scalar, depth + 1)
        match value:
            case int():
                number = int.__index__(value)
                return number if -_EXACT < number < _EXACT else {"i": hex(number)}
            case float():
                real = float.__float__(value)
                return real if math.isfinite(real) else {"f": repr(real)}
            case str():
                return str.__str__(value)
            case bytes() | bytearray():
                return {"b": base64.b64encode(value).decode("ascii")}
            case list():
                return self.items(list.__iter__(value), depth)
            case tuple():
                return {"t": self.items(tuple.__iter__(value), depth)}
            case frozenset():
                return {"z": self.items(frozenset.__iter__(value), depth)}
            case set():
                return {"s": self.items(set.__iter__(value), depth)}
            case dict():
                return {"d": [self.items(iter(pair), depth) for pair in dict.items(value)]}
        return self.opaque(value)

    def items(self, values: Any, depth: int) -> list[Any]:
        return [self.value(value, depth + 1) for value in values]


def _numpy_scalar(value: Any) -> Any:
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "__len__"):
        return value.item()
    return value


def decode(data: Any, handle: Callable[[dict[str, Any]], Any], deadline: float | None = None) -> Any:
    """The value, built of nothing but the exact builtin types; TimeoutError at the deadline."""
    return _Decoder(handle, deadline).value(data, 0)


class _Decoder:
    def __init__(self, handle: Callable[[dict[str, Any]], Any], deadline: float | None) -> None:
        self.handle, self.deadline, self.nodes = handle, deadline, 0

    def value(self, data: Any, depth: int) -> Any:
        self.nodes += 1
        # Keys may be chosen so that each insertion takes longer than the one before.
        if not self.nodes & 0xFF and self.deadline is not None and time.monotonic() > self.deadline:
            raise TimeoutError
        if depth > DEPTH or self.nodes > _NODES:
            raise GarbageError("data that is nested too deeply" if depth > DEPTH else "too much data")
        if data is None or isinstance(data, bool | int | float | str):
            return data
        if isinstance(data, list):
            return [self.value(item, depth + 1) for item in data]
        if isinstance(data, dict) and "h" in data:
            return self.handle(data)
        if not isinstance(data, dict) or len(data) != 1:
            raise GarbageError("a value of no known kind")
        ((tag, inner),) = data.items()
        try:
            return self.tagged(tag, inner, depth)
        except (TypeError, ValueError) as exc:
            raise GarbageError(f"a broken value of kind `{tag}`") from exc

    def tagged(self, tag: str, inner: Any, depth: int) -> Any:
        match tag, inner:
            case "i", str():
                return int(inner, 16)
            case "f", "nan" | "inf" | "-inf":
                return float(inner)
            case "b", str():
                return base64.b64decode(inner, validate=True)
            case "t", list():
                return tuple([self.value(item, depth + 1) for item in inner])
            case "s", list():
                return {self.value(item, depth + 1) for item in inner}
            case "z", list():
                return frozenset([self.value(item, depth + 1) for item in inner])
            case "d", list():
                out = {}
                for key, item in inner:
                    out[self.value(key, depth + 1)] = self.value(item, depth + 1)
                return out
        raise GarbageError("a value of no known kind")
