"""One thing that a command installs, and the argument words that the readers of this package share."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenlint.source.regex import regex
from scenlint.source.shell import Command, Word
from scenlint.source.shell.words import Expansion
from scenlint.source.text import Span

UNKNOWN = "\0"  # stands in an argument's text for what only a run would show


class Origin(StrEnum):
    """Where a package comes from."""

    INDEX = "index"  # a package index or distribution mirror
    VCS = "repository"
    URL = "address"
    LOCAL = "local path"
    MANIFEST = "manifest"  # whatever a file lists: requirements.txt, package.json, …


@dataclass(frozen=True)
class Install:
    """One package. `why` completes "`package` …" with what leaves its version open; "" where it is pinned."""

    manager: str
    package: str  # as written
    span: Span
    version: str | None = None
    why: str = ""
    origin: Origin = Origin.INDEX
    offline: bool = False  # the command is told to fetch nothing

    @property
    def pinned(self) -> bool:
        return not self.why

    @property
    def shown(self) -> str:
        """The package for a message."""
        return self.package.replace(UNKNOWN, "…")

    @property
    def fetches(self) -> bool:
        """Whether installing it needs the network."""
        return not self.offline and self.origin is not Origin.LOCAL

    @property
    def name(self) -> str:
        """The package's bare name in lower case, as an index knows it; "" where none can be told."""
        bare = re.match(r"(@[\w.-]+/)?[A-Za-z0-9][\w.-]*", self.package)
        if self.origin is Origin.INDEX and bare:
            return bare[0].lower().replace("_", "-")
        egg = re.search(
            r"[#&]egg=([\w.-]+)|^([\w.-]+)\s*(?:\[.*\])?\s*@|/([\w.-]+?)(?:\.git)?(?:@[^/]*)?$", self.package
        )
        return next((g.lower().replace("_", "-") for g in egg.groups() if g), "") if egg else ""


@dataclass(frozen=True)
class Arg:
    """One argument: its text with UNKNOWN for unknown parts, and its place."""

    text: str
    span: Span

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


def arguments(command: Command, variables: Mapping[str, str]) -> list[Arg]:
    """The words of what is run, `variables` filled in where the script itself does not set them."""
    out: list[Arg] = []
    for word in command.words:
        if word.text is not None and not word.raw.startswith("$"):
            out.append(Arg(word.text, word.span))
            continue
        for text in _texts(word, variables):
            # An unquoted variable that holds a list becomes several words.
            parts = text.split() if word.raw.startswith("$") else [text]
            out += [Arg(part, word.span) for part in parts]
    return out


def _texts(word: Word, variables: Mapping[str, str]) -> list[str]:
    if None not in word.values:
        return sorted(v for v in word.values if v is not None)
    out = ""
    for part in word.parts:
        if isinstance(part, Expansion):
            held = variables.get(part.name) if part.operator in ("", ":-", "-") else None
            out += UNKNOWN if held is None else held
        else:
            out += UNKNOWN if part is None else part
    return [out]


@dataclass
class Parsed:
    """Arguments sorted into options (each with its value, where it takes one) and the rest."""

    options: list[tuple[str, Arg | None]]
    rest: list[Arg]

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Arg]:
        return [value for name, value in self.options if name in names and value is not None]


def parse_options(args: Sequence[Arg], valued: str) -> Parsed:
    """Sort by the usual rules; `valued` are the options that take a value (`--n=v`, `--n v`, `-nv`, also clustered)."""
    takes = frozenset(valued.split())
    parsed, at = Parsed([], []), 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg.text == "--":
            parsed.rest += args[at:]
            break
        if not arg.text.startswith("-") or arg.text == "-":
            parsed.rest.append(arg)
            continue
        for name, value in _option(arg, takes):
            if value is None and name in takes and at < len(args):
                value = args[at]
                at += 1
            parsed.options.append((name, value))
    return parsed


def _option(arg: Arg, takes: frozenset[str]) -> Iterator[tuple[str, Arg | None]]:
    name, equals, value = arg.text.partition("=")
    if arg.text.startswith("--") or name in takes:
        yield name, Arg(value, arg.span) if equals else None
        return
    for n, letter in enumerate(arg.text[1:], 2):
        option = f"-{letter}"
        if option in takes:
            yield option, Arg(arg.text[n:], arg.span) if arg.text[n:] else None
            return
        yield option, None


def base_name(arg: Arg) -> str:
    return posixpath.basename(arg.text)


def is_local(text: str) -> bool:
    """Whether an argument names a file or folder rather than a package."""
    return text.startswith((".", "/", "~", "file:", f"{UNKNOWN}/")) or bool(
        re.search(r"\.(?:whl|tar\.gz|tgz|zip|deb|rpm|apk|gem|crate)$", text) and "://" not in text
    )


_COMMIT = regex(r"[0-9a-f]{7,64}", re.I)
_VERSION = regex(r"v?\d+(?:[._-]\d+)*[\w.+-]*|[\w.+/-]*[-_/.]v?\d+(?:[._]\d+)+[\w.+-]*", re.I)
_BRANCHES = frozenset(
    {"main", "master", "head", "dev", "devel", "develop", "development", "trunk", "latest", "nightly"}
)


def ref_problem(ref: str) -> str:
    """What leaves a repository's reference open; "" for a commit, a version tag, or a word that may be a tag."""
    if not ref:
        return "names no commit"
    if UNKNOWN in ref:
        return "takes its commit from a variable that nothing here sets"
    if _COMMIT.fullmatch(ref) or (_VERSION.fullmatch(ref) and ref.lower() not in _BRANCHES):
        return ""
    return f"follows the branch `{ref}`" if ref.lower().rpartition("/")[2] in _BRANCHES else ""


def url_problem(url: str) -> str:
    """What leaves a download's content open; "" where a hash, a commit or a version stands in the address."""
    if re.search(r"#(?:.*&)?(?:sha\d+|md5)=[0-9a-f]{16,}", url) or UNKNOWN in url:
        return ""
    address = url.partition("://")[2].partition("/")[2].partition("#")[0]
    if re.search(
        r"\d[._]\d|(?<![0-9a-f])[0-9a-f]{7,64}(?![0-9a-f])|[-_/@=]v?\d+[-_./]|/(?:tags|releases/download)/", address
    ):
        return ""
    return "names no version and no hash"
