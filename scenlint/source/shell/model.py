"""What a shell script is made of: redirects, commands and the compound statements around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenlint.source.lazy import cached_property
from scenlint.source.shell.words import Word
from scenlint.source.text import Fragment, Span

if TYPE_CHECKING:
    from scenlint.source.shell.script import Script


@dataclass(frozen=True)
class Redirect:
    """`op` as written (`>`, `>>`, `>&`, `&>`, `<`, …), `fd` where one is given."""

    op: str
    fd: int | None
    target: Word | None
    span: Span

    @property
    def writes(self) -> bool:
        """Whether it sends output into a file (a copy of another descriptor is none)."""
        copy = self.op == ">&" and self.target is not None and self.target.pattern.isdigit()
        return self.op in (">", ">>", ">|", "&>", "&>>", ">&") and self.target is not None and not copy


@dataclass(frozen=True)
class Assignment:
    """`name=value`; `command` is the statement it stands in, `substitution` what a `$(…)` in the value runs."""

    name: str
    value: Word | None
    span: Span
    command: Command
    substitution: Node | None = None


@dataclass(frozen=True)
class Document:
    """A here-document's text and pieces; `literal`: its marker is quoted, so the shell expands nothing in it."""

    text: str
    pieces: list[tuple[int, int]]
    literal: bool


@dataclass(eq=False)
class Node:
    """A statement. Offsets count in `fragment`; `inner` holds what its own `$(…)`, backquotes and `<(…)` run."""

    fragment: Fragment = field(repr=False)
    start: int
    end: int
    redirects: list[Redirect] = field(default_factory=list, kw_only=True)
    document: Document | None = field(default=None, kw_only=True, repr=False)
    herestring: Word | None = field(default=None, kw_only=True)
    negated: bool = field(default=False, kw_only=True)
    background: bool = field(default=False, kw_only=True)
    inner: list[Node] = field(default_factory=list, kw_only=True, repr=False)
    parent: Node | None = field(default=None, kw_only=True, repr=False)
    script: Script = field(init=False, repr=False)

    @property
    def span(self) -> Span:
        return self.fragment.span(self.start, self.end)

    @cached_property
    def heredoc(self) -> Fragment | None:
        """Its here-document, in the language of the program that reads it ("text" where it is none that runs code)."""
        if self.document is None:
            return None
        from scenlint.source.shell.run import language_of

        language = (language_of(self.program) if isinstance(self, Command) and not self.script_word else None) or "text"
        return self.fragment.derive(self.document.text, language, self.document.pieces)

    def parts(self) -> Iterator[Node]:
        """The statements directly inside it, substitutions excluded."""
        return iter(())

    def walk(self) -> Iterator[Node]:
        """Itself and everything inside it, substitutions first because they run first."""
        for node in self.inner:
            yield from node.walk()
        yield self
        for node in self.parts():
            yield from node.walk()

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def commands(self) -> list[Command]:
        return [n for n in self.walk() if isinstance(n, Command)]


