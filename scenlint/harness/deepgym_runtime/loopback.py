"""Connects a port of the solution's own 127.0.0.1 with the same port of the verifier's, and with nothing else."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from . import wire


def relay(sock: socket.socket, port: int) -> socket.socket:
    """Take the listener that the solution's side hands over, and serve it until it is shut down."""
    data, fds, _, _ = socket.recv_fds(sock, 1, 1)
    if data != b"L" or len(fds) != 1:
        raise wire.GarbageError("no listener")
    listener = socket.socket(fileno=fds[0])
    threading.Thread(target=_serve, args=(listener, port), daemon=True).start()
    return listener


def _serve(listener: socket.socket, port: int) -> None:
    with listener, suppress(OSError):
        while True:
            inner, _ = listener.accept()
            try:
                outer = socket.create_connection(("127.0.0.1", port), timeout=10)
            except OSError:
                inner.close()
                continue
            outer.settimeout(None)
            for source, target in ((inner, outer), (outer, inner)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
