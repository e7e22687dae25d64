"""A file that the brief demands and that no check opens."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.outputs import asked_outputs
from scenlint.task.paths import extension

# Code may be judged by what it does; these are judged by what stands in them.
_DATA = frozenset([
    "json", "jsonl", "csv", "tsv", "txt", "md", "html", "xml", "yaml", "yml", "log", "pdf", "png", "jpg", "svg", "xlsx",
    "docx", "pptx", "parquet", "npy", "db", "sqlite",
])  # fmt: skip
_LISTS = regex(r"\b(?:glob|rglob|iterdir|listdir|walk|scandir)\(|\*\.\w+|\bfind\s|\bls\s|git (?:diff|status)|rglob")


@rule(
    "output-never-read",
    "SL524",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="something that the verifier runs opens the file",
)
def output_never_read(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or not task.checks or task.survey.programs or any(not c.complete for c in task.checks):
        return
    texts = [f.text for f in verifier.files] + [g.span.text for g in verifier.graders if g.span]
    asked = {p: span for p, span in asked_outputs(task).items() if extension(p) in _DATA}
    read = {p for p in asked if any(_names(t, p) for t in texts)}
    for path, span in asked.items():
        if path not in read and not any(_LISTS.search(t) for t in texts):
            yield Finding.at(
                span,
                f"the brief wants `{path}`, but no check opens it",
                help="check what stands in it, or leave it out of the brief",
                related=[related(task.checks[0].fragment.source, "the checks")],
            )


def _names(text: str, path: str) -> bool:
    """Whether code names the file, or the stem from which its name may be put together."""
    name = posixpath.basename(path)
    stem = posixpath.splitext(name)[0]
    return name in text or re.search(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", text, re.I) is not None