@dataclass(eq=False)
class Sequence(Node):
    """Statements one after the other; a group in braces or parentheses is one too."""

    items: list[Node] = field(default_factory=list)
    subshell: bool = False

    def parts(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(eq=False)
class AndOr(Node):
    """`a && b || c`: `operators[n]` stands between items n and n+1; the shell reads them from left to right."""

    items: list[Node] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)

    def parts(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(eq=False)
class Pipeline(Node):
    items: list[Node] = field(default_factory=list)

    def parts(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(eq=False)
class If(Node):
    """`branches` are (condition, body) of `if` and every `elif`."""

    branches: list[tuple[Sequence, Sequence]] = field(default_factory=list)
    orelse: Sequence | None = None

    def parts(self) -> Iterator[Node]:
        for condition, body in self.branches:
            yield condition
            yield body
        if self.orelse is not None:
            yield self.orelse


@dataclass(eq=False)
class Case(Node):
    """`branches` are (patterns, body)."""

    word: Word | None = None
    branches: list[tuple[list[Word], Sequence]] = field(default_factory=list)

    @property
    def exhaustive(self) -> bool:
        return any(p.raw == "*" for patterns, _ in self.branches for p in patterns)

    def parts(self) -> Iterator[Node]:
        return (body for _, body in self.branches)


@dataclass(eq=False)
class Loop(Node):
    """`for`, `while`, `until` or `select`."""

    kind: str = "for"
    condition: Sequence | None = None
    variable: str | None = None
    words: list[Word] = field(default_factory=list)
    body: Sequence | None = None

    def parts(self) -> Iterator[Node]:
        return (n for n in (self.condition, self.body) if n is not None)


@dataclass(eq=False)
class Function(Node):
    name: str = ""
    body: Sequence | None = None

    def parts(self) -> Iterator[Node]:
        return iter([self.body] if self.body else [])


@dataclass(eq=False)
class Command(Node):
    """A simple command; an assignment alone (no argv); `[ … ]`, `[[ … ]]`, `(( … ))` (argv[0] is `[`, `[[`, `((`)."""

    argv: list[Word] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)

    @property
    def name(self) -> str | None:
        """The command as written, None where it is no constant."""
        return self.argv[0].text if self.argv else None

    @cached_property
    def words(self) -> list[Word]:
        """argv of what is run once `sudo`, `env`, `timeout` and their like are looked through."""
        from scenlint.source.shell.run import unwrap

        return unwrap(self.argv)

    @property
    def program(self) -> str | None:
        """The base name of what is run, wrappers looked through."""
        text = self.words[0].text if self.words else None
        return text.rpartition("/")[2] if text else None

    @cached_property
    def tool_words(self) -> list[Word]:
        """Like `words`, with `python -m`, `uv run`, `uvx`, `npx` and their like looked through as well."""
        from scenlint.source.shell.run import unlaunch

        return unlaunch(self.words)

    @property
    def tool(self) -> str | None:
        """`pytest` for `uvx --with x pytest==8 -q`, `python -m pytest` and `pytest` alike."""
        text = self.tool_words[0].text if self.tool_words else None
        return text.rpartition("/")[2].partition("==")[0].partition("@")[0] if text else None

    @cached_property
    def script_word(self) -> Word | None:
        """The script file that is run: an interpreter's argument, what `source` reads, or a path run directly."""
        from scenlint.source.shell.run import script_word

        return script_word(self.words)

    @cached_property
    def inline(self) -> Fragment | None:
        """The code given on the command line: `python -c`, `bash -c`, `node -e`, `eval`, and the action of a `trap`."""
        from scenlint.source.shell.run import inline

        return inline(self)

    @property
    def arguments(self) -> list[Word]:
        """What follows the program in `words`."""
        return self.words[1:]

    @property
    def function(self) -> str | None:
        """The function it is written in."""
        return next((n.name for n in self.ancestors() if isinstance(n, Function)), None)

    @property
    def pipeline(self) -> Pipeline | None:
        """The pipeline it is a stage of."""
        return self.parent if isinstance(self.parent, Pipeline) else None

    @property
    def position(self) -> int:
        """Its stage in the pipeline, 0 outside one."""
        return self.pipeline.items.index(self) if self.pipeline else 0

    @property
    def in_substitution(self) -> bool:
        node: Node = self
        for above in self.ancestors():
            if any(node is n for n in above.inner):
                return True
            node = above
        return False

    @property
    def in_condition(self) -> bool:
        """Whether it is tested (by if or while, `!`, or from the left of `&&`, `||`), so that `set -e` spares it."""
        node: Node = self
        if self.negated:
            return True
        for above in self.ancestors():
            if isinstance(above, If) and any(node is c for c, _ in above.branches):
                return True
            if isinstance(above, Loop) and node is above.condition:
                return True
            if isinstance(above, AndOr) and node is not above.items[-1]:
                return True
            if above.negated:
                return True
            if any(node is n for n in above.inner):
                return False
            node = above
        return False

    @property
    def followed_by(self) -> tuple[str, Node] | None:
        """The operator after it (or after the pipeline that it is a stage of) and what stands behind it: `|| true`."""
        node: Node = self.pipeline or self
        above = node.parent
        if not isinstance(above, AndOr):
            return None
        at = next(n for n, item in enumerate(above.items) if item is node)
        return (above.operators[at], above.items[at + 1]) if at + 1 < len(above.items) else None
