"""Makes a sandbox for each solution that a DeepGym verifier asks for, beside the verifier's own."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import struct
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from scenlint.harness.box import Box, Mount
from scenlint.harness.bubblewrap import Running
from scenlint.harness.capture import DRAIN, TICK, Capture, take
from scenlint.harness.cgroups import Group
from scenlint.harness.environment import Fault, InfrastructureError
from scenlint.harness.identity import Identity
from scenlint.harness.system import INTERPRETER
from scenlint.task.plan import Command, Limits

HELPER = "deepgym_solution"
LIMIT = 16 * 1024 * 1024  # bytes of a submission
GRACE = 5.0  # seconds that a verifier has after its time limit, to report
CASE_TIMEOUT = 10.0
TIMEOUT = 30.0
_AT_ONCE = 32  # solutions running for one verifier
_RUNTIME = "/.scenlint/runtime"
_SOCKETS = "/.scenlint/solutions"
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from deepgym_runtime import {0}; {0}.main()"


class Solutions:
    """While it is open, the verifier's process may connect to a socket; each connection gets a solution's sandbox."""

    def __init__(self, home: Path, limits: Limits, judge: Identity, stop: threading.Event | None) -> None:
        self.folder, self.limits, self.judge, self.stop = home / "solutions", limits, judge, stop
        self.problem = ""  # why a solution's sandbox could not be made: its verifier's verdict is then worth nothing
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What the verifier's sandbox has besides."""
        return (runtime(), Mount(self.folder, _SOCKETS))

    def judged(self, command: Command) -> tuple[tuple[str, ...], float, dict[str, str]]:
        """The verifier's command with the judge around it, when to kill it, and further variables."""
        env = dict(command.env)
        timeout = command.timeout or TIMEOUT
        settings = {
            "socket": f"{_SOCKETS}/socket",
            "timeout": timeout,
            "grace": GRACE * 0.6,
            "mode": env.get("SCENLINT_VERIFIER_MODE", "auto"),
            "case_timeout": float(env.get("SCENLINT_CASE_TIMEOUT") or CASE_TIMEOUT),
        }
        variables, program = _variables(command.argv)
        script = program[1:] if Path(program[0]).name.startswith("python") else program
        return (*variables, *boot("judge"), json.dumps(settings), *script), timeout + GRACE, {}

    def __enter__(self) -> Solutions:
        try:
            self.folder.mkdir(mode=0o755)
            self.judge.own(self.folder)
            fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                # Such a path has room for about a hundred bytes; folders of trials may be deeper.
                self._listener.bind(f"/proc/self/fd/{fd}/socket")
            finally:
                os.close(fd)
            (self.folder / "socket").chmod(0o666)
            self._listener.listen(_AT_ONCE)
        except OSError as exc:
            self._listener.close()
            raise InfrastructureError(f"the socket for solutions could not be made: {exc.strerror or exc}") from exc
        self._threads.append(threading.Thread(target=self._accept, daemon=True))
        self._threads[0].start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._ended.set()
        for thread in list(self._threads):
            thread.join(15)
        self._listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.problem and kind is None:
            raise InfrastructureError(f"no sandbox for the solution: {self.problem}")

    def _accept(self) -> None:
        waiting = select.poll()
        waiting.register(self._listener, select.POLLIN)
        while not self._ended.is_set():
            if not waiting.poll(TICK * 1000):
                continue
            with suppress(OSError):
                connection, _ = self._listener.accept()
                self._threads = [t for t in self._threads if t.is_alive()]
                if len(self._threads) > _AT_ONCE:
                    _refuse(connection, f"more than {_AT_ONCE} solutions are running")
                    connection.close()
                    continue
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """One solution's sandbox, for as long as both ends of its connection live."""
        group = Group(self.limits)
        box = Box((runtime(),), limits=self.limits, identity=self.judge.another(), group=group)
        said = Capture(None)
        running: Running | None = None
        try:
            running = Running(box, boot("serve"), stdin=connection, stdout=connection, stderr=subprocess.PIPE)
            reader = take(running.process.stderr, said, 2)
            if not running.began(group):
                running.kill()
                reader.join(DRAIN)
                raise InfrastructureError(said.text.strip()[-1000:] or "the sandbox could not be made")
            while not running.wait(TICK, connection) and not self._ended.is_set():
                if self.stop is not None and self.stop.is_set():
                    break
        except (Fault, OSError) as exc:
            self.problem = str(exc)
            _refuse(connection, self.problem)
        finally:
            if running is not None:
                running.kill()
            connection.close()
            group.close()
            said.close()


def _variables(argv: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A command's leading `env NAME=value …`, which then stands before the judge, and the rest of it."""
    if argv[0] != "env":
        return (), argv
    count = next(n for n, word in enumerate(argv[1:], 1) if "=" not in word)
    return argv[:count], argv[count:]


def boot(module: str) -> tuple[str, ...]:
    """The command that runs one of the runtime's modules in a sandbox."""
    return (INTERPRETER, "-I", "-c", _BOOT.format(module), _RUNTIME)


def runtime() -> Mount:
    return Mount(Path(__file__).with_name("deepgym_runtime"), f"{_RUNTIME}/deepgym_runtime")


def _refuse(connection: socket.socket, why: str) -> None:
    data = json.dumps({"failed": why}).encode("ascii")
    with suppress(OSError):
        connection.sendall(struct.pack(">Q", len(data)) + data)
