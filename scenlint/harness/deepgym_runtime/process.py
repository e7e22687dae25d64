"""The judge's end of a solution's process: asks the harness for one, calls into it, knows when to give up."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .errors import CallTimeoutError, LaunchError, SolutionError, raised

LOAD_LIMIT = 30.0  # seconds until a solution must be loaded


@dataclass
class Session:
    """The run of one verifier: where solutions are started, what time they have, and what has happened so far."""

    socket: str = ""
    case_timeout: float = 10.0
    deadline: float = field(default=float("inf"))
    solution_folder: str = ""
    consulted: bool = False  # a helper was asked for the solution, or the verifier looked at its files itself
    code_ran: bool = False  # some of the solution's code has run: what fails now may be its doing

    def until(self, seconds: float | None = None) -> float:
        """When a call has to be over."""
        limit = self.case_timeout if seconds is None else seconds
        return min(time.monotonic() + limit, self.deadline)

    def left(self, deadline: float) -> float:
        return deadline - time.monotonic()


SESSION = Session()


class Remote:
    """One process that runs a solution. After a time-out or garbage it is dead: nothing it says later counts."""

    def __init__(self) -> None:
        self.dead = ""
        self.before_answer: Callable[[], socket.socket | None] = lambda: None
        self.listener: socket.socket | None = None  # of the solution's loopback, if it has one
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.connect(SESSION.socket or "/nonexistent")
            told = wire.receive(self.sock, time.monotonic() + LOAD_LIMIT)
            if "ready" not in told:
                raise OSError(str(told.get("failed", "no reason given"))[:2000])
        except (OSError, wire.ClosedError, wire.GarbageError) as exc:
            self.close("it never started")
            text = f"the solution's process could not be started: {exc or 'no answer'}"
            if SESSION.code_ran:
                raise SolutionError(text) from None
            raise LaunchError(text) from None

    def request(self, message: dict[str, Any], deadline: float, doing: str) -> dict[str, Any]:
        """Send a request, return the answer; SolutionError for whatever goes wrong over there."""
        if self.dead:
            raise SolutionError(f"the solution's process has ended: {self.dead}")
        SESSION.consulted = SESSION.code_ran = True
        began = time.monotonic()
        try:
            self.sock.settimeout(max(deadline - began, 0.001))
            wire.send(self.sock, message)
            self.listener = self.before_answer()
            answer = wire.receive(self.sock, deadline)
        except TimeoutError:
            self.close("it took too long")
            raise CallTimeoutError(f"{doing} took longer than {max(deadline - began, 0):.1f} s") from None
        except (wire.ClosedError, OSError):
            self.close("it died")
            raise SolutionError(f"the solution's process ended during {doing}") from None
        except wire.GarbageError as exc:
            self.close("it sent garbage")
            raise SolutionError(f"{doing} sent {exc}") from None
        except MemoryError:
            self.close("it sent too much")
            raise SolutionError(f"{doing} sent more than fits into memory") from None
        if isinstance(told := answer.get("raised"), dict):
            name, base, text = (str(told.get(key, ""))[:10_000] for key in ("name", "base", "text"))
            raise raised(name, base, text)
        return answer

    def decode(self, data: Any, deadline: float, handle: Any) -> Any:
        """A value of an answer; a value that is none is the solution's fault."""
        try:
            return wire.decode(data, handle, deadline)
        except TimeoutError:
            self.close("it sent data that takes too long to read")
            raise CallTimeoutError("what the solution returned takes too long to read") from None
        except (wire.GarbageError, RecursionError, MemoryError) as exc:
            self.close("it sent garbage")
            raise SolutionError(f"the solution returned {exc or 'garbage'}") from None

    def close(self, why: str = "it was closed") -> None:
        """End it: the harness kills the sandbox when its connection is closed."""
        self.dead = self.dead or why
        self.sock.close()
        if self.listener is not None:
            with suppress(OSError):
                self.listener.shutdown(socket.SHUT_RDWR)
