"""The brief asks for a value and states it, and the verifier asserts just that value."""

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import python
from scenlint.source.markdown import Markdown, Part, parse
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.checks import Comparison
from scenlint.task.mapping import stems

HELP = "take the value out of the brief, or make the example differ from the graded case"
# Words that any finished work reports, or that leave two or three ways only.
_TRIVIAL = regex(
    r"\W*(?:success\w*|succeeded|fail\w*|pass\w*|yes|no|true|false|none|null|ok|done|completed?|valid|invalid|healthy|"
    r"fixed|resolved|ready|errors?|enabled|disabled|on|off|\d|100|0?\.\d|v?\d)\W*$",
    re.I,
)
_NO_VALUE = regex(r"[<>\[\]{}|/]|\bor\b|\bone of\b|\w, \w|\w\.\w{1,5}$|.{80}")  # a slot, a choice, a list, a path
_EXAMPLE = regex(r"\bexamples?\b|\be\.g\.|\bfor instance\b|\bsample (?:output|result|answer)|示例|例如|例子", re.I)
_FIND = (
    r"identif(?:y|ying)|determin(?:e|ing)|find(?: out)?|finding|recogni[sz]e|classif(?:y|ying)|work out|figure out|"
    r"discover|deduce|infer|decide|extract|read off|recover|decode|decipher|crack|guess"
)
_ASK = regex(
    rf"\b(?:{_FIND})\b([^.;:!?\n]{{3,90}})|"
    r"\b(?:image|photo|picture|video|audio|visually)-derived ([^.,;:\n]{3,40})|"
    r"(?:识别|确定|找出|判断|提取)([^。；：，\n]{1,20})",
    re.I,
)
_COUNTED = regex(
    r"\b(?:number of|count|how many|total|sum|average|calculat\w*|comput\w*|which|what|analy[sz]e|diagnos\w*)\b", re.I
)
_WHICH = regex(
    r"\b(?:film|movie|book|song|album|painting|artist|species|plant|animal|bird|landmark|building|place|city|country|"
    r"person|character|game|author|director|product|brand|logo|title|name)s?\b|电影|影片|书",
    re.I,
)
_QUOTED = r"[\"'`*“]*(?P<value>[^\n]{3,120}?)[\"'`*”]*[ \t]*$"
_LABELLED = regex(
    rf"^[ \t]*(?:[-*+][ \t]+)?\W{{0,3}}(?P<label>[A-Za-z][\w ]{{1,30}}?)\W{{0,3}}[:=][ \t]*{_QUOTED}", re.M
)
_DECIDED = regex(
    r"\b(?P<label>[a-z]{4,20})(?: (?:determination|classification|level|rating|label|verdict|class))?(?: is|:|=)?[ \t]+"
    r"[\"“`](?P<value>[^\"”`\n]{3,40})[\"”`]",
    re.I,
)
_ANSWER = regex(
    r"\b(?:correct |right |final |expected )?answers?(?: here| then)? (?:is|are|=|would be)[: ]+"
    r"[\"'`“*]*([^\"'`”*\n]{1,80})|答案(?:是|为|：)\s*[\"`“]?([^\"`”。\n]{1,60})",
    re.I,
)
_TOLD = r"(?:there (?:are|were)|in (?:all|total)|altogether|comes? to|amounts? to|adds? up to)"
_CODE = regex(r".*\.(?:py|js|ts|sh|go|rs|c|cc|cpp|h|java|rb|pl|r|sql|tex|html|css)$", re.I)

# A list of what things are before the work starts.
_GIVEN = regex(
    r"\b(?:initial\w*|start(?:s|ing|ed)?|beg[ai]n\w*|inputs?|given|current(?:ly)?|original(?:ly)?)\b[^\n]*[:：][ \t]*\n"
    r"(?:[ \t]*(?:[-*+]|\d+[.)])[^\n]*\n|[ \t]*\n)*[^\n]*\Z",
    re.I,
)

Hit = tuple[Span, str, str]


