"""The brief forbids changing a file, and nothing in the verifier would notice that it was changed."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.model import Isolation
from scenlint.task.paths import Token, find_paths
from scenlint.task.statements import Sentence, sentences

_VERBS = (
    r"(?:modif(?:y|ied)|chang(?:e|ed)|edit(?:ed)?|alter(?:ed)?|touch(?:ed)?|overwrit(?:e|ten)|(?:delet|remov)(?:e|ed))"
)
_NOT = r"(?:do not|don[’']t|must not|mustn[’']t|should not|may not|cannot|never)"
_WHAT = r"(?: (?:the|any|of|existing|original|provided|file|files|script|contents?)){0,4}"
_FORBIDS = regex(
    rf"\b{_NOT} (?:be )?(?:(?:directly|otherwise) )?{_VERBS}(?:(?: or |, ?){_VERBS})*{_WHAT}[\s`'\"*]*$", re.I
)
_STAYS = r"(?:remain|stay|be (?:left|kept)) (?:unchanged|untouched|unmodified|intact|as (?:is|they are))"
# "`x.py` (do not modify)", "`x.py` must remain unchanged", "`x.py` must not be modified"
_FORBIDDEN = regex(
    rf"^[`'\"*]*(?: [\w-]+){{0,5}}? ?(?:[-–—:(,]+ ?{_NOT} {_VERBS}\b(?! the)|"
    rf"(?:must|should) {_STAYS}\b(?! and)|(?:must|should|may) not be {_VERBS}\b)",
    re.I,
)
# "leave `x.py` as it is", "keep `x.py` unchanged"
_LEAVE = regex(r"\b(?:leave|keep) (?:the )?(?:file )?[`'\"*]*$", re.I)
_ALONE = regex(
    r"^[`'\"*]*(?: [\w-]+){0,2}? (?:exactly )?"
    r"(?:as (?:it|they) (?:is|are)|as[- ]is|unchanged|untouched|alone|intact)\b",
    re.I,
)
_LIST = regex(r"[`'\"*]*(?:, (?:and |or |nor )?| and | or | nor )(?:the )?[`'\"*]*$")
# How a verifier notices a change, or does without the file at hand.
_NOTICES = regex(
    r"sha\d*|md5|blake|hashlib|checksum|digest|filecmp|\bcmp\b|\bdiff\b|difflib|unchanged|untouched|unmodified|modif|tamper|"
    r"pristine|original|backup|getmtime|st_mtime|git\b|must_match|snapshot|restore|integrity",
    re.I,
)


@rule(
    "do-not-modify-unenforced",
    "SL215",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the verifier uses a copy of its own, or a task whose file was changed is graded 0",
)
def do_not_modify_unenforced(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or verifier.isolation is Isolation.SEPARATE or not task.checks:
        return
    texts = [*(f.text for f in verifier.files), *(repr(g.config) for g in verifier.graders)]
    own = {posixpath.basename(p) for p in [*(f.path.as_posix() for f in verifier.files), *verifier.truth]}
    compared = (c for check in task.checks for c in check.comparisons if c.has_constant and not c.presence)
    judged = {posixpath.basename(p) for c in compared if "command" not in c.sources for p in c.paths}
    seen: set[str] = set()
    for brief in task.briefs:
        for sentence in sentences(brief.prose):
            for token in _targets(sentence):
                name = posixpath.basename(token.plain)
                if name in seen or name in own or token.folder or not task.visible.exists(token.plain):
                    continue
                seen.add(name)
                if not _enforced(texts, name) and name not in judged:
                    yield Finding.at(
                        sentence.span(token.start, token.end),
                        f"the brief forbids changing `{token.text}`, but no check would notice",
                        help="compare its hash in the verifier, or grade with a copy of the verifier's own",
                        related=[related(task.checks[0].fragment.source, "the checks")],
                    )


def _targets(sentence: Sentence) -> Iterator[Token]:
    """The paths that a sentence forbids to change."""
    tokens = [t for t in find_paths(sentence.text) if not t.open]
    forbidden: Token | None = None
    for token in tokens:
        before, after = sentence.text[: token.start], sentence.text[token.end :]
        joined = forbidden is not None and _LIST.fullmatch(sentence.text[forbidden.end : token.start])
        left = _LEAVE.search(before) and _ALONE.match(after)
        if _FORBIDS.search(before) or joined or left or _FORBIDDEN.match(after):
            forbidden = token
            yield token


def _enforced(texts: list[str], name: str) -> bool:
    """Whether a file of the verifier that speaks of this one, or of all files, looks for changes."""
    return any(
        _NOTICES.search(text) and (name in text or re.search(r"git (?:diff|status)|\bgit\b.*\bdiff", text))
        for text in texts
    )
