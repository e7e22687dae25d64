"""Variables of this machine that an agent is given by name: nothing that is kept shows their values."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from scenlint.task.plan import NotRunnableError
from scenlint.task.record import Phase, TrialRecord

SHORTEST = 6  # characters of a value that is looked for; a shorter one would be found everywhere
_CHUNK = 1 << 20
# What a program on the host needs to work at all; everything else it is given by name.
_BASIC = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "TERM"),
        *("DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"),
    )
)


def basic() -> dict[str, str]:
    """The variables of this machine that every program on the host is given."""
    return {k: v for k, v in os.environ.items() if k in _BASIC or k.startswith(("LC_", "XDG_"))}


def given(agent: str, names: Sequence[str]) -> dict[str, str]:
    """The values of variables by name; NotRunnableError says which is not set."""
    missing = [name for name in names if name not in os.environ]
    if missing:
        told = ", ".join(f"`{name}`" for name in missing)
        raise NotRunnableError(f"the agent `{agent}` is to be given {told}, which is not set here: export it first")
    return {name: os.environ[name] for name in names}


@dataclass(frozen=True)
class Redactor:
    """Takes values out of what is kept of a trial; `<NAME>` stands in their place."""

    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, agent: object) -> Redactor:
        """The redactor for the variables that an agent is given by name (its `secrets`)."""
        names: Sequence[str] = getattr(agent, "secrets", ())
        found = {name: os.environ.get(name, "") for name in names}
        long = [(name, value) for name, value in found.items() if len(value) >= SHORTEST]
        return cls(tuple(sorted(long, key=lambda pair: -len(pair[1]))))  # one may be part of another

    def text(self, text: str) -> str:
        for name, value in self.values:
            text = text.replace(value, f"<{name}>")
        return text

    def record(self, record: TrialRecord | Phase) -> None:
        """Redact every text in a record, in place."""
        if self.values:
            self._inside(record)

    def folder(self, folder: Path) -> None:
        """Redact the files below a folder; where a file is not text, the value's length is kept."""
        if not self.values:
            return
        for path in _files(folder):
            with suppress(OSError):
                self._file(path)

    def _inside(self, value: Any) -> Any:
        if isinstance(value, str) and type(value) is str:
            return self.text(value)
        if isinstance(value, list):
            value[:] = [self._inside(one) for one in value]
        elif isinstance(value, dict):
            told = {self._inside(k): self._inside(v) for k, v in value.items()}
            value.clear()
            value.update(told)
        elif is_dataclass(value) and not isinstance(value, type):
            for part in fields(value):
                old = getattr(value, part.name)
                new = self._inside(old)
                if new is not old:
                    setattr(value, part.name, new)
        return value

    def _file(self, path: Path) -> None:
        wanted = [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in self.values]
        if not _holds(path, [value for _, value in wanted]):
            return
        content = path.read_bytes()
        for name, value in wanted:
            content = content.replace(value, b"*" * len(value) if b"\0" in content else b"<" + name + b">")
        path.write_bytes(content)


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path


def _holds(path: Path, values: Sequence[bytes]) -> bool:
    """Whether one of the values stands in a file, which may be large."""
    overlap = max(map(len, values)) - 1
    before = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            window = before + chunk
            if any(value in window for value in values):
                return True
            before = window[-overlap:]
    return False


def environment_of(agent: str, names: Sequence[str], env: Mapping[str, str]) -> dict[str, str]:
    """What a program on the host is given: the basic variables, those by name, and those of the configuration."""
    return {**basic(), **given(agent, names), **env}
