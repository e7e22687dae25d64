"""Command lines of `docker` taken apart: the options that verifiers may use, and a refusal of every other one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# Options of each command with their letters; those that take a value end with `=`.
_OPTIONS = {
    "exec": {"interactive": "i", "tty": "t", "detach": "d", "env=": "e", "user=": "u", "workdir=": "w"},
    "cp": {"archive": "a", "follow-link": "L", "quiet": "q"},
    "inspect": {"size": "s", "format=": "f", "type=": ""},
    "logs": {"timestamps": "t", "details": "", "tail=": "n", "since=": "", "until=": ""},
    "ps": {"all": "a", "quiet": "q", "no-trunc": "", "format=": "", "filter=": "f"},
    "port": dict[str, str](),
}
COMMANDS = tuple(_OPTIONS)


class Refused(Exception):  # noqa: N818
    """Something that this docker does not do."""


@dataclass
class Words:
    """A command line: what is no option, options that stand alone, and options with values."""

    plain: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)

    def last(self, name: str, default: str = "") -> str:
        return self.values.get(name, [default])[-1]


def read(command: str, words: Sequence[str]) -> Words:
    """The words after `docker COMMAND`. Of `exec`, what follows the container is left alone: it is the program's."""
    out, rest = Words(), iter(words)
    for word in rest:
        if word != "-" and word.startswith("-") and word != "--":
            for name, value in _options(command, word, rest):
                if value is None:
                    out.flags.add(name)
                else:
                    out.values.setdefault(name, []).append(value)
        else:
            out.plain += [] if word == "--" else [word]
            if command == "exec" or word == "--":
                out.plain += rest
    return out


def _options(command: str, word: str, rest: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    known = _OPTIONS[command]
    letters = {letter: name for name, letter in known.items() if letter}
    if word.startswith("--"):
        name, has_value, value = word[2:].partition("=")
        if f"{name}=" in known:
            yield name, value if has_value else next(rest, "")
        elif name not in known:
            raise Refused(f"`docker {command} --{name}` is not for verifiers")
        elif value not in ("false", "0"):
            yield name, None
        return
    for n, letter in enumerate(word[1:], 2):
        name = letters.get(letter, "")
        if not name:
            raise Refused(f"`docker {command} -{letter}` is not for verifiers")
        if name.endswith("="):
            yield name[:-1], word[n:].removeprefix("=") or next(rest, "")
            return
        yield name, None
