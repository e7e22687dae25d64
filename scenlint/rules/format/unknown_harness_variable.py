"""A verifier that reads an environment variable which the harness never sets."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.environ import EnvRead, env_reads
from scenlint.source.python import parse as parse_python
from scenlint.source.shell import parse as parse_shell
from scenlint.source.text import Fragment
from scenlint.task.model import HarnessVariables
from scenlint.task.suggest import closest


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
                f"the harness never sets `{read.name}`, and the verifier has nothing to put in its place",
                help=_help(read.name, variables),
            )


def _reads(fragment: Fragment) -> list[EnvRead]:
    if fragment.language == "python":
        return env_reads(parse_python(fragment)).reads
    return list(_shell_reads(fragment)) if fragment.language == "shell" else []


def _unknown(read: EnvRead, variables: HarnessVariables) -> bool:
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


def _shell_reads(fragment: Fragment) -> Iterator[EnvRead]:
    """`$NAME` in a script that does not set it; `${NAME:-…}` has a default, `${NAME:?}` asks for it."""
    script = parse_shell(fragment)
    own = {a.name for a in script.assignments}
    for word in re.finditer(r"(?<![\\$])\$(?:\{([A-Z]\w*)(:?[-=+])?|([A-Z]\w*))", fragment.text):
        name = word[1] or word[3]
        if (
            name not in own
            and not word[2]
            and not fragment.text[: word.start()].rpartition("\n")[2].lstrip().startswith("#")
        ):
            span = fragment.span(word.start(word.lastindex or 0) if not word[1] else word.start(1), word.end())
            yield EnvRead(name, span, None, fallback=False)  # type: ignore[arg-type]
