"""A process beside the server that judges tasks: one that crashes or hangs over a task is ended and begun anew."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

from scenlint.lint.run import end_with_parent

T = TypeVar("T")
Answer = tuple[object, Exception | None]
LIMIT = 60.0  # seconds for one answer


class LostError(Exception):
    """The process died, or was ended as it gave no answer; the text says which."""


class Worker:
    """Calls functions in a process of its own, one after the other. `limit`: seconds for one call."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._turn = asyncio.Lock()

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """What the function returns. Both must be importable there; LostError, or what the function raises."""
        async with self._turn:
            if self._process is not None and not self._process.is_alive():
                self.end()
            line = self._line or self._begin()
            try:
                value, error = await asyncio.to_thread(self._ask, line, (function, arguments))
            except TimeoutError:
                self.end()
                raise LostError(f"no answer within {self.limit:.0f} seconds") from None
            except (EOFError, OSError):
                self.end()
                raise LostError("the process that judges tasks died") from None
            if error is not None:
                raise error
            return cast(T, value)

    def end(self) -> None:
        """End the process; the next call begins another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None

    def _begin(self) -> Connection:
        context = multiprocessing.get_context("spawn")  # the server has threads, which a fork would not
        self._line, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), name="scenlint-judge", daemon=True)
        self._process.start()
        other.close()
        return self._line

    def _ask(self, line: Connection, what: object) -> Answer:
        line.send(what)
        if not line.poll(self.limit):
            raise TimeoutError
        answer: Answer = line.recv()
        return answer


def _serve(line: Connection) -> None:
    end_with_parent()
    while True:
        try:
            function, arguments = line.recv()
        except EOFError:
            return
        answer: Answer
        try:
            answer = function(*arguments), None
        except Exception as exc:
            answer = None, RuntimeError(f"{type(exc).__name__}: {exc}")
        line.send(answer)