@rule(
    "answer-in-brief",
    "SL403",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.BRIEF, Role.VERIFIER},
    refute="the value is a given of the task (a format, a name to use, a parameter), not what the agent has to find",
)
def answer_in_brief(task: Task) -> Iterator[Finding]:
    asserted = _Asserted(task)
    for brief in task.briefs:
        document = parse(brief.prose)
        seen: set[str] = set()
        hits = [*_examples(document, asserted), *_labels(document, asserted), *_answers(document, asserted)]
        for span, value, why in hits:
            if value.lower() not in seen:
                seen.add(value.lower())
                place = asserted.place(value)
                yield Finding.at(
                    span,
                    f"`{value[:60]}` is what the verifier wants to see, and {why}",
                    help=HELP,
                    related=[related(place, "asserted here")] if place else [],
                )


class _Asserted:
    """The values that the verifier asserts: what a file's content is compared with, and all its string literals."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.comparisons = [
            c
            for check in task.checks
            for c in check.comparisons
            if c.has_constant and c.produced and c.operator in ("==", "is") and not (c.selects or c.presence)
        ]

    @cached_property
    def in_files(self) -> list[tuple[str, str | None, Comparison]]:
        """(value, key, comparison) for the content of files that the agent hands in and that are no code."""
        out = []
        for c in self.comparisons:
            made = [p for p in c.paths if not _CODE.match(p) and not self.task.visible.exists(p)]
            plain = isinstance(c.constant, str | int | float) and not isinstance(c.constant, bool)
            if made and plain and "len(" not in c.span.text:
                value = re.split(r"[=:]\s*", str(c.constant).strip())[-1]
                out.append((value, c.key, c))
        return out

    @cached_property
    def literals(self) -> dict[str, tuple[python.PyModule, ast.Constant]]:
        """Every string in the verifier's code, folded; where it stands first."""
        out: dict[str, tuple[python.PyModule, ast.Constant]] = {}
        for fragment in self.task.verifier.code("python") if self.task.verifier else ():
            module = python.parse(fragment)
            for node in module.of(ast.Constant):
                if isinstance(node.value, str) and len(node.value) < 200:
                    out.setdefault(" ".join(node.value.lower().split()), (module, node))
        return out

    def mentions(self, value: str) -> bool:
        """Whether a string in the verifier's code holds the value, or one part of a title in two parts."""
        parts = [p for p in (value, *re.split(r"[:–—]\s", value)) if len(p) >= 4]
        folded = [" ".join(p.lower().split()) for p in parts]
        return any(
            p in literal and re.search(rf"(?<!\w){re.escape(p)}(?!\w)", literal)
            for literal in self.literals
            for p in folded
        )

    def place(self, value: str) -> Span | None:
        found = next((c for v, _, c in self.in_files if v.lower() == value.lower()), None)
        if found:
            return found.constant_span or found.span
        module, node = self.literals.get(" ".join(value.lower().split()), (None, None))
        return module.span(node) if module and node else None


def _examples(document: Markdown, asserted: _Asserted) -> Iterator[Hit]:
    """An example whose value for a key is the graded one, and that stands nowhere else in the brief."""
    text = document.fragment.text
    if not (_ASK.search(text) or _COUNTED.search(text)):
        return
    blocks = [b for b in document.of(Part.CODE) if _EXAMPLE.search(text[max(0, b.start - 120) : b.start])]
    outside = text
    for block in blocks:
        outside = outside[: block.start] + " " * (block.end - block.start) + outside[block.end :]
    outside = re.sub(r"(?<=\d),(?=\d{3}\b)", "", outside)
    for value, key, _ in asserted.in_files if blocks else ():
        word = re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w)", re.I)
        header = not key and re.search(r"[|,\t]", value)
        if len(value) < 2 or header or _TRIVIAL.fullmatch(value) or word.search(outside):
            continue
        name = rf"[\w .-]*{re.escape(key)}[\w .-]*" if key else r"[\w .-]*"
        before = rf"^\W*(?:{name}[\"'`]?\s*[:=]\s*)" + ("" if key else "?")
        line = re.compile(rf"{before}[\"'`\[]*({re.escape(value)})[\"'`\],]*\s*$", re.M)
        if hit := next((b.start + m.start(1) for b in blocks if (m := line.search(b.text))), None):
            yield _inside(document.fragment, hit, value), value, "the brief's example already gives it"


