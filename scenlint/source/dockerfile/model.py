"""What a Dockerfile is once it is read: stages, what they inherit from each other, and their instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from scenlint.source.dockerfile.words import MARKER, Word, absolute, expand
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span

_FROM = regex(r"(?:^|,)from=(?P<name>[^,]+)")


@dataclass(frozen=True)
class Heredoc:
    """A here-document: its name, whether variables in it stay as they are, and its text."""

    name: str
    literal: bool
    content: Fragment


@dataclass
class Instruction:
    """One instruction. `words` are its arguments; a RUN, CMD, ENTRYPOINT or HEALTHCHECK has `scripts` instead."""

    keyword: str
    span: Span
    stage: Stage
    flags: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    argv: list[Word] | None = None  # exec form
    scripts: list[Fragment] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    onbuild: bool = False
    user: str | None = None  # in force where the instruction stands, as are the next two
    workdir: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def flag(self, name: str) -> Word | None:
        """The value of `--name=…`, the last one where it is given again."""
        return next((word for flag, word in reversed(self.flags) if flag == name), None)

    @property
    def origins(self) -> list[Word]:
        """What `--from=` and `--mount=…,from=` name: a stage, a context or an image."""
        out = []
        for flag, word in self.flags:
            named = _FROM.search(word.raw) if flag == "mount" else None
            if flag == "from":
                out.append(word)
            elif named:
                begin, end = named.span("name")
                place = replace(word.span, start=word.span.start + begin, end=word.span.start + end)
                out.append(Word(named["name"], expand(named["name"], self.variables), place))
        return out

    @property
    def local(self) -> bool:
        """COPY and ADD: whether it copies from the build context."""
        return self.flag("from") is None

    @property
    def sources(self) -> list[Word]:
        """COPY and ADD: what is copied, here-documents excluded."""
        return [w for w in self.words[:-1] if not MARKER.match(w.raw)]

    @property
    def destination(self) -> str | None:
        """COPY and ADD: where it goes, absolute where that is known; ends in `/` where it must be a folder."""
        target = self.words[-1].text if self.words else None
        return None if target is None else absolute(target, self.workdir)


@dataclass
class Stage:
    """One build stage. The states are those at its end, what it takes over from its base stage included."""

    index: int
    span: Span
    base: Word
    parent: Stage | None = None  # the earlier stage that it is built on
    name: str | None = None
    platform: Word | None = None
    instructions: list[Instruction] = field(default_factory=list)
    user: str | None = None
    workdir: str | None = None
    shell: tuple[str, ...] = ("/bin/sh", "-c")
    variables: dict[str, str] = field(default_factory=dict)  # ENV and ARG
    environment: set[str] = field(default_factory=set)  # the names that ENV set: these last after the build

    def chain(self) -> Iterator[Stage]:
        """This stage and those it is built on, this one first."""
        stage: Stage | None = self
        while stage is not None:
            yield stage
            stage = stage.parent

    @property
    def root(self) -> Stage:
        """The stage whose base is an image."""
        return list(self.chain())[-1]

    @property
    def history(self) -> list[Instruction]:
        """Every instruction that makes this stage, base stages first."""
        return [i for stage in reversed(list(self.chain())) for i in stage.instructions]


@dataclass
class Dockerfile:
    """A parsed Dockerfile."""

    fragment: Fragment
    stages: list[Stage] = field(default_factory=list)
    directives: dict[str, str] = field(default_factory=dict)
    comments: list[Span] = field(default_factory=list)
    problems: list[tuple[Span, str]] = field(default_factory=list)  # what was not analysed, and why

    def stage(self, name: str) -> Stage | None:
        """The stage of that name or number."""
        return next((s for s in self.stages if name and (s.name == name.lower() or str(s.index) == name)), None)

    def final(self, target: str | None = None) -> Stage | None:
        """The stage that becomes the image."""
        return self.stage(target) if target else self.stages[-1] if self.stages else None

    def used(self, target: str | None = None) -> list[Stage]:
        """The final stage and every stage that it is built on, copies from or mounts, in the file's order."""
        final, seen = self.final(target), dict[int, Stage]()
        waiting = [final] if final else []
        while waiting:
            stage = waiting.pop()
            if stage.index in seen:
                continue
            seen[stage.index] = stage
            named = [word.text or "" for i in stage.instructions for word in i.origins]
            waiting += [s for s in (stage.parent, *map(self.stage, named)) if s]
        return [seen[n] for n in sorted(seen)]
