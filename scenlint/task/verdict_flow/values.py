"""What the interpreter of a verifier's script knows of a value, a status and a state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from scenlint.source.shell import Command, Node
from scenlint.task.checks.facts import Place
from scenlint.task.verdict_flow.roles import Purpose


@dataclass(frozen=True)
class Mask:
    """Why a status is not that of the check: a pipe ("pipe"), a later command ("status"), `|| true` ("swallow")."""

    kind: str
    check: Command
    by: Node


@dataclass(frozen=True)
class Status:
    """An exit status. `ok` None: either, as `command` decides; `mask`: a check's outcome is lost in it."""

    ok: bool | None
    command: Command | None = None
    purpose: Purpose = Purpose.OUTPUT
    key: tuple[int, ...] = ()
    mask: Mask | None = None
    code: str | None = None


@dataclass(frozen=True)
class Value:
    """A text. `text` None: unknown; `status`: it is that exit status; `purpose`: what it depends on."""

    text: str | None = None
    status: Status | None = None
    purpose: Purpose = Purpose.OPEN
    source: Node | Place | None = None  # what wrote it
    maker: Command | None = None  # the program whose output it is
    sure: bool = True  # False: it may not have been written at all

    def plus(self, other: Value) -> Value:
        if self.text is not None and other.text is not None:
            return Value(self.text + other.text, source=other.source or self.source, sure=self.sure)
        if self.text == "" and other.sure:
            return other
        known = [v for v in (self, other) if v.text is None]
        purpose = next((v.purpose for v in known if v.purpose is Purpose.CHECK), known[0].purpose)
        # A line end behind a program's output leaves it that.
        maker = self.maker if other.text is not None and not other.text.strip() else None
        return Value(purpose=purpose, source=other.source or self.source, maker=maker, sure=self.sure or other.sure)


EMPTY = Value("")
MOST_WAYS = 48
Way = dict[tuple[int, ...], tuple[int, Purpose]]  # decision -> what was chosen, and what it depends on


@dataclass
class Trap:
    """What runs when the script ends (or a command fails)."""

    command: Command


@dataclass(frozen=True)
class Use:
    """A status that decided something although a check's outcome is lost in it. `explicit`: it was asked for."""

    mask: Mask
    at: Node
    explicit: bool


@dataclass
class State:
    """One path through the script, so far."""

    variables: dict[str, Value] = field(default_factory=dict)
    files: dict[str, Value] = field(default_factory=dict)
    status: Status = Status(True)
    errexit: bool = False
    pipefail: bool = False
    cwd: str | None = None
    exit_trap: Trap | None = None
    error_trap: Trap | None = None
    arguments: tuple[Value, ...] = ()
    pipe: tuple[Status, ...] = ()
    signal: str = ""  # "exit", "return", "break", "continue"
    ended_by: Node | None = None
    crash: Place | None = None  # where a program broke off before it wrote the verdict
    ways: list[Way] = field(default_factory=lambda: [{}])  # the decisions that lead here, one or the other
    uses: frozenset[Use] = frozenset()
    swallowed: frozenset[Mask] = frozenset()
    checks: frozenset[Command] = frozenset()
    unread: Command | None = None

    def copy(self, **changes: object) -> State:
        made = replace(self, **changes)  # type: ignore[arg-type]
        made.variables, made.files, made.ways = dict(self.variables), dict(self.files), list(self.ways)
        return made

    def key(self) -> tuple[object, ...]:
        """Equal for states that behave alike from here on."""
        return (
            frozenset(self.variables.items()),
            frozenset(self.files.items()),
            self.status,
            self.errexit,
            self.pipefail,
            self.cwd,
            id(self.exit_trap and self.exit_trap.command),
            id(self.error_trap and self.error_trap.command),
            self.arguments,
            self.signal,
            self.unread,
            self.crash,
        )

    def decide(self, key: tuple[int, ...], choice: int, purpose: Purpose) -> bool:
        """Take a decision; False where every way here has taken another one."""
        self.ways = [{**way, key: (choice, purpose)} for way in self.ways if way.get(key, (choice,))[0] == choice]
        return bool(self.ways)

    def merge(self, other: State) -> None:
        """Take in a state that behaves alike."""
        self.ways += [way for way in other.ways if way not in self.ways]
        if len(self.ways) > MOST_WAYS:
            self.ways = [_common(self.ways)]
        self.uses |= other.uses
        self.swallowed |= other.swallowed
        self.checks |= other.checks

    def leads_from(self, other: State, *purposes: Purpose) -> Iterator[Way]:
        """The ways here that agree with a way to the other state on every decision that depends on these purposes."""
        for way in self.ways:
            if any(_agree(way, another, purposes) for another in other.ways):
                yield way

    def compatible(self, other: State, *purposes: Purpose) -> bool:
        return any(True for _ in self.leads_from(other, *purposes))


def _agree(one: Way, other: Way, purposes: tuple[Purpose, ...]) -> bool:
    return all(other.get(key, (choice,))[0] == choice for key, (choice, purpose) in one.items() if purpose in purposes)


def _common(ways: list[Way]) -> Way:
    return {key: taken for key, taken in ways[0].items() if all(way.get(key) == taken for way in ways)}
