"""Text that a tool reads and a reviewer does not see: invisible characters, hidden markup, instructions to AI tools."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, rule
from scenlint.source import markdown
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.visible import Text

_DIRECTION = "\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0001-\U000e007f"  # letters that show nothing
_NOTHING = "\u200b\u2060-\u2064\u180e\ufeff"
_JOINERS = "\u200c\u200d\u200e\u200f"
_INVISIBLE = regex(f"[{_DIRECTION}{_TAGS}{_NOTHING}{_JOINERS}]+")
# Joined emoji, flags, and scripts that need joiners and marks of direction.
_NEEDED = regex(
    r"[\u0590-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\ufb1d-\ufeff\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]"
)
_MANY = 8  # so many carry a message
_MARKUP = regex(
    r"style\s*=\s*[\"'][^\"']{0,500}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|color\s*:\s*(?:white|#fff))[^\"']{0,500}[\"']"
    r"|<\w+[^<>]{0,1000}\shidden(?:\s[^<>]{0,1000})?>",
    re.I,
)
_WHO = (
    r"(?:AI|LLM|language model|coding agent|automated (?:agent|reviewer|grader))s?"
    r"(?: (?:agents?|assistants?|models?|reviewers?|tools?|graders?))?"
)
_ORDERS = regex(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |every )*(?:previous|prior|above|preceding|earlier|other) "
    r"(?:\w+ )?(?:instructions?|prompts?|rules|guidelines)\b"
    rf"|\b(?:if|when|since) you(?:'re| are) an? {_WHO}\b"
    rf"|\b(?:note|message|instructions?|attention)[: ]+(?:to|for) (?:all |any )?{_WHO}\b"
    rf"|\b{_WHO} (?:reading|processing|reviewing|grading) this\b",
    re.I,
    words=(
        "ignore ",
        "disregard ",
        "forget ",
        "llm",
        "language model",
        "coding agent",
        "automated ",
        "a ai",
        "an ai",
        "to ai",
        "for ai",
        "all ai",
        "any ai",
        "reading this",
        "processing this",
        "reviewing this",
        "grading this",
    ),
)
_ADDRESSED = regex(
    rf"\b(?:{_WHO}|agents?|assistants?|models?|graders?|reviewers?|you)\b[^.]{{0,400}}"
    r"\b(?:must|should|shall|always|never|do not|need to|have to)\b",
    re.I,
)
# What an issue tracker's template tells whoever reports something, and the mark that one puts before a link.
_TEMPLATE = regex(
    r"\b(?:submit|open|fil)(?:ting|ing)? (?:the|an?|this|your) (?:issue|bug|report|ticket)|"
    r"\b(?:this|the|your) (?:issue|bug report)\b|\bfeel free to (?:delete|remove)\b|"
    r"\bfill (?:out|in) (?:the|this) form\b|\bpost a question\b|\bpasted?\b|"
    r"\b(?:delete|remove) (?:this|these|the) (?:\w+ )?(?:sections?|comments?|lines?)\b",
    re.I,
)
_LINK_MARK = regex(r"(?<=[\"'])\u200b{1,2}(?=https?://)|(?<![^\s(\[])\u200b{1,2}(?=\S)")
_ABOUT = regex(
    r"inject|jailbreak|adversarial|unicode|zero-width|invisible|bidi|steganogra|hidden (?:text|message)|watermark|"
    r"\bprompts?\b|\bLLMs?\b",
    re.I,
    words=(
        "inject",
        "jailbreak",
        "adversarial",
        "unicode",
        "zero-width",
        "invisible",
        "bidi",
        "steganogra",
        "hidden ",
        "watermark",
        "prompt",
        "llm",
    ),
)
_DATA = regex(r"\.(?:json|jsonl|csv|tsv|xml|html?|sql|log|ya?ml|svg|ipynb|po|srt|vtt|eml|mbox|tex|bib)$", re.I)
_HELP = "take it out; what the agent has to know stands in the brief for everyone to read"


@rule(
    "hidden-text",
    "SL416",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.FACT,
    needs={Role.BRIEF},
    refute="the task is about such text, or the script of the language needs the character",
    fix="unsafe",
)
def hidden_text(task: Task) -> Iterator[Finding]:
    if any(_ABOUT.search(b.prose.text) for b in task.briefs):
        return
    for text in task.visible.texts:
        name = text.fragment.path.name
        if text.fragment.language == "data" or (not text.brief and _DATA.search(name)):
            continue
        for start, end, what in _hidden(text):
            fix = _without(text.fragment) if what.startswith("an invisible") else None
            yield Finding.at(text.fragment.span(start, end), what, help=_HELP, fix=fix)
            break  # one a text: where there is one, there are more


def _without(fragment: Fragment) -> Fix | None:
    body = fragment.text
    places = [m.span() for m in _INVISIBLE.finditer(body) if m.start() and not _is_needed(body, *m.span())]
    return Fix.of("remove what is invisible", *(fragment.edit(*place, "") for place in places), safe=False)


def _hidden(text: Text) -> Iterator[tuple[int, int, str]]:
    body = text.fragment.text
    found = [m for m in _INVISIBLE.finditer(body) if m.start() and not _is_needed(body, *m.span())]
    strong = [m for m in found if re.search(f"[{_DIRECTION}{_TAGS}]", m[0])]
    if strong or (found and text.brief) or sum(len(m[0]) for m in found) >= _MANY:
        match = (strong or found)[0]
        code = f"U+{ord(match[0][0]):04X}"
        yield *match.span(), f"an invisible character ({code}) stands here, so a reader sees another text than a tool"
    if text.brief:
        yield from _unseen(text.fragment)
    for order in _ORDERS.finditer(body):
        yield *order.span(), "this speaks to AI tools rather than to whoever does the task"


def _is_needed(body: str, start: int, end: int) -> bool:
    around = body[max(0, start - 2) : start], body[end : end + 2]
    return any(_NEEDED.search(text) for text in around) or _LINK_MARK.match(body, start) is not None


def _unseen(brief: Fragment) -> Iterator[tuple[int, int, str]]:
    """What a rendered brief does not show."""
    parsed = markdown.parse(brief)
    for block in parsed.of(markdown.Part.COMMENT):
        if _ADDRESSED.search(block.text) and not _TEMPLATE.search(block.text):
            yield block.start, block.end, "this comment gives instructions that a rendered brief does not show"
    code = parsed.of(markdown.Part.CODE)
    for match in _MARKUP.finditer(brief.text):
        if not any(block.start <= match.start() < block.end for block in code):
            yield *match.span(), "this text is not shown where the brief is rendered, but tools read it"
