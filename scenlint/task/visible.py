"""Everything the agent can read before and while it works, and whether a name, path, key or number stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from scenlint.source import dockerfile, markdown
from scenlint.source.lazy import cached_property
from scenlint.source.text import Fragment, Span
from scenlint.task.finding import At
from scenlint.task.image import ARCHIVES, Given, Image, read_image
from scenlint.task.numbers import Number, find_numbers
from scenlint.task.paths import Token, find_paths, names, normal

if TYPE_CHECKING:
    from scenlint.task.model import Brief, Task

FILE_LIMIT = 1_000_000  # characters of one file that are searched
TOTAL_LIMIT = 12_000_000  # characters of all files that are searched
LINE_LIMIT = 2_000  # characters around a word that count as its line
PROSE_LIMIT = 50_000  # a longer file is data: the folders it names are no places for results
NUMBER_LIMIT = 100_000  # a longer file is data: every small number stands in it somewhere
_DATA = (".csv", ".tsv", ".jsonl", ".ndjson", ".log", ".parquet", ".npy", ".svg", ".lock")
_ALIKE = tuple(zip("’‘“”–—−\u00a0\u3000，：；（）", "''\"\"---  ,:;()", strict=True))


@dataclass(frozen=True)
class StatedPath:
    """A path-like word of a brief."""

    token: Token
    span: Span
    brief: Fragment

    @property
    def text(self) -> str:
        return self.token.text


class Text:
    """One text the agent can read, folded (lower case, straight quotes) without moving a character."""

    def __init__(self, fragment: Fragment, *, brief: bool = False, blank: tuple[Span, ...] = ()) -> None:
        self.fragment = fragment
        self.brief = brief
        text = fragment.text[:FILE_LIMIT]
        for span in blank:
            text = text[: span.start] + re.sub(r"[^\n]", " ", text[span.start : span.end]) + text[span.end :]
        folded = _alike(text)
        lower = folded.lower()
        # A few letters grow when lowered; then the case of those texts is kept.
        self.folded = lower if len(lower) == len(text) else folded

    @cached_property
    def unmarked(self) -> tuple[str, list[int]]:
        """Without Markdown's marks and escapes, and the offset of every character kept."""
        kept = [n for n, c in enumerate(self.folded) if c not in "*`\\"]
        return "".join(self.folded[n] for n in kept), kept

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return frozenset(re.findall(r"[a-z0-9_]+", self.folded))

    @cached_property
    def paths(self) -> list[Token]:
        return list(find_paths(self.fragment.text[:FILE_LIMIT]))

    def paths_with(self, word: str) -> Iterator[Token]:
        """The path-like words on the lines that hold a word; on all lines of a brief, whose paths may have holes."""
        if self.brief or not word:
            yield from self.paths
            return
        at = self.folded.find(word)
        while at >= 0:
            start = max(self.folded.rfind("\n", 0, at) + 1, at - LINE_LIMIT)
            end = self.folded.find("\n", at)
            end = min(len(self.folded) if end < 0 else end, at + LINE_LIMIT)
            for token in find_paths(self.fragment.text[start:end]):
                yield Token(token.text, start + token.start, start + token.end)
            at = self.folded.find(word, end)

    @cached_property
    def numbers(self) -> list[Number]:
        if len(self.folded) > NUMBER_LIMIT or (self.fragment.path.suffix.lower() in _DATA and not self.brief):
            return []
        return list(find_numbers(self.fragment.text))

    def find(self, hint: str, wanted: Callable[[], re.Pattern[str]]) -> Span | None:
        """Where a pattern matches; `hint` is a part of every match, which is quicker to look for."""
        if hint in self.folded and (match := wanted().search(self.folded)):
            return self.fragment.span(*match.span())
        if self.brief and hint in self.unmarked[0]:
            plain, offsets = self.unmarked
            if match := wanted().search(plain):
                return self.fragment.span(offsets[match.start()], offsets[match.end() - 1] + 1)
        return None


