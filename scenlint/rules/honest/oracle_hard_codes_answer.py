"""A reference solution that only writes down the answer, so that nothing shows how it can be found."""

import ast
import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import python, shell
from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.source.text import Fragment, Span
from scenlint.task.asserted import asserted, says
from scenlint.task.model import Oracle

# Commands that find nothing out.
_IDLE = frozenset([
    "cat", "cd", "chmod", "chown", "echo", "exit", "export", "mkdir", "printf", "rm", "set", "sleep", "tee", "touch",
    "true", ":", "[", "[[", "ls", "pwd", "test", "trap", "umask", "wc", "sync", "cp", "mv",
])  # fmt: skip
# Python's ways to write something down.
_WRITES = regex(
    r"(?:.*\.)?(?:open|write|write_text|dump|dumps|mkdir|makedirs|print|Path|close|writelines|join|exists|dirname)"
)
_DATA = regex(r"(?:[^.]+|.*\.(?:txt|json|jsonl|csv|tsv|md|out|dat|log))")  # the name of a file that holds an answer

_LARGEST = 200_000  # characters of a file that is compared
_LONG = 8  # characters of a line that two texts share by more than chance


@rule(
    "oracle-hard-codes-answer",
    "SL409",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.ORACLE, Role.VERIFIER},
    aliases=["hardcoded-solution"],
    refute="what the solution writes is the work itself (a text, a setting), or the brief states it",
)
def oracle_hard_codes_answer(task: Task) -> Iterator[Finding]:
    oracle = task.oracle
    if oracle is None or oracle.entry.language != "shell":
        return
    written = list(_written(oracle))
    if not written:
        return
    expected = _expected(task)
    for text, span in written:
        found = next((v for v in expected if says(text, v)), None)
        if found is not None:
            yield Finding.at(
                span,
                f"the solution only writes down what the verifier expects (`{_short(found)}`), it does not find it out",
                help="let it work the answer out from what the agent is given, so that the oracle shows it can be done",
                related=[related(expected[found], "expected here")],
            )
            return


def _expected(task: Task) -> dict[str, Span]:
    """What the verifier compares with, and the longer lines of the texts in its code, unless the brief states them."""
    out = asserted(task)
    told = "\n".join(b.prose.text for b in task.briefs)
    for fragment in task.verifier.code("python") if task.verifier else []:
        module = python.parse(fragment)
        for node in module.nodes:
            # A literal that stands alone is a comment.
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and not isinstance(module.parent(node), ast.Expr)
            ):
                for line in _telling(node.value.splitlines(), told):
                    out.setdefault(line, module.span(node))
    for source in (task.files.read(path) for path in (task.verifier.truth if task.verifier else [])):
        if source is not None and not source.binary and len(source.text) < _LARGEST:
            for line in _telling(re.split(r"[\n,]|\"?[]{}[:]+\s*\"?", source.text), told):
                out.setdefault(line, source.lines(1))
    return out


def _telling(lines: list[str], told: str) -> Iterator[str]:
    """The lines that are long enough to be shared by more than chance and that are no names or paths."""
    for line in (text.strip(' \t\r"') for text in lines):
        if len(line) >= _LONG and re.search(r"[^\w./-]|\d", line) and line not in told and not line.startswith("/"):
            yield line


def _written(oracle: Oracle) -> Iterator[tuple[str, Span]]:
    """The texts that a script which does nothing else writes into files; none where it does more than that."""
    out: list[tuple[str, Span]] = []
    files = {f.path.name: f for f in oracle.files if f.language == "python"}
    for command in shell.parse(oracle.entry).commands:
        if command.in_substitution or any(w.text is None for w in command.arguments):
            return
        script = files.get(posixpath.basename(command.script_word.pattern)) if command.script_word else None
        codes = (command.inline, command.heredoc, script)
        code = next((c for c in codes if c is not None and c.language == "python"), None)
        if code is not None:
            inside = _python(code)
            if inside is None:
                return
            out += inside
        elif command.argv and command.program not in _IDLE:
            return
        elif target := _target(command):
            if not _DATA.fullmatch(posixpath.basename(target)):
                return
            stages = command.pipeline.items if command.pipeline else [command]
            words = [w.text or "" for c in stages if isinstance(c, Command) for w in c.arguments]
            out.append((command.heredoc.text if command.heredoc else " ".join(words), command.span))
    yield from out


def _target(command: Command) -> str:
    """The file that a command writes what it is given into."""
    into = [r.target.pattern for r in command.redirects if r.writes and r.target]
    if command.program == "tee":
        into += [w.pattern for w in command.arguments if not w.is_option]
    return (
        into[0]
        if into and not into[0].startswith("/dev/") and command.program in ("cat", "echo", "printf", "tee")
        else ""
    )


def _python(code: Fragment) -> list[tuple[str, Span]] | None:
    """The literals of a program that only writes; None where it does more."""
    module = python.parse(code)
    if module.fault is not None or any(
        isinstance(n, ast.For | ast.While | ast.FunctionDef | ast.BinOp) for n in module.nodes
    ):
        return None
    for node in module.nodes:
        if isinstance(node, ast.Call) and not _WRITES.fullmatch(ast.unparse(node.func)):
            return None
    constants = [n for n in module.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str | int | float)]
    return [(str(n.value), module.span(n)) for n in constants]


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "…"
