"""A file that the brief demands and that no check opens."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.text import Span
from scenlint.task.paths import extension
from scenlint.task.statements import Sentence, sentences

# Code may be judged by what it does; these are judged by what stands in them.
_DATA = frozenset("json jsonl csv tsv txt md html xml yaml yml log pdf png jpg svg xlsx docx pptx parquet npy db sqlite".split())  # noqa: SIM905
_MAKE = r"(?:write|save|create|generate|produce|output|store|export|put|dump|deliver)"
_DEMAND = re.compile(
    # An order ("Write …", "and save …", "you must create …"), or what must be brought about ("must be written to …").
    rf"(?:^[\s\W\d]*|\b(?:and|then|also|please|must|should|need to|have to|your task is to|finally|,) )(?:also |then |finally )?{_MAKE}\b[^.\n]*$|"
    r"\b(?:must|should|need to|has to|have to|are to|is to) be (?:written|saved|created|generated|stored|exported|put|placed)\b[^.\n]*$|"
    r"(?:写入|保存到|输出到|生成|创建)[^。\n]*$",
    re.I,
)
_FREE = re.compile(r"\boptional|\bif you|\bmay\b|\bfor example|e\.g\.|such as|\bfeel free|temporar|\bintermediate|\bshould not|n't\b|\bnot\b|\blog(?:s|ged|ging)?\b|\balready\b|\bconfigured\b|\bcurrent(?:ly)?\b|\bprovided\b|\bexisting\b|可选", re.I)
_LISTS = re.compile(r"\b(?:glob|rglob|iterdir|listdir|walk|scandir)\(|\*\.\w+|\bfind\s|\bls\s|git (?:diff|status)|rglob")


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
    asked = _asked(task)
    read = {p for p in asked if any(_names(t, p) for t in texts)}
    for path, span in asked.items():
        if path not in read and not any(_LISTS.search(t) for t in texts):
            yield Finding.at(
                span,
                f"the brief wants `{path}`, but no check opens it",
                help="check what stands in it, or leave it out of the brief",
                related=[related(task.checks[0].fragment.source, "the checks")],
            )


def _asked(task: Task) -> dict[str, Span]:
    out: dict[str, Span] = {}
    for brief in task.briefs:
        for sentence in sentences(brief.prose):
            for token in sentence.paths:
                if extension(token.plain) in _DATA and _demands(sentence, token.start) and not task.visible.exists(token.plain):
                    out.setdefault(token.plain, sentence.span(token.start, token.end))
    return out


def _demands(sentence: Sentence, at: int) -> bool:
    return bool(_DEMAND.search(sentence.text[:at])) and not _FREE.search(f"{sentence.context} {sentence.text}")


def _names(text: str, path: str) -> bool:
    """Whether code names the file, or the stem from which its name may be put together."""
    name = posixpath.basename(path)
    stem = posixpath.splitext(name)[0]
    return name in text or re.search(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", text, re.I) is not None
