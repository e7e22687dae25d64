"""The brief names the test files, the file of the verdict, or the reference solution."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.regex import regex
from scenlint.task.model import Verifier
from scenlint.task.paths import Token, find_paths

_GENERIC = regex(r"(?:test|tests|solve|solution|run|main|check|verify|conftest|__init__|setup|utils|helpers?)\.\w+")
_MAKES = regex(
    r"\b(?:creat|writ|implement|add|sav|produc|generat|provid|put|updat|edit|modif|fix|complet)\w*\b[^.\n]*$", re.I
)


@rule(
    "brief-reveals-verifier",
    "SL212",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the file named is one that the agent is given or has to make",
)
def brief_reveals_verifier(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None:
        return
    tests = {f.path.name for f in verifier.code("python", "shell")}
    for brief in task.briefs:
        for token in find_paths(brief.prose.text):
            what = _what(task, verifier, token, tests)
            line = brief.prose.text[brief.prose.text.rfind("\n", 0, token.start) + 1 : token.start]
            if what and not task.visible.exists(token.text) and not _MAKES.search(line):
                yield Finding.at(
                    brief.prose.span(token.start, token.end),
                    f"the brief names {what}, `{token.text}`",
                    help="say what has to hold, not what looks at it",
                )
                break


def _what(task: Task, verifier: Verifier, token: Token, tests: set[str]) -> str:
    path, name = token.plain, posixpath.basename(token.plain)
    folders = {
        f"{(verifier.mount or '').rstrip('/')}/" if verifier.mount else "",
        f"{verifier.folder}/" if verifier.folder else "",
    } - {""}
    if path in verifier.verdict_paths or any(path == posixpath.dirname(v) for v in verifier.verdict_paths):
        return "the file that holds the verdict"
    inside = next((path.removeprefix(f) for f in folders if path.startswith(f)), None)
    if inside is not None and f"{verifier.folder}/{inside}" in task.files:
        return "a file of the verifier"
    if name in tests and not _GENERIC.fullmatch(name) and inside is None and "/" not in path:
        return "a file of the verifier"
    folder = task.oracle.folder if task.oracle else None
    if (
        folder
        and f"{folder}/{path.removeprefix('/').removeprefix(folder + '/')}" in task.files
        and f"{folder}/" in path
    ):
        return "the reference solution"
    return ""
