"""Ports of a trial's apps in a sandbox without network: through sockets in a folder, and nothing else is reachable.

The file serves both sides. The harness imports it; in the sandbox it is the program that runs before the command.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

HOST = "127.0.0.1"  # where the apps answer, on this machine and in the sandbox alike
INSIDE = "/.scenlint/ports"  # the folder of sockets, as the sandbox sees it
CONNECTIONS = 256  # at a time, for each listener; more have to wait
_CHUNK = 1 << 16


class Server:
    """Accepts connections at `listener`, each served in a thread of its own, `most` of them at a time."""

    def __init__(self, listener: socket.socket, most: int, serve: Callable[[Server, socket.socket], None]) -> None:
        self._listener, self._serve = listener, serve
        self._room = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._live: set[socket.socket] = set()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more and cut what is connected."""
        with self._lock:
            self._closed = True
            live = [self._listener, *self._live]
        for end in live:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @contextmanager
    def cuts(self, end: socket.socket) -> Iterator[bool]:
        """Meanwhile `close` cuts this connection too; False if all is closed already."""
        with self._lock:
            self._live.add(end)
            there = not self._closed
        try:
            yield there
        finally:
            with self._lock:
                self._live.discard(end)

    def _accept(self) -> None:
        while True:
            self._room.acquire()
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(caller,), daemon=True).start()

    def _one(self, caller: socket.socket) -> None:
        try:
            with caller, self.cuts(caller) as there:
                if there:
                    self._serve(self, caller)
        except OSError:  # the connection's end, however it comes
            pass
        finally:
            self._room.release()


def relay(listener: socket.socket, connect: Callable[[], socket.socket]) -> Server:
    """Joins each connection at `listener` with one that `connect` makes."""

    return Server(listener, CONNECTIONS, lambda server, caller: joined(server, caller, connect))


def joined(server: Server, caller: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Pass everything on, both ways, until both ends have no more to say."""
    with connect() as called, server.cuts(called) as there:  # nobody answers there: the caller is cut off
        if there:
            back = threading.Thread(target=pump, args=(called, caller), daemon=True)
            back.start()
            pump(caller, called)
            back.join()


def pump(source: socket.socket, target: socket.socket, heard: Callable[[bytes], None] | None = None) -> None:
    """Pass on until the source has no more to say, then tell the target so; `heard` is told what passes."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            if heard is not None:
                heard(data)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
        return
    # One end is gone: nothing more can pass either way.
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Ports:
    """The harness's side: in `folder` a socket for each port, which leads to that port of this machine.

    `join`, where it is set, serves a connection instead of passing everything on as it comes.
    """

    def __init__(self, folder: Path, ports: Iterable[int]) -> None:
        self.ports = tuple(sorted(set(ports)))
        self.join: Callable[[Server, socket.socket, Callable[[], socket.socket]], None] | None = None
        self._relays: list[Server] = []
        try:
            for port in self.ports:
                self._relays.append(Server(listen(folder / str(port)), CONNECTIONS, partial(self._serve, port)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for relay in self._relays:
            relay.close()

    def _serve(self, port: int, server: Server, caller: socket.socket) -> None:
        (self.join or joined)(server, caller, partial(_to_port, port))


def listen(path: Path) -> socket.socket:
    """A listening socket at a path, open for whoever can reach the folder."""
    made = socket.socket(socket.AF_UNIX)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # A socket's path may have 107 bytes only, whatever the file system allows.
        made.bind(f"/proc/self/fd/{folder}/{path.name}")
        path.chmod(0o666)
        made.listen(128)
    except BaseException:
        made.close()
        raise
    finally:
        os.close(folder)
    return made


def _to_port(port: int) -> socket.socket:
    out = socket.create_connection((HOST, port), timeout=30)
    out.settimeout(None)
    return out


def _to_socket(path: str) -> socket.socket:
    out = socket.socket(socket.AF_UNIX)
    try:
        out.connect(path)
    except BaseException:
        out.close()
        raise
    return out


# The sandbox's side


def program(ports: Iterable[int]) -> tuple[str, ...]:
    """Arguments for Python that make the ports answer in the sandbox; the command follows them."""
    return ("-I", "-S", f"/.scenlint/{Path(__file__).name}", *map(str, ports), "--")


def main(arguments: list[str]) -> None:
    """Serve the ports from a process of its own, and become the command."""
    split = arguments.index("--")
    listeners = {}
    for port in arguments[:split]:
        listeners[port] = made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, int(port)))
        made.listen(128)
    if listeners and os.fork() == 0:
        _serve(listeners)
    for made in listeners.values():
        made.close()
    command = arguments[split + 1 :]
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"scenlint: `{command[0]}` was not found", file=sys.stderr, flush=True)
        os._exit(127)
    except OSError as exc:
        print(f"scenlint: `{command[0]}` cannot be executed: {exc.strerror}", file=sys.stderr, flush=True)
        os._exit(126)


def _serve(listeners: dict[str, socket.socket]) -> None:
    """Relay until the sandbox ends. It must not hold the command's pipes open."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for port, listener in listeners.items():
        relay(listener, lambda port=port: _to_socket(f"{INSIDE}/{port}"))  # type: ignore[misc]
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])
