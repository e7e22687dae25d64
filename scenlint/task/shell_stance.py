"""Which outcome of a shell test the script wants: read from what it does in the branches and behind `&&` and `||`."""

from __future__ import annotations

from scenlint.source import shell
from scenlint.source.regex import regex
from scenlint.source.shell import AndOr, Command, If, Node
from scenlint.task.checks.model import Check
from scenlint.task.stance import Stance

_NAMES = r"\b(?:reward|score|ok|pass(?:ed)?)="
_FAILS = regex(
    rf"\b(?:exit|return) [1-9]|\bfail|\bFAIL|\bfalse\b|\b(?:echo|printf) [\"']?0(?:\.0)?\b[^\n]*>|{_NAMES}[\"']?0\b"
)
_PASSES = regex(
    r"\b(?:exit|return) 0|\bpass|\bPASS|\+\+|\+= ?1|\+ ?1\b|"
    rf"\b(?:echo|printf) [\"']?1(?:\.0)?\b[^\n]*>|{_NAMES}[\"']?1\b"
)


def shell_stance(check: Check) -> Stance:
    """The stance towards a command's success, or towards its failure where it stands behind a `!`."""
    parsed = shell.parse(check.fragment)
    command = next(
        (c for c in parsed.commands if (c.span.start, c.span.end) == (check.span.start, check.span.end)), None
    )
    return _stance(command) if command is not None else Stance.WANTED


def _stance(command: Command) -> Stance:
    node: Node = command
    for above in command.ancestors():
        if isinstance(above, AndOr):
            at = next((n for n, item in enumerate(above.items) if item is node), None)
            if at is not None and at + 1 < len(above.items):
                follows = _verdict(above.items[at + 1])
                if follows is not None:
                    return Stance.WANTED if follows is (above.operators[at] == "&&") else Stance.UNWANTED
        elif isinstance(above, If):
            for condition, body in above.branches:
                if condition is node:
                    then = _verdict(body)
                    other = _verdict(above.orelse) if above.orelse is not None else None
                    if then is None and other is None:
                        return Stance.OPEN
                    return Stance.WANTED if then or (then is None and other is False) else Stance.UNWANTED
        node = above
    return Stance.WANTED


def _verdict(node: Node) -> bool | None:
    """Whether a statement says pass or fail; None where it says neither, or both."""
    fails, passes = bool(_FAILS.search(node.span.text)), bool(_PASSES.search(node.span.text))
    return None if fails is passes else passes
