"""A reference solution that reads what the verifier compares with."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import python
from scenlint.source.text import Fragment, Span
from scenlint.task.leaks import baked_answers
from scenlint.task.runs import oracle_runs

# Commands that do not open the files they name.
_BLIND = frozenset(
    {"mkdir", "echo", "printf", "cd", "rm", "touch", "chmod", "chown", "test", "[", "[[", "ls", "export"}
)


@rule(
    "oracle-reads-truth",
    "SL408",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ORACLE, Role.VERIFIER},
    refute="the path is one that the solution itself, or the brief, puts there",
)
def oracle_reads_truth(task: Task) -> Iterator[Finding]:
    found = {(span.source.path, span.line): (path, span) for path, span in reversed([*_shell(task), *_python(task)])}
    written = {r.target.pattern for run in oracle_runs(task) for r in run.command.redirects if r.writes and r.target}
    for path, span in sorted(found.values(), key=lambda f: (str(f[1].source.path), f[1].start)):
        where = _truth(task, path)
        if where is not None and path not in written:
            yield Finding.at(
                span,
                f"the solution reads `{path}`, which only the verifier has",
                help="let the solution work the result out from what the agent is given",
                related=[related(task.folder / where, "this is what it reads")] if where in task.files else [],
            )
    for given, span in baked_answers(task, [task.oracle.entry, *task.oracle.files] if task.oracle else []):
        yield Finding.at(
            span,
            f"the solution reads `{given.path}`, an answer that lies ready in the image",
            help="let the solution work the result out from what the brief names",
            related=[related(given.span, "put there here")] if given.span else [],
        )


def _shell(task: Task) -> Iterator[tuple[str, Span]]:
    for run in oracle_runs(task):
        command = run.command
        if command.program in _BLIND:
            continue
        written = {id(r.target) for r in command.redirects if r.writes}
        targets = [r.target for r in command.redirects if r.target is not None and id(r.target) not in written]
        copies = command.program in ("cp", "mv", "install", "ln", "rsync")
        # The last word of a copy is where it goes to.
        read = command.arguments[:-1] if copies else command.arguments
        yield from ((w.pattern, w.span) for w in [*read, *targets] if not w.is_option)


def _python(task: Task) -> Iterator[tuple[str, Span]]:
    texts: list[Fragment] = [f for f in task.oracle.files if f.language == "python"] if task.oracle else []
    for run in oracle_runs(task):
        texts += [f for f in (run.command.inline, run.command.heredoc) if f is not None and f.language == "python"]
    for text in texts:
        module = python.parse(text)
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
                yield node.value, module.span(node)


def _truth(task: Task, path: str) -> str | None:
    """The verifier's file or folder that a path means, relative to the task; None where it is another's."""
    verifier = task.verifier
    if verifier is None or not verifier.folder or any(path in b.prose.text for b in task.briefs):
        return None
    mount = (verifier.mount or "").rstrip("/")
    beside = re.search(rf"(?:^|/)\.\./{re.escape(verifier.folder)}(?:/(?P<inside>.*))?$", path)
    if beside:  # solution/../tests
        inside = beside["inside"] or ""
    elif mount and f"{path}/".startswith(mount + "/"):
        inside = path[len(mount) + 1 :]
    else:
        return None
    place = f"{verifier.folder}/{inside}".rstrip("/")
    return place if place in task.files or task.files.has_dir(place) or "*" in inside else None