class Visible:
    """What the agent can read: briefs, the environment's files and their names, what the build and compose files set.

    Never the verifier's, the solution's or the metadata's text. Answers are places (true) or None. Where `opaque` says
    why, something the agent can read could not be read here: a rule that says *unstated* lowers its confidence then.
    """

    def __init__(self, task: Task, briefs: list[Brief] | None = None) -> None:
        self.task = task
        self.briefs = [b.prose for b in (task.briefs if briefs is None else briefs)]
        self._mentions: dict[tuple[str, bool], At | None] = {}
        self._paths: dict[str, At | None] = {}

    def until(self, step: str | None) -> Visible:
        """What is visible up to a step of a multi-step task: later briefs are not."""
        steps = [b.step for b in self.task.briefs]
        if step not in steps:
            return self
        until = self.task.briefs[: steps.index(step) + 1]
        return self.task.memo(("visible until", step), lambda: Visible(self.task, until))

    @property
    def image(self) -> Image:
        return read_image(self.task)

    def inputs(self) -> dict[str, Given]:
        """The paths that exist before the agent starts, as far as they can be known."""
        return self.image.given

    def exists(self, path: str) -> Given | None:
        """What exists at a path when the agent starts."""
        return self.image.find(path, self.workdir)

    @property
    def workdir(self) -> str | None:
        return self.task.environment.workdir if self.task.environment else None

    @cached_property
    def opaque(self) -> str:
        """Why part of what the agent sees cannot be known; "" where all of it was read."""
        return next(iter([*self.image.unlisted, *self.image.unknown, *self._unread]), "")

    @property
    def unlisted(self) -> str:
        """Why paths may exist that are not in `inputs()`; "" where all are known."""
        return next(iter(self.image.unlisted), "")

    @cached_property
    def _unread(self) -> list[str]:
        _ = self.texts
        return self._skipped

    @cached_property
    def texts(self) -> list[Text]:
        """Every text the agent can read: briefs first, then what is set for it, then files, small ones first."""
        self._skipped: list[str] = []
        texts = [Text(b, brief=True) for b in self.briefs]
        environment = self.task.environment
        if environment is None:
            return texts
        texts += [Text(f) for f in environment.inline.values()]
        from scenlint.task.model import Place

        for build in environment.builds:
            if build.place is not Place.VERIFIER:
                comments = dockerfile.parse(build.fragment, build.arguments).comments
                at_file = build.fragment.host(0) == 0
                texts.append(Text(build.fragment, blank=tuple(comments) if at_file else ()))
        texts += [Text(d.fragment) for d in environment.compose]
        return texts + list(self._files())

    def _files(self) -> Iterator[Text]:
        room = TOTAL_LIMIT
        entries = [e for f in self.image.files if (e := self.task.files.entries.get(f)) and not e.problem]
        for entry in sorted(entries, key=lambda e: e.size):
            if entry.size > room:
                self._skipped.append(f"`{entry.path}` and larger files are too big to search")
                return
            source = self.task.files.read(entry.path)
            if source is None:
                continue
            room -= min(entry.size, FILE_LIMIT)
            if source.binary and entry.size:
                kind = "archive" if entry.path.lower().endswith(ARCHIVES) else "binary file"
                self._skipped.append(f"`{entry.path}` is a {kind}")
            elif source.truncated or len(source.text) > FILE_LIMIT:
                self._skipped.append(f"`{entry.path}` was read in part only")
            # Binary files are searched too: a database or a Parquet file shows its column names.
            yield Text(Fragment.of(source, "data" if source.binary else "text"))

    @cached_property
    def names(self) -> str:
        """The names of all files and folders that exist, site names and users, one a line, folded."""
        sites = [s.name for s in self.task.sites]
        return "\n".join([*self.image.given, *sites]).lower()

    # Questions.

    def mentions(self, text: str, *, word: bool = False) -> At | None:
        """Where a text stands, letter case and white space aside; `word`: not inside a longer word."""
        asked = text, word
        if asked not in self._mentions:
            found = self._search(_hint(text), partial(_pattern, text, word)) if text.strip() else None
            self._mentions[asked] = found
        return self._mentions[asked]

    def in_brief(self, text: str, *, word: bool = False) -> At | None:
        """Like `mentions`, in the briefs only."""
        hint, wanted = _hint(text), partial(_pattern, text, word)
        return next((at for t in self.texts if t.brief and (at := t.find(hint, wanted))), None)

    def states_key(self, name: str, *, loose: bool = False) -> At | None:
        """Where a key, column or field is named; `loose`: "total amount" and "totalAmount" name `total_amount` too."""
        if at := self.mentions(name, word=True):
            return at
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name) if loose else []
        if len(parts) < 1 or not loose:
            return None
        joined = r"[\s_\-.]*".join(re.escape(p.lower()) for p in parts)
        pattern = rf"(?<![a-z0-9]){joined}s?(?![a-z0-9])"
        return self._search(max(parts, key=len).lower(), partial(re.compile, pattern))

    def states_number(self, number: float) -> At | None:
        """Where a number stands in any of its spellings: 12, 12 %, 0.12, twelve, 1,000, 1_000, 十二."""
        for text in self.texts:
            for found in text.numbers:
                if found.stands_for(float(number)) or found.stands_for(-float(number)):
                    return text.fragment.span(found.start, found.end)
        return None

    def states_path(self, path: str) -> At | None:
        """Where a path is named: /app/x, ./x, x beside its folder, with a placeholder; or where it is made to exist."""
        if path not in self._paths:
            self._paths[path] = self._named(normal(path))
        return self._paths[path]

    def _named(self, want: str) -> At | None:
        word = max(want.rpartition("/")[2].lower().split("*"), key=len)
        for text in self.texts:
            for token in text.paths_with(word):
                if names(token, want, lambda: self._stated_folders, self.workdir):
                    return text.fragment.span(token.start, token.end)
        if given := self.exists(want):
            return given.span or self.task.folder / (given.file or "")
        # A quoted name without an extension or a slash is no path-like word.
        name = want.rpartition("/")[2]
        if len(name) < 3 or "." in name or "*" in name:
            return None
        beside = want == name or want.rpartition("/")[0] in self._stated_folders
        return self.mentions(name, word=True) if beside else None

    @cached_property
    def _stated_folders(self) -> frozenset[str]:
        """Folders named in a text or existing: their paths, and the last name of relative ones."""
        found = set(self.image.folders)
        for text in self.texts:
            for token in text.paths if text.brief or len(text.folded) < PROSE_LIMIT else ():
                if token.folder or token.absolute:
                    plain = token.plain
                    found.add(plain if token.folder else plain.rpartition("/")[0])
                    if not token.absolute and token.folder:
                        found.add(plain.rpartition("/")[2])
        return frozenset(found)

    def paths(self) -> list[StatedPath]:
        """Every path-like word of the briefs."""
        return [StatedPath(t, b.span(t.start, t.end), b) for b in self.briefs for t in find_paths(b.text)]

    def documents(self) -> list[markdown.Markdown]:
        """The briefs, parsed."""
        return [markdown.parse(b) for b in self.briefs]

    def _search(self, hint: str, wanted: Callable[[], re.Pattern[str]]) -> At | None:
        for text in self.texts:
            if at := text.find(hint, wanted):
                return at
        if hint in self.names and (match := wanted().search(self.names)):
            line = self.names[self.names.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            given = next((g for p, g in self.image.given.items() if p.lower() == line), None)
            return given.span if given and given.span else self.task.folder
        return None


def _alike(text: str) -> str:
    """Curly quotes, dashes and wide marks as the plain ones."""
    if not text.isascii():
        for curly, plain in _ALIKE:
            text = text.replace(curly, plain)
    return text


def _hint(text: str) -> str:
    """The longest word of a text, folded."""
    return max(_alike(text).lower().split(), key=len, default="")


@lru_cache(maxsize=1024)
def _pattern(text: str, word: bool) -> re.Pattern[str]:
    folded = _alike(text).lower().strip()
    # A line break may stand escaped in JSON or in code.
    body = r"(?:\s|\\+n|\\+t)+".join(re.escape(part) for part in folded.split())
    return re.compile(rf"(?<![a-z0-9_]){body}(?![a-z0-9_])" if word else body)
