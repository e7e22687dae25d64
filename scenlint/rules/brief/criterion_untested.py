"""A success criterion of the brief that no check covers."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Task, related, rule
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.criteria import Criterion, is_demand
from scenlint.task.mapping import Mapping, Vocabulary, map_task
from scenlint.task.repeats import unread_repeats

_JUDGED = regex(
    r"\b(?:openai|anthropic|litellm|llm[_ -]?(?:judge|as)|judge_(?:prompt|model)|chat/completions|gpt-\d)",
    re.I,
    words=("openai", "anthropic", "litellm", "llm", "judge", "chat/completions", "gpt-"),
)
_EVERY_CALL = regex(
    r"\b(?:each|every|all|any|further|repeated|later|timed|subsequent|other|both)\b[^.]{0,40}?"
    r"\b(?:calls?|runs?|invocations?)\b",
    re.I,
)
_RIGHT = regex(r"\b(?:right|correct\w*|same|results?|returns?|answers?|outputs?|equals?|identical|prints?)\b", re.I)
# What code says without the word.
_IDIOMS = {
    r"\[+ -x |X_OK|S_IX|0o111|0o[57]{3}": "executable chmod +x",
    r"\breturncode\b|\$\?": "exit status code",
    r"st_mode": "mode",
}
# What informs, allows or forbids: the last is another rule's.
_SKIPPED = regex(
    r"\W*(?:load|we (?:provide|give)|there (?:is|are)|never|avoid|no\b|try|use\b|assume)|"
    r".*\b(?:not|cannot|without)\b|.*n't\b",
    re.I,
)


@rule(
    "criterion-untested",
    "SL201",
    needs={Role.BRIEF, Role.VERIFIER},
    refute="a check that fails when the criterion is not met",
)
def criterion_untested(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    code = "\n".join(f.text for f in verifier.files) if verifier else ""
    judged = _JUDGED.search(code) or any(g.kind == "prompt" for g in (verifier.graders if verifier else ()))
    if judged or not code.strip():
        return
    mapping = map_task(task)
    found: dict[int, Finding] = {}
    for criterion, finding in (*_left_out(mapping), *_unread_results(task, mapping), *_never_mentioned(mapping, code)):
        found.setdefault(id(criterion), finding)
    yield from found.values()


Hit = tuple[Criterion, Finding]


def _hit(criterion: Criterion, why: str, call: Span | None = None, confidence: Confidence | None = None) -> Hit:
    text = criterion.text if len(criterion.text) <= 70 else criterion.text[:69] + "…"
    return criterion, Finding.at(
        criterion.span,
        f"no check covers criterion {criterion.number}, “{text}”: {why}",
        help="add a check that fails when this is not met, or take it out of the brief",
        related=[related(call, "what this call returns is dropped")] if call else [],
        confidence=confidence,
    )


def _left_out(mapping: Mapping) -> Iterator[Hit]:
    """Criteria whose number a verifier never names that names the others."""
    named = ", ".join(sorted(mapping.marked_anywhere)) or "the others"
    for criterion in mapping.left_out:
        yield _hit(criterion, f"the verifier names the criteria it covers ({named}), but never {criterion.number}")


def _unread_results(task: Task, mapping: Mapping) -> Iterator[Hit]:
    """Criteria that promise right results of repeated calls, where a loop drops what the submission returns."""
    for criterion in mapping.criteria:
        if _EVERY_CALL.search(criterion.text) and _RIGHT.search(criterion.text):
            for call in unread_repeats(task)[:1]:
                yield _hit(criterion, "what the repeated calls return is never looked at", call)


def _never_mentioned(mapping: Mapping, code: str) -> Iterator[Hit]:
    """Criteria whose names, quoted texts and words are strange to a verifier that speaks of nearly all the others."""
    strange = mapping.uncovered if mapping.checks else []
    if len(strange) * 4 > len(mapping.criteria):
        return
    code += "\n" + "\n".join(words for idiom, words in _IDIOMS.items() if re.search(idiom, code))
    verifier, folded = Vocabulary(code), code.lower()
    for criterion in strange:
        about = Vocabulary(criterion.raw.replace("**", ""))
        texts = {v for v in about.values if len(v) >= 4 and not v.startswith((".", "-"))} - about.paths
        if not texts or not is_demand(criterion.text) or _SKIPPED.match(criterion.text):
            continue
        if any(t in folded for t in texts | about.paths | about.names) or about.numbers & verifier.numbers:
            continue
        share = len(about.words & verifier.words) / max(len(about.words), 1)
        if share <= (0.25 if len(texts) > 1 else 0.15):
            yield _hit(criterion, "nothing in the verifier speaks of it", confidence=Confidence.LOW)
