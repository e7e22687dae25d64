"""What the interpreter of a verifier's script knows of a value, a status and a state."""

from __future__ import annotations

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
    decisions: dict[tuple[int, ...], tuple[int, Purpose]] = field(default_factory=dict)
    uses: frozenset[Use] = frozenset()
    swallowed: frozenset[Mask] = frozenset()
    checks: frozenset[Command] = frozenset()
    unread: Command | None = None

    def copy(self, **changes: object) -> State:
        made = replace(self, **changes)  # type: ignore[arg-type]
        made.variables, made.files, made.decisions = dict(self.variables), dict(self.files), dict(self.decisions)
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

    def merge(self, other: State) -> None:
        """Take in a state that behaves alike: only what both decided alike stays decided."""
        self.decisions = {k: v for k, v in self.decisions.items() if other.decisions.get(k) == v}
        self.uses |= other.uses
        self.swallowed |= other.swallowed
        self.checks |= other.checks

    def compatible(self, other: State, *purposes: Purpose) -> bool:
        """Whether two paths agree on every decision that depends on one of these purposes."""
        return all(
            key not in other.decisions or other.decisions[key][0] == choice
            for key, (choice, purpose) in self.decisions.items()
            if purpose in purposes
        )
