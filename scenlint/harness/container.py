"""One container as an environment: commands with bounded output and hard time limits, files in and out as archives."""

from __future__ import annotations

import base64
import json
import posixpath
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scenlint.harness import archive
from scenlint.harness.capture import DRAIN, TICK, Capture
from scenlint.harness.engine import Engine, EngineError, faults
from scenlint.harness.environment import Fault, GoneError, Ran, StoppedError
from scenlint.harness.execution import Stream, kill_since
from scenlint.harness.reap import remove_container
from scenlint.task.plan import Command, Network, Others, Upload

LOOK = 2.0  # seconds between two looks at the disk and at whether the container is still there
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"  # without the folders that are for additions
# Type bits of Go's file modes.
_FOLDER = 1 << 31
_SPECIAL = 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19  # link, device, pipe, socket, irregular


class ContainerEnvironment:
    """A running container. Compose projects use it too, with a `close` of their own."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        image: str,
        *,
        stop: threading.Event | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        self.engine, self.name, self.image = engine, name, image
        self.storage_mb: int | None = None
        self.notes: list[str] = []  # limits that could not be held
        self.problem = ""  # why `close` could not remove everything
        self.variables: dict[str, str] = {"SCENLINT_CONTAINER": name}
        self.network: Network | None = None  # None: one that cannot be changed
        self._stop, self._close = stop, close
        self.closed = False
        # Folders to be made with the next upload, and whether what lay there goes: each archive costs time.
        self._waiting: list[tuple[str, bool]] = []

    # Files

    def folders(self, paths: tuple[str, ...]) -> None:
        """Make folders that everyone may write, at the latest before the next command runs."""
        self._waiting += [(path, False) for path in paths]

    def fresh(self, folders: tuple[str, ...]) -> None:
        self._waiting += [(path, True) for path in folders]

    def flush(self) -> None:
        """Make what was put off: for whoever gets into the container by another way than `run`."""
        self.upload_all(())

    def upload(self, upload: Upload) -> None:
        self.upload_all((upload,))

    def upload_all(self, uploads: tuple[Upload, ...], *, keep_modes: bool = False) -> None:
        """Several uploads in one archive, in their order."""
        pack = archive.Pack()
        for path, clear in self._waiting:
            pack.folder(path, 0o777, clear=clear)
        self._waiting = []
        for upload in uploads:
            pack.upload(upload, keep_modes=keep_modes)
        if not pack.empty:
            with self._faults("copying files into the container"), pack.finish() as file:
                self.engine.api.put_archive(self.name, "/", file)

    def read(self, path: str, limit: int = 1024 * 1024) -> bytes | None:
        if self._kind(path) != "file":
            return None
        with self._faults(f"reading `{path}`"), self._archive(path) as chunks:
            return archive.read_file(chunks, limit)

    def remove(self, path: str) -> None:
        if self._kind(path) is None:
            return
        rm = Command(("rm", "-rf", "--", path), env=(("PATH", _SYSTEM_PATH),), user="0:0", timeout=60)
        ran = self.run(rm, None)
        if self._kind(path) is not None:
            raise GoneError(f"`{path}` cannot be removed: {ran.output.strip() or 'something puts it back'}")

    def collect(self, path: str, target: Path, limit: int = 512 * 1024 * 1024) -> bool:
        if self._kind(path) not in ("file", "folder"):
            return False
        with self._faults(f"copying `{path}` out of the container"), self._archive(path) as chunks:
            archive.unpack(chunks, target, limit)
        return True

    def _kind(self, path: str) -> str | None:
        """What lies at a path: file, folder, other (a link, a device, …), or None."""
        self.flush()
        api = self.engine.api
        with self._faults(f"looking for `{path}`"):
            url = api._url("/containers/{0}/archive", self.name)
            answer = api.head(url, params={"path": path}, timeout=api.timeout)
            if answer.status_code == 404:
                return None
            parent = posixpath.dirname(path.rstrip("/"))
            if answer.status_code >= 500 and len(parent) > 1 and self._kind(parent) != "folder":
                return None
            api._raise_for_status(answer)
        told = json.loads(base64.b64decode(answer.headers["X-Docker-Container-Path-Stat"]))
        mode = told["mode"]
        return "folder" if mode & _FOLDER else "other" if mode & _SPECIAL else "file"

    @contextmanager
    def _archive(self, path: str) -> Iterator[Iterator[bytes]]:
        api = self.engine.api
        answer = api._get(api._url("/containers/{0}/archive", self.name), params={"path": path}, stream=True)
        try:
            api._raise_for_status(answer)
            yield answer.iter_content(1 << 16)
        finally:
            answer.close()

    # Commands

    def run(self, command: Command, log: Path | None, *, split: bool = False) -> Ran:
        self.flush()
        capture = Capture(log, split=split)
        began = time.monotonic()
        try:
            with self._faults(f"running `{command.argv[0]}`"):
                exec_id = self._exec(command)
                stream = Stream(self.engine.api, exec_id, capture, command.stdin)
            timed_out = self._wait(stream, exec_id, began, command.timeout)
            duration = time.monotonic() - began
            code = None if timed_out else self._exit_code(exec_id)
        finally:
            capture.close()
        return capture.ran(code, duration, log, timed_out=timed_out)

    def _exec(self, command: Command) -> str:
        return str(
            self.engine.api.exec_create(
                self.name,
                list(command.argv),
                stdin=bool(command.stdin),
                environment=dict(command.env),
                workdir=command.cwd,
                user=command.user or "",
            )["Id"]
        )

    def _wait(self, stream: Stream, exec_id: str, began: float, timeout: float | None) -> bool:
        """Wait for a command's end; True if its time was up and it was killed."""
        looked = began
        while not stream.ended.wait(TICK if timeout is None else min(TICK, max(began + timeout - time.monotonic(), 0))):
            now = time.monotonic()
            if self._stop is not None and self._stop.is_set():
                stream.close()
                raise StoppedError("interrupted")
            if timeout is not None and now - began >= timeout:
                kill_since(self.engine, self.name, self.image, time.monotonic() - began)
                stream.ended.wait(DRAIN)
                stream.close()
                return True
            if now - looked > LOOK:
                looked = now
                self._check_disk()
                # A daemon that keeps the output open does not keep its command running.
                if now - stream.heard > LOOK and not self._inspect_exec(exec_id)["Running"]:
                    stream.close()
                    return False
        return False

    def _exit_code(self, exec_id: str) -> int:
        deadline = time.monotonic() + DRAIN
        while True:
            told = self._inspect_exec(exec_id)
            if told["ExitCode"] is not None and not told["Running"]:
                break
            if time.monotonic() > deadline:
                raise self._gone() or EngineError("the engine does not say how the command ended")
            time.sleep(0.02)
        # Killed: did the container end with it? It may take the engine a moment to notice.
        for _ in range(5 if told["ExitCode"] == 137 else 0):
            if (gone := self._gone()) is not None:
                raise gone
            time.sleep(0.1)
        return int(told["ExitCode"])

    def _inspect_exec(self, exec_id: str) -> Mapping[str, Any]:
        with self._faults("asking how the command ended"):
            return dict(self.engine.api.exec_inspect(exec_id))

    def _check_disk(self) -> None:
        api = self.engine.api
        with self._faults("asking for the container's size"):
            told = api._result(api._get(api._url("/containers/{0}/json", self.name), params={"size": 1}), True)
        used = (told.get("SizeRw") or 0) // 1024**2
        if self.storage_mb and used > self.storage_mb:
            raise GoneError(f"{used} MB were written, the limit is {self.storage_mb} MB of disk")

    def processes(self) -> list[str]:
        """The command lines of what runs, the one that keeps the container alive left out."""
        with suppress(Fault), self._faults("listing processes"):
            told = self.engine.api.top(self.name, ps_args="-o pid,args")
            shown = [row[-1] for row in told.get("Processes") or ()]
            return [line for line in shown if line != "sleep 86400" and "while command -v sleep" not in line]
        return []

    # Its life

    def settle(self, seconds: float) -> None:
        """Give the container's own program a moment; a Fault if it has ended by then."""
        time.sleep(seconds)
        gone = self._gone()
        if gone is not None:
            raise gone

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        try:
            if self._close is not None:
                self._close()
            else:
                with faults(f"removing the container `{self.name}`"):
                    remove_container(self.engine, self.name)
        except Fault as exc:
            self.problem = str(exc)

    def _gone(self) -> GoneError | None:
        """Why the container no longer runs; None if it does."""
        import docker.errors

        with faults("asking for the container's state"):
            try:
                told = self.engine.api.inspect_container(self.name)
            except docker.errors.NotFound:
                return GoneError("the container was removed while it was in use")
            state = told["State"]
            if state["Running"]:
                return None
            said = self.engine.api.logs(self.name, tail=20).decode("utf-8", "replace").strip()
        why = "memory ran out" if state.get("OOMKilled") else state.get("Error") or f"exit status {state['ExitCode']}"
        last = f", after `{said.splitlines()[-1][:500]}`" if said else ""
        return GoneError(f"the container ended ({why}){last}{said and chr(10)}{said}")

    @contextmanager
    def _faults(self, doing: str) -> Iterator[None]:
        """`faults`, which asks first whether it is the container that has gone."""
        try:
            with faults(doing):
                yield
        except GoneError:
            raise
        except Fault as exc:
            if exc.__cause__ is None:  # not the engine's
                raise
            gone = None
            with suppress(Fault):
                gone = self._gone()
            raise gone or exc from exc.__cause__


def place(engine: Engine, name: str, others: Others) -> None:
    """Copy files into a container, whether it runs already or not."""
    pack = archive.Pack()
    for upload in others.files:
        pack.upload(upload)
    for path, text in others.texts:
        pack.data(path, text.encode())
    if not pack.empty:
        with faults(f"copying files into the container `{name}`"), pack.finish() as file:
            engine.api.put_archive(name, "/", file)
