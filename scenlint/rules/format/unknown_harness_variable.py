"""A verifier that reads an environment variable which the harness never sets."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.environ import EnvRead, env_reads
from scenlint.source.python import parse as parse_python
from scenlint.source.regex import regex
from scenlint.source.shell import parse as parse_shell
from scenlint.source.text import Fragment, Span
from scenlint.task.model import HarnessVariables
from scenlint.task.suggest import closest

# `$NAME`, `${NAME}` and `${NAME:?}` ask for it; `${NAME:-…}` and `${NAME:+…}` do without.
_EXPANSION = regex(r"(?<![\\$])\$(?:\{(?P<name>[A-Z]\w*)(?P<operator>:?[-=+])?|(?P<bare>[A-Z]\w*))")


_NOTHING = "the verifier has nothing to put in its place"
_GUESSED = "the name that the verifier makes up instead is no container's"


@rule(
    "unknown-harness-variable",
    "SL109",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER, Role.ENVIRONMENT},
    refute="whoever starts the harness exports the variable, and the task says so",
)
def unknown_harness_variable(task: Task) -> Iterator[Finding]:
    variables = task.environment.variables if task.environment else None
    if variables is None or task.verifier is None:
        return
    reported: set[str] = set()
    for fragment in task.verifier.files:
        for read in _reads(fragment):
            if read.name in reported or not _unknown(read, variables):
                continue
            reported.add(read.name)
            yield Finding.at(
                read.span,
                f"the harness never sets `{read.name}`, and {_GUESSED if read.guessed else _NOTHING}",
                help=_help(read.name, variables),
            )


class _Read(NamedTuple):
    name: str
    span: Span
    fallback: bool
    empty: bool
    guessed: bool = False


def _reads(fragment: Fragment) -> Iterator[_Read]:
    if fragment.language == "python":
        for read in env_reads(parse_python(fragment)).reads:
            guessed = _guessed(read)
            yield _Read(read.name, read.span, read.fallback and not guessed, read.empty, guessed)
    elif fragment.language == "shell":
        own = {assignment.name for assignment in parse_shell(fragment).assignments}
        for found in _EXPANSION.finditer(fragment.text):
            name, operator = found["name"] or found["bare"], found["operator"]
            line = fragment.text[: found.start()].rpartition("\n")[2]
            if name not in own and not line.lstrip().startswith("#"):
                at = found.start("name" if found["name"] else "bare")
                yield _Read(name, fragment.span(at, at + len(name)), operator is not None, False)


def _guessed(read: EnvRead) -> bool:
    """Whether a container's name is made up where the variable is not set: `name + "-db"`."""
    default = read.node.args[1] if isinstance(read.node, ast.Call) and len(read.node.args) > 1 else None
    return read.name.endswith("_CONTAINER") and isinstance(default, ast.BinOp | ast.JoinedStr)


def _unknown(read: _Read, variables: HarnessVariables) -> bool:
    if read.fallback or read.name in variables.given or read.name in variables.available:
        return False
    # An empty default serves for a flag, not for the address of something.
    if read.empty and not re.search(r"_(?:PORT|CONTAINER)$", read.name):
        return False
    return re.fullmatch(variables.pattern, read.name) is not None


def _help(name: str, variables: HarnessVariables) -> str:
    stem = name.removesuffix("_DB_CONTAINER")
    if stem != name and f"{stem}_CONTAINER" in variables.given:
        return f"this application has no database container; use `{stem}_CONTAINER`"
    near = closest(name, variables.given)
    known = ", ".join(f"`{n}`" for n in sorted(variables.given))
    return f"did you mean `{near[0]}`?" if near else f"the harness sets {known or 'no variable by name'}"
