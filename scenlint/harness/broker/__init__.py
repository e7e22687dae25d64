"""A `docker` for verifiers in a sandbox: it reaches the containers of its own trial through the harness, and no others.

The program in the sandbox (`client`) only hands its arguments over. What they may ask for is decided here, and every
call is kept as evidence.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scenlint.harness.broker import client
from scenlint.harness.broker.client import ARGUMENTS, ERR, EXIT, Channel
from scenlint.harness.broker.commands import Call
from scenlint.harness.broker.copying import Failed
from scenlint.harness.broker.words import Refused
from scenlint.harness.engine import Engine, EngineError, explanation, faults
from scenlint.harness.environment import Fault
from scenlint.harness.forward import Server, listen
from scenlint.harness.system import PYTHON

INSIDE = "/.scenlint/docker"  # the folder with the program, as the sandbox sees it; it belongs on PATH
CALLS = 32  # at a time; more have to wait
KEPT = 10_000  # calls that are kept as evidence
_REFUSED = 125


class Broker:
    """Serves the program in `folder`, which it puts there, until it is closed. `record` gets a line for each call."""

    def __init__(self, engine: Engine, names: Mapping[str, str], folder: Path, record: Path) -> None:
        self.engine, self.record = engine, record
        # Whoever is named by an id or by the beginning that docker shows.
        self._own = {key: number for name, number in names.items() for key in (name, number, number[:12])}
        self._lock = threading.Lock()
        self._calls = 0
        program = folder / "docker"
        program.write_text(f"#!{PYTHON} -IS\n{Path(client.__file__).read_text('utf-8')}", "utf-8")
        program.chmod(0o755)
        self._server = Server(listen(folder / "socket"), CALLS, self._serve)

    def close(self) -> None:
        """Answer nothing more; what is under way is cut off."""
        self._server.close()

    def _serve(self, server: Server, connection: socket.socket) -> None:
        channel = Channel(connection)
        # Whatever the other side sends, or however it goes, only its own call fails.
        with suppress(Exception):
            self._answer(channel)
        channel.close()

    def _answer(self, channel: Channel) -> None:
        kind, data = channel.receive()
        argv = json.loads(data) if kind == ARGUMENTS else None
        if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
            return
        began, refused, code = time.monotonic(), "", 1
        try:
            code, refused, said = self._run(argv, channel)
            if said:
                channel.send(ERR, f"docker: {said}\n".encode("utf-8", "surrogateescape"))
            channel.send(EXIT, str(code).encode())
        finally:
            self._keep(argv, refused, code, time.monotonic() - began)

    def _run(self, argv: list[str], channel: Channel) -> tuple[int, str, str]:
        """Exit status, why it was refused, and what to print."""
        try:
            with faults("asking the engine"):
                return Call(self.engine, self._own, channel).run(argv), "", ""
        except Refused as exc:
            return _REFUSED, str(exc), f"scenlint refuses this: {exc}"
        except Failed as exc:
            return exc.code, "", str(exc)
        except EngineError as exc:
            return 1, "", str(exc)
        except Fault as exc:
            cause = exc.__cause__
            answered = explanation(cause) if hasattr(cause, "explanation") else str(exc)
            return 1, "", f"Error response from daemon: {answered}"

    def _keep(self, argv: list[str], refused: str, code: int, duration: float) -> None:
        with self._lock:
            self._calls += 1
            if self._calls > KEPT:
                return
            entry: dict[str, Any] = {"argv": [word[:2000] for word in argv[:200]], "exit_code": code}
            entry |= {"duration": round(duration, 3)} | ({"refused": refused} if refused else {})
            with suppress(OSError), self.record.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(json.dumps(entry) + "\n")
