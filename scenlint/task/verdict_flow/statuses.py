"""Exit statuses: whose they are, what a pipe or `|| true` makes of them, and states that need not be told apart."""

from __future__ import annotations

from collections.abc import Iterable

from scenlint.source.shell import Command, Node, Pipeline
from scenlint.task.verdict_flow.roles import Purpose, is_runner
from scenlint.task.verdict_flow.values import Mask, State, Status

MOST_STATES = 96


class TooManyPathsError(Exception):
    """The script has more paths than are worth following."""


def turned(state: State) -> State:
    status = state.status
    if not state.signal and status.ok is not None:
        state.status = Status(not status.ok, status.command, status.purpose, status.key, status.mask)
    elif not state.signal:
        state.status = Status(None, status.command, status.purpose, (-1, *status.key))
    return state


def swallow(state: State, check: Command, by: Node, out: str) -> None:
    """Behind `check || true` the check's failure shows in nothing."""
    if not isinstance(by, Command) or not is_runner(check) or not state.status.ok:
        return
    kept = out or any(r.writes for r in by.redirects)
    idle = by.program in ("true", ":") or (by.program in ("echo", "printf") and not kept)
    if idle or (by.program in ("exit", "return") and state.signal):
        mask = Mask("swallow", check, by)
        state.status = Status(True, state.status.command, Purpose.OUTPUT, mask=mask)
        state.swallowed |= {mask}


def pipe_status(node: Pipeline, statuses: tuple[Status, ...], pipefail: bool) -> Status:
    last = statuses[-1]
    checks = [s.command for s in statuses[:-1] if s.purpose is Purpose.CHECK and s.command and is_runner(s.command)]
    if pipefail:
        failed = next((s for s in reversed(statuses) if s.ok is False), None)
        undecided = sorted((s for s in statuses if s.ok is None), key=lambda s: s.purpose is not Purpose.CHECK)
        return failed or next(iter(undecided), last)
    if not checks or last.mask is not None:
        return last
    if last.purpose is Purpose.CHECK or last.command is None:
        return last
    return Status(True, last.command, Purpose.OUTPUT, mask=Mask("pipe", checks[-1], node))


def asked(state: State, status: Status) -> Status:
    """A status that `$?` is asked for: if it is that of mere output, a check before it goes unread."""
    if status.mask is None and status.ok and status.purpose is Purpose.OUTPUT and state.unread and status.command:
        mask = Mask("status", state.unread, status.command)
        return Status(True, status.command, Purpose.OUTPUT, mask=mask)
    return status


def split(state: State, status: Status) -> list[State]:
    """The states in which an open status is success and failure."""
    key, turned = status.key, status.key[:1] == (-1,)
    base = key[1:] if turned else key
    out = []
    for choice in (True, False):
        branch = state.copy()
        if branch.decide(base, choice != turned, status.purpose):
            branch.status = Status(choice, status.command, status.purpose, key)
            out.append(branch)
    return out


def merged(states: Iterable[State]) -> list[State]:
    """The states, those that behave alike as one."""
    out: dict[tuple[object, ...], State] = {}
    for state in states:
        key = state.key()
        if key in out:
            out[key].merge(state)
        else:
            out[key] = state
        if len(out) > MOST_STATES:
            raise TooManyPathsError
    return list(out.values())
