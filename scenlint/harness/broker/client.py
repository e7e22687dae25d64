"""The `docker` that a verifier finds in its sandbox: it hands its arguments to the harness and does what it is told.

It runs alone, with the standard library only. Whatever is decided is decided by `broker.py`, at the other end.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import tarfile
import threading
from contextlib import suppress
from pathlib import PurePosixPath
from typing import IO, Any, cast

# What a frame carries, in both directions.
ARGUMENTS, OUT, ERR, EXIT, ASK, ANSWER, DATA, END = range(8)
HEADER = struct.Struct(">BI")
CHUNK = 1 << 16


class Channel:
    """Frames over a socket: one byte for what it is, four for the length, then the content."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._file = sock.makefile("rb")
        self._lock = threading.Lock()

    def send(self, kind: int, data: bytes = b"") -> None:
        with self._lock:
            self.sock.sendall(HEADER.pack(kind, len(data)) + data)

    def receive(self, limit: int = 1 << 24) -> tuple[int, bytes]:
        """The next frame; END where there is none."""
        head = self._file.read(HEADER.size)
        if len(head) < HEADER.size:
            return END, b""
        kind, size = HEADER.unpack(head)
        if size > limit:
            raise ValueError(f"a frame of {size} bytes")
        data = self._file.read(size)
        return (kind, data) if len(data) == size else (END, b"")

    def close(self) -> None:
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self.sock.close()


class Incoming:
    """The DATA frames of a channel as a file to read from."""

    def __init__(self, channel: Channel) -> None:
        self.channel, self._have, self._ended = channel, b"", False

    def read(self, size: int) -> bytes:
        while not self._ended and len(self._have) < size:
            kind, data = self.channel.receive()
            self._ended = kind != DATA
            self._have += data if kind == DATA else b""
        out, self._have = self._have[:size], self._have[size:]
        return out


class Outgoing:
    """A file to write to, as DATA frames of a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def write(self, data: bytes) -> int:
        for at in range(0, len(data), CHUNK):
            self.channel.send(DATA, data[at : at + CHUNK])
        return len(data)


def main() -> int:
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
    except OSError as exc:
        print(f"docker: the harness does not answer ({exc.strerror})", file=sys.stderr)
        return 1
    channel = Channel(sock)
    arguments = json.dumps(sys.argv[1:]).encode()
    if len(arguments) > 1 << 24:
        print("docker: the arguments are too long", file=sys.stderr)
        return 1
    channel.send(ARGUMENTS, arguments)
    while True:
        kind, data = channel.receive()
        if kind in (OUT, ERR):
            _write(kind, data)
        elif kind == EXIT:
            return int(data)
        elif kind == ASK:
            _do(channel, json.loads(data))
        else:
            print("docker: the harness ended the connection", file=sys.stderr)
            return 1


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


def _do(channel: Channel, asked: dict[str, Any]) -> None:
    """What only this side can do: read its input, look at its files, pack and unpack them."""
    match asked["what"]:
        case "stdin":
            threading.Thread(target=_give_input, args=(channel,), daemon=True).start()
        case "look":
            channel.send(ANSWER, json.dumps(_look(asked["path"])).encode())
        case "pack":
            with tarfile.open(fileobj=cast(IO[bytes], Outgoing(channel)), mode="w|", format=tarfile.PAX_FORMAT) as tar:
                tar.add(asked["path"], arcname=asked["name"])
            channel.send(END)
        case "unpack":
            incoming = Incoming(channel)
            with tarfile.open(fileobj=cast(IO[bytes], incoming), mode="r|") as tar:
                problems = [p for member in tar if (p := _unpack(tar, member, asked["folder"], asked["name"]))]
            while incoming.read(CHUNK):
                pass
            channel.send(ANSWER, json.dumps(problems[:20]).encode())


def _give_input(channel: Channel) -> None:
    with suppress(OSError):
        while data := os.read(0, CHUNK):
            channel.send(DATA, data)
        channel.send(END)


def _look(path: str) -> str | None:
    return "folder" if os.path.isdir(path) else "file" if os.path.lexists(path) else None


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: str, name: str) -> str | None:
    """Put one entry below `folder`, under `name` in place of the archive's own root; why it was left out, if it was."""
    inner = PurePosixPath(member.name).parts[1:]
    place = os.path.join(folder, name, *inner)
    root = os.path.realpath(folder)
    above = os.path.realpath(os.path.dirname(place)) if inner or name else root
    if ".." in inner or os.path.commonpath([root, above]) != root:
        return f"{member.name} leads out of {folder}"
    try:
        if member.isdir():
            os.makedirs(place, exist_ok=True)
            return None
        if os.path.lexists(place) and (inner or os.path.islink(place)):
            os.unlink(place)
        if member.issym():
            os.symlink(member.linkname, place)
        elif member.islnk():
            first = PurePosixPath(member.linkname).parts[1:]
            if ".." in first:
                return f"{member.name} leads out of {folder}"
            os.link(os.path.join(folder, name, *first), place, follow_symlinks=False)
        elif member.isreg():
            content = tar.extractfile(member)
            with open(place, "wb") as file:
                while content is not None and (data := content.read(CHUNK)):
                    file.write(data)
            os.chmod(place, member.mode & 0o777 | 0o600)
        else:
            return f"{member.name} is no file, folder or link"
    except OSError as exc:
        return f"{member.name}: {exc.strerror}"
    return None


if __name__ == "__main__":
    try:
        status = main()
    except BrokenPipeError:
        status = 1
    except KeyboardInterrupt:
        status = 130
    # The thread that waits for input must not hold this up.
    os._exit(status)