def _labels(document: Markdown, asserted: _Asserted) -> Iterator[Hit]:
    """A line `title: X` or a clause `severity "X"` in a brief that asks to find out the title or the severity."""
    text = document.fragment.text
    asks = ["".join(filter(None, m.groups())) for b in document.prose for m in _ASK.finditer(b.text)]
    asked = {s for ask in asks for s in stems(ask)}
    for pattern in (_LABELLED, _DECIDED) if asks else ():
        for found in pattern.finditer(text):
            value, label = found["value"].strip(), found["label"].strip().lower()
            if _TRIVIAL.fullmatch(value) or _NO_VALUE.search(value) or not asserted.mentions(value):
                continue
            if any(b.start <= found.start() < b.end for b in document.of(Part.CODE)):
                continue
            listing = re.search(r"metadata|input files?", text[max(0, found.start() - 300) : found.start()], re.I)
            if label in ("title", "name"):
                # What a listing of the material calls it; elsewhere it is a name that the agent is to use.
                open_too = len(re.findall(re.escape(value), text, re.I)) > 1
                named = bool(listing) and not open_too and any(_WHICH.search(a) for a in asks)
            else:
                given = _GIVEN.search(text, max(0, found.start() - 600), found.start())
                named = not (listing or given) and bool(words := stems(label)) and words <= asked
            if named and (pattern is _LABELLED or _one_of_several(document, value)):
                place = _inside(document.fragment, found.start("value"), value)
                yield place, value, f"the brief gives the {label} it asks for"


def _one_of_several(document: Markdown, value: str) -> bool:
    """Whether a table of the brief lists the value among others: a rubric from which the agent is to choose."""
    cell = re.compile(rf"^[ \t]*\|?\s*[*`]*{re.escape(value)}[*`]*\s*\|", re.M | re.I)
    return any(cell.search(t.text) for t in document.of(Part.TABLE))


def _answers(document: Markdown, asserted: _Asserted) -> Iterator[Hit]:
    """ "The answer is X", "(it is X)", and a count told in passing where the brief asks how many."""
    values = {v.lower(): v for v, _, _ in asserted.in_files if not re.fullmatch(r"\W*", v)}
    asks = _ASK.search(document.text) or _COUNTED.search(document.text)
    told = [_told(v, len(values) == 1) for v in values.values()] if asks else []
    for block in document.prose:
        for found in _ANSWER.finditer(block.text):
            group = 1 if found[1] else 2
            value = found[group].strip().rstrip(".,;)")
            if value.lower() in values and not re.search(r"\b(?:if|whether|when)\b", block.text[: found.start()][-40:]):
                span = _inside(document.fragment, block.start + found.start(group), value)
                yield span, value, "the brief says that it is the answer"
        for pattern in filter(None, told):
            if found_again := pattern.search(block.text):
                value = found_again[1]
                yield _inside(document.fragment, block.start + found_again.start(1), value), value, "the brief tells it"


def _told(value: str, alone: bool) -> re.Pattern[str] | None:
    """How a value is told in passing; a number only where nothing else is asserted, since it may be a given."""
    word = rf"[\"'`“*]*({re.escape(value)})(?![\w%]|\.\d)"
    if re.fullmatch(r"\d+(?:\.\d+)?", value):
        distinctive = alone and float(value) >= 10
        return re.compile(rf"\b{_TOLD}\b[^.;\n\d]{{0,30}}?(?<![\w.]){word}", re.I) if distinctive else None
    if len(value) < 3 or _TRIVIAL.fullmatch(value) or _NO_VALUE.search(value):
        return None
    so = r"(?:namely|i\.e\.,?|(?:it|this|that) (?:is|was|turn(?:s|ed) out to be))"
    return re.compile(rf"\b{so} (?:an? |the )?{word}", re.I)


def _inside(fragment: Fragment, start: int, value: str) -> Span:
    return fragment.span(start, start + len(value))
