"""Commands in a container: their output as it comes, and an end for everything that they started."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any, Protocol

from scenlint.harness.engine import Engine, EngineError, faults, moment
from scenlint.harness.environment import Fault
from scenlint.harness.reap import remove_container

# Runs in a container of its own that shares the PID namespace. Kills what started at $1 or later, in hundredths of a
# second after PID 1, unless it descends from an older process other than PID 1: services from before keep running.
# PID 1 started some time before the engine says so, which makes $1 too early. $2 is exact, since this machine's start;
# it holds if the engine is on this machine, that is if it is not far from $1.
_KILLER = r"""
all=
for d in /proc/[0-9]*; do
  p=${d#/proc/}
  { read -r line <"$d/stat"; } 2>/dev/null || continue
  since=$1 exact=$2
  set -- ${line##*) }
  eval "parent_$p=$2 start_$p=${20}"
  all="$all $p"
  set -- "$since" "$exact"
done
first=$((start_1 + $1))
[ "$2" -ge $first ] && [ "$2" -le $((first + 1000)) ] && first=$2
for p in $all; do
  [ "$p" = 1 ] || [ "$p" = $$ ] && continue
  q=$p
  while [ "$q" != 0 ] && [ "$q" != 1 ] && eval "[ \${start_$q:-0} -ge $first ]"; do eval "q=\$parent_$q"; done
  if [ "$q" = 0 ] || [ "$q" = 1 ]; then kill -KILL "$p" 2>/dev/null; fi
done
:
"""
_BOOT_CLOCK = hasattr(time, "CLOCK_BOOTTIME")


class Sink(Protocol):
    """Takes what a command prints, by stream: 1 for stdout, 2 for stderr."""

    def write(self, data: bytes, stream: int = 1) -> None: ...


class Stream:
    """The output of one started command; a thread of its own takes it. `ended` is set when no more will come."""

    def __init__(self, api: Any, exec_id: str, capture: Sink, stdin: bytes) -> None:
        self.ended = threading.Event()
        self.heard = time.monotonic()
        url, start = api._url("/exec/{0}/start", exec_id), {"Tty": False, "Detach": False}
        # The SDK's own reader takes the bare socket, which loses what came together with the headers.
        self._response = api._post_json(url, data=start, stream=True)
        api._raise_for_status(self._response)
        self._http = self._response.raw._fp
        self._socket: socket.socket = self._http.fp.raw._sock
        self._socket.settimeout(None)  # the engine has answered, but a command may be silent for hours
        threading.Thread(target=self._take, args=(capture,), daemon=True).start()
        if stdin:
            threading.Thread(target=self._give, args=(stdin,), daemon=True).start()

    def close(self) -> None:
        """Take no more, whatever still comes."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.ended.wait(1)

    def _take(self, capture: Sink) -> None:
        have = bytearray()
        # Whatever breaks the stream, what became of the command is asked afterwards.
        with suppress(Exception):
            while data := self._http.read1(1 << 16):
                self.heard = time.monotonic()
                have += data
                at = 0
                while len(have) - at >= 8:
                    size = int.from_bytes(have[at + 4 : at + 8], "big")
                    if len(have) - at < 8 + size:
                        break
                    capture.write(bytes(have[at + 8 : at + 8 + size]), have[at])
                    at += 8 + size
                del have[:at]
        with suppress(Exception):
            self._response.close()
        self.ended.set()

    def feed(self, data: bytes) -> None:
        """More input for the command, where it was started with an open input."""
        self._socket.sendall(data)

    def end_input(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def _give(self, data: bytes) -> None:
        with suppress(OSError):
            self.feed(data)
            self.end_input()


def kill_since(engine: Engine, container: str, image: str, seconds: float) -> None:
    """Kill what was started in a container in the last `seconds`, also what left its session or forks without end.

    The container is paused meanwhile, so nothing gets away, and the killer runs outside of its limits, from the clean
    image. Where that fails the container itself is killed.
    """
    began = time.monotonic() - seconds
    try:
        with faults("killing what ran too long"):
            _kill_since(engine, container, image, began)
    except Fault:
        with suppress(Fault), faults("killing the container"):
            engine.api.kill(container)


def _kill_since(engine: Engine, container: str, image: str, began: float) -> None:
    api, name = engine.api, f"{container}-killer"
    told = api.inspect_container(container)
    now = moment(api.info().get("SystemTime"))
    since = now - (time.monotonic() - began) - moment(told["State"]["StartedAt"])
    exact = time.clock_gettime(time.CLOCK_BOOTTIME) - (time.monotonic() - began) if _BOOT_CLOCK else 0.0
    host = api.create_host_config(
        pid_mode=f"container:{container}", network_mode="none", cap_drop=["ALL"], cap_add=["KILL"]
    )
    api.create_container(
        image,
        ["-c", _KILLER, "sh", str(int(since * 100) - 2), str(int(exact * 100))],
        name=name,
        entrypoint=["sh"],
        user="0:0",
        labels=told["Config"]["Labels"],
        host_config=host,
    )
    try:
        api.pause(container)
        try:
            api.start(name)
            if api.wait(name, timeout=60)["StatusCode"] != 0:
                raise EngineError(f"the killer failed: {api.logs(name, tail=5)!r}")
        finally:
            api.unpause(container)
    finally:
        remove_container(engine, name)
