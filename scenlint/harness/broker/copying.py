"""`docker cp` between a container of the trial and the files of the sandbox, which only the client can reach."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any

from scenlint.harness.broker.client import ANSWER, ASK, CHUNK, DATA, END, ERR, OUT, Channel

_FOLDER, _LINK = 1 << 31, 1 << 27  # type bits of Go's file modes


class Failed(Exception):  # noqa: N818
    """The command could not be done; the text is what docker would print."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class Copy:
    """One `docker cp`. `find` gives the id of a container of the trial, or refuses."""

    def __init__(self, api: Any, channel: Channel, find: Callable[[str], str], *, follow: bool) -> None:
        self.api, self.channel, self.find, self.follow = api, channel, find, follow

    def run(self, words: list[str]) -> None:
        if len(words) != 2:
            raise Failed("docker cp needs a source and a target")
        (source, inner_source), (target, inner_target) = map(_place, words)
        if source and target:
            raise Failed("copying between containers is not supported")
        if source:
            self._out(self.find(source), inner_source, inner_target)
        elif target:
            self._in(inner_source, self.find(target), inner_target)
        else:
            raise Failed("one of source and target must be in a container: NAME:PATH")

    def _out(self, container: str, path: str, target: str) -> None:
        told = self._stat(container, path)
        if told and self.follow and told["mode"] & _LINK:
            path = told["linkTarget"] or path
            told = self._stat(container, path)
        if told is None:
            raise Failed(f"Error: No such container:path: {path}")
        if target == "-":
            self._send(OUT, self.api.get_archive(container, path)[0])
            return
        is_folder = bool(told["mode"] & _FOLDER)
        contents = is_folder and path.endswith("/.")
        there = self._ask(what="look", path=target)
        if there == "file" and is_folder:
            raise Failed(f"cannot copy a directory to the file {target}")
        if there == "folder":
            folder, name = target, "" if contents else posixpath.basename(posixpath.normpath(path))
        else:
            folder, name = _split(target)
            if self._ask(what="look", path=folder) != "folder" or (target.endswith("/") and not is_folder):
                raise Failed(f'invalid output path: directory "{folder}" does not exist')
        # An archive of `/folder/` has the folder as its root; one of `/folder/.` has none.
        chunks, _ = self.api.get_archive(container, path.removesuffix(".") if contents else path)
        self.channel.send(ASK, json.dumps({"what": "unpack", "folder": folder, "name": name}).encode())
        self._send(DATA, chunks)
        self.channel.send(END)
        for problem in self._answer():
            self.channel.send(ERR, f"left out: {problem}\n".encode("utf-8", "surrogateescape"))

    def _in(self, source: str, container: str, path: str) -> None:
        told = self._stat(container, path)
        if told and told["mode"] & _LINK:
            path = told["linkTarget"] or path
            told = self._stat(container, path)
        into = told is not None and bool(told["mode"] & _FOLDER)
        if source == "-":
            if not into:
                raise Failed(f'destination "{path}" must be a directory')
            folder, asked = path, {"what": "stdin"}
        else:
            folder, asked = self._packed(source, path, into=into, exists=told is not None)
            if self._stat(container, folder) is None:
                raise Failed(f"Error: No such container:path: {folder}")
        self.channel.send(ASK, json.dumps(asked).encode())
        self.api.put_archive(container, folder, self._incoming())

    def _packed(self, source: str, path: str, *, into: bool, exists: bool) -> tuple[str, dict[str, str]]:
        """The folder in the container to unpack in, and what the client is to pack."""
        kind = self._ask(what="look", path=source)
        if kind is None:
            raise Failed(f"lstat {source}: no such file or directory")
        if kind == "folder" and exists and not into:
            raise Failed(f"cannot copy a directory to the file {path}")
        if kind == "file" and not exists and path.endswith("/"):
            raise Failed(f"Error: No such container:path: {path}")
        contents = kind == "folder" and (source.endswith("/.") or source == ".")
        if into:
            folder, name = path, "." if contents else posixpath.basename(posixpath.normpath(source))
        else:
            folder, name = _split(path)
        return folder, {"what": "pack", "path": source, "name": name}

    # Talking to the client

    def _ask(self, **what: str) -> Any:
        self.channel.send(ASK, json.dumps(what).encode())
        return self._answer()

    def _answer(self) -> Any:
        kind, data = self.channel.receive()
        if kind != ANSWER:
            raise Failed("the client has gone")
        return json.loads(data)

    def _send(self, kind: int, chunks: Iterator[bytes]) -> None:
        for chunk in chunks:
            for at in range(0, len(chunk), CHUNK):
                self.channel.send(kind, chunk[at : at + CHUNK])

    def _incoming(self) -> Iterator[bytes]:
        while (frame := self.channel.receive())[0] == DATA:
            yield frame[1]

    def _stat(self, container: str, path: str) -> dict[str, Any] | None:
        url = self.api._url("/containers/{0}/archive", container)
        answer = self.api.head(url, params={"path": path}, timeout=self.api.timeout)
        if answer.status_code == 404:
            return None
        self.api._raise_for_status(answer)
        return dict(json.loads(base64.b64decode(answer.headers["X-Docker-Container-Path-Stat"])))


def _place(word: str) -> tuple[str, str]:
    """A container's name, or "" for the sandbox, and a path; with a slash or a dot in front it is a path."""
    name, colon, path = word.partition(":")
    return (name, path) if colon and not re.match(r"[./]", word) else ("", word)


def _split(path: str) -> tuple[str, str]:
    folder, name = posixpath.split(path.rstrip("/"))
    return folder or ".", name
