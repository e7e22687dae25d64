"""Shell scripts as statements with positions: `parse(fragment)` gives a Script."""

from scenlint.source.shell.build import parse
from scenlint.source.shell.model import (
    AndOr,
    Assignment,
    Case,
    Command,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Sequence,
)
from scenlint.source.shell.run import language_of
from scenlint.source.shell.script import Option, Script, last_status
from scenlint.source.shell.words import Word

__all__ = [
    "AndOr",
    "Assignment",
    "Case",
    "Command",
    "Function",
    "If",
    "Loop",
    "Node",
    "Option",
    "Pipeline",
    "Redirect",
    "Script",
    "Sequence",
    "Word",
    "language_of",
    "last_status",
    "parse",
]
