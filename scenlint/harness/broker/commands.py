"""What the `docker` of a verifier's sandbox can do: six commands, on the containers of its own trial only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from scenlint.harness.broker.client import ASK, CHUNK, DATA, END, ERR, OUT, Channel
from scenlint.harness.broker.copying import Copy, Failed
from scenlint.harness.broker.template import render
from scenlint.harness.broker.words import COMMANDS, Refused, Words, read
from scenlint.harness.engine import Engine
from scenlint.harness.execution import Stream

_LOOK = 1.0  # seconds between two looks at whether a command has ended
_FILTERS = ("name", "status", "label", "health")
_COLUMNS = ("ID", "Image", "Command", "Status", "Ports", "Names")


class Call:
    """One call of the program. `own`: names and ids of the trial's containers -> their ids."""

    def __init__(self, engine: Engine, own: Mapping[str, str], channel: Channel) -> None:
        self.api, self.own, self.channel = engine.api, own, channel

    def run(self, argv: Sequence[str]) -> int:
        """Do it; the exit status."""
        words = list(argv[1:] if argv[:1] == ["container"] else argv)
        name = {"ls": "ps", "list": "ps"}.get(words[0], words[0]) if words else ""
        if name not in COMMANDS:
            raise Refused(f"`docker {name}` is not for verifiers; there are {', '.join(COMMANDS)}")
        given = read(name, words[1:])
        match name:
            case "exec":
                return self._exec(given)
            case "cp":
                Copy(self.api, self.channel, self._find, follow="follow-link" in given.flags).run(given.plain)
            case "inspect":
                self._inspect(given)
            case "logs":
                self._logs(given)
            case "ps":
                self._ps(given)
            case "port":
                self._port(given)
        return 0

    def _find(self, name: str) -> str:
        found = self.own.get(name.removeprefix("/"))
        if found is None:
            there = sorted({key for key, number in self.own.items() if not number.startswith(key)})
            raise Refused(f"`{name}` is no container of this trial, which has {', '.join(there) or 'none'}")
        return found

    def _print(self, text: str) -> None:
        self.channel.send(OUT, f"{text}\n".encode("utf-8", "surrogateescape"))

    # exec

    def _exec(self, given: Words) -> int:
        if len(given.plain) < 2:
            raise Failed("docker exec needs a container and a command")
        api, interactive = self.api, "interactive" in given.flags
        made = api.exec_create(
            self._find(given.plain[0]),
            given.plain[1:],
            stdin=interactive,
            environment=[pair for pair in given.values.get("env", ()) if "=" in pair],
            workdir=given.last("workdir") or None,
            user=given.last("user"),
        )["Id"]
        if "detach" in given.flags:
            api.exec_start(made, detach=True)
            return 0
        stream = Stream(api, made, _Output(self.channel), b"")
        if interactive:
            self.channel.send(ASK, json.dumps({"what": "stdin"}).encode())
        threading.Thread(target=self._feed, args=(stream, interactive), daemon=True).start()
        while not stream.ended.wait(_LOOK):
            # What a command leaves running may hold its output open.
            if time.monotonic() - stream.heard > _LOOK and not api.exec_inspect(made)["Running"]:
                stream.close()
        deadline = time.monotonic() + 5
        while (told := api.exec_inspect(made))["Running"] and time.monotonic() < deadline:
            time.sleep(0.02)
        if told["Running"]:
            raise Failed("the engine does not say how the command ended")
        return int(told["ExitCode"])

    def _feed(self, stream: Stream, interactive: bool) -> None:
        """Pass the client's input on; once the client has gone, nothing waits for the command."""
        with suppress(OSError, ValueError):
            while interactive and (frame := self.channel.receive())[0] == DATA:
                stream.feed(frame[1])
            if interactive:
                stream.end_input()
            while self.channel.receive()[0] != END:
                pass
        stream.close()

    # Looking

    def _inspect(self, given: Words) -> None:
        if given.last("type", "container") != "container" or not given.plain:
            raise Refused("`docker inspect` shows containers only, and needs their names")
        found = [self.api.inspect_container(self._find(name)) for name in given.plain]
        if "format" in given.values:
            for one in found:
                self._print(_rendered(given.last("format"), one))
        else:
            self._print(json.dumps(found, indent=4))

    def _logs(self, given: Words) -> None:
        if len(given.plain) != 1:
            raise Failed("docker logs needs a container")
        container, api = self._find(given.plain[0]), self.api
        params: dict[str, Any] = {"stdout": 1, "stderr": 1, "tail": given.last("tail", "all")}
        params |= dict.fromkeys(given.flags, 1)
        params |= {name: given.last(name) for name in ("since", "until") if name in given.values}
        answer = api._get(api._url("/containers/{0}/logs", container), params=params, stream=True)
        api._raise_for_status(answer)
        out = _Output(self.channel)
        try:
            if api.inspect_container(container)["Config"]["Tty"]:
                for chunk in answer.iter_content(CHUNK):
                    out.write(chunk)
                return
            while len(head := answer.raw.read(8)) == 8:
                out.write(answer.raw.read(int.from_bytes(head[4:], "big")), head[0])
        finally:
            answer.close()

    def _ps(self, given: Words) -> None:
        filters: dict[str, list[str]] = {"id": sorted(set(self.own.values()))}
        starts = [""]
        for key, _, value in (text.partition("=") for text in given.values.get("filter", ())):
            if key == "id":
                starts = [value] if starts == [""] else [*starts, value]
            elif key in _FILTERS:
                filters.setdefault(key, []).append(value)
            else:
                raise Refused(f"the filter `{key}` is not known here; there are id, {', '.join(_FILTERS)}")
        # An empty filter would show everybody's.
        found = self.api.containers(all="all" in given.flags, filters=filters) if filters["id"] else []
        rows = [_row(one, "no-trunc" in given.flags) for one in found if one["Id"].startswith(tuple(starts))]
        template = "{{.ID}}" if "quiet" in given.flags else given.last("format")
        if template and not template.startswith("table"):
            for row in rows:
                self._print(_rendered(template, row))
            return
        lines = [["CONTAINER ID", *(c.upper() for c in _COLUMNS[1:])], *([row[c] for c in _COLUMNS] for row in rows)]
        widths = [max(len(line[n]) for line in lines) + 3 for n in range(len(_COLUMNS))]
        for line in lines:
            self._print("".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def _port(self, given: Words) -> None:
        if not 1 <= len(given.plain) <= 2:
            raise Failed("docker port needs a container")
        ports = self.api.inspect_container(self._find(given.plain[0]))["NetworkSettings"]["Ports"] or {}
        inner = given.plain[1] if len(given.plain) > 1 else ""
        inner += "/tcp" if inner and "/" not in inner else ""
        if inner and not ports.get(inner):
            raise Failed(f"Error: No public port '{inner}' published for {given.plain[0]}")
        for name, bound in ports.items():
            for one in (bound or ()) if inner in ("", name) else ():
                address = f"{one['HostIp']}:{one['HostPort']}"
                self._print(address if inner else f"{name} -> {address}")


class _Output:
    """Sends what a command prints to the client."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def write(self, data: bytes, stream: int = 1) -> None:
        for at in range(0, len(data), CHUNK):
            self.channel.send(ERR if stream == 2 else OUT, data[at : at + CHUNK])


def _rendered(template: str, value: Any) -> str:
    try:
        return render(template, value)
    except ValueError as exc:
        raise Failed(f"template parsing error: {exc}", 64) from None


def _row(told: Mapping[str, Any], full: bool) -> dict[str, str]:
    """A container as `docker ps --format` knows it."""
    return {
        "ID": told["Id"] if full else told["Id"][:12],
        "Names": ",".join(name.lstrip("/") for name in told["Names"]),
        "Image": told["Image"],
        "Command": json.dumps(told["Command"] if full else told["Command"][:20]),
        "CreatedAt": str(told["Created"]),
        "State": told["State"],
        "Status": told["Status"],
        "Ports": ", ".join(map(_shown, told.get("Ports") or ())),
        "Labels": ",".join(f"{key}={value}" for key, value in (told.get("Labels") or {}).items()),
    }


def _shown(port: Mapping[str, Any]) -> str:
    outer = f"{port.get('IP', '')}:{port['PublicPort']}->" if port.get("PublicPort") else ""
    return f"{outer}{port['PrivatePort']}/{port['Type']}"
