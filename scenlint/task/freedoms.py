"""What a brief leaves free in so many words: the order of things, letter case, white space, further keys."""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from pathlib import PurePosixPath

from scenlint.source.literals import literals
from scenlint.source.python import PyModule, walk
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.judgements import Judgement
from scenlint.task.statements import Sentence, sentences


class Freedom(StrEnum):
    """Something that right work may do one way or another."""

    ORDER = "order"
    KEYS = "further keys"
    CASE = "letter case"
    SPACE = "white space"


_NO_MATTER = (
    r"(?:does not|doesn't|do not|don't|need not) matter|"
    r"is (?:not important|irrelevant|free|up to you|arbitrary)|不限|无关"
)
_MORE = r"(?:extra|additional|other|further|unknown)"
_FIELDS = r"(?:keys|fields|columns|attributes|properties|entries)"
_SAID = {
    Freedom.ORDER: regex(
        rf"\bany order\b|\border[^.]{{0,40}}(?:{_NO_MATTER})|regardless of (?:the |their )?order|no particular order|"
        r"\bunordered\b|whatever order|任意顺序|顺序(?:不限|无关)",
        re.IGNORECASE,
    ),
    Freedom.KEYS: regex(
        rf"\b{_MORE} {_FIELDS}\b[^.]{{0,30}}"
        r"\b(?:allowed|fine|ok|permitted|optional|welcome|acceptable|be added|be there|do no harm)\b|"
        rf"\byou (?:may|can) (?:also )?add (?:more|{_MORE})|\bat least (?:the|these) {_FIELDS}",
        re.IGNORECASE,
    ),
    Freedom.CASE: regex(
        rf"\bcase[^.]{{0,20}}(?:{_NO_MATTER})|regardless of (?:letter )?case|ignoring case|not case[- ]sensitive|"
        r"\bupper[- ]?(?:case)? or lower[- ]?case|\bin (?:upper|lower|any)[- ]?case (?:or|letters)",
        re.IGNORECASE,
    ),
    Freedom.SPACE: regex(
        r"(?:white[- ]?space|\bspacing|\bblanks?|indentation|trailing newlines?|final newline|line breaks?)[^.]{0,30}"
        rf"(?:{_NO_MATTER}|\b(?:ignored|optional|allowed|fine|ok|acceptable|permitted)\b)",
        re.IGNORECASE,
    ),
}
_OUTPUT = regex(
    r"\b(?:output|files?|lines?|entr(?:y|ies)|lists?|listed|results?|rows?|items?|arrays?|elements?|records?|report|json|"
    r"answers?|keys?)\b|输出|结果",
    re.IGNORECASE,
)
_INPUT = regex(
    r"\b(?:process|quer(?:y|ies)|inputs?|arriv|receiv|updates|events|match(?:es|ing)|messages|search)", re.IGNORECASE
)
_ORDERLESS = frozenset(
    ["sorted", "set", "frozenset", "Counter", "sort", "assertCountEqual", "assertSetEqual", "assertItemsEqual"]
)
_CASELESS = frozenset(["lower", "upper", "casefold", "title", "capitalize"])
_SPACELESS = frozenset(["strip", "split", "splitlines", "rstrip", "lstrip", "replace", "sub", "join"])


def freedom(judgement: Judgement, kind: Freedom) -> Span | None:
    """Where a brief leaves this free for what is compared."""
    for brief in judgement.visible.briefs:
        for sentence, span in _said(brief, kind):
            if _is_about(sentence, judgement, kind):
                return span
    return None


def _said(brief: Fragment, kind: Freedom) -> list[tuple[Sentence, Span]]:
    def find() -> list[tuple[Sentence, Span]]:
        return [(s, s.span(*m.span())) for s in sentences(brief) if (m := _SAID[kind].search(s.text))]

    return brief.memo(f"freedom of {kind}", find)


def _is_about(sentence: Sentence, judgement: Judgement, kind: Freedom) -> bool:
    """Whether a sentence speaks of the key or file that is compared, or of output that no other name stands beside."""
    compared = judgement.comparison
    said = f"{sentence.context} {sentence.text}"
    if compared.key and re.search(rf"(?<!\w){re.escape(compared.key)}(?!\w)", said):
        return True
    files = {PurePosixPath(p).name for p in compared.paths if "*" not in p}
    if any(name in said for name in files):
        return compared.key is None or not re.search(r"`\w+`", sentence.text)
    named = any(PurePosixPath(t.text).name not in files for t in sentence.paths) or re.search(r"`\w+`", sentence.text)
    of_output = kind is Freedom.SPACE or _OUTPUT.search(sentence.text)
    return bool(of_output) and not _INPUT.search(sentence.text) and not named


def evens_out(judgement: Judgement, kind: Freedom) -> bool:
    """Whether the verifier makes alike what differs in order, case or space before it compares."""
    calls = {
        Freedom.ORDER: _ORDERLESS,
        Freedom.CASE: _CASELESS,
        Freedom.SPACE: _SPACELESS,
    }.get(kind, frozenset())
    module, node = judgement.module, judgement.node
    if module is None or node is None:
        return True
    parts = list(behind(module, node))
    return any(isinstance(p, ast.Call) and _last(p.func) in calls for p in parts) or (
        kind is Freedom.ORDER and any(isinstance(p, ast.Set | ast.SetComp) for p in parts)
    )


def behind(module: PyModule, node: ast.AST, depth: int = 4) -> list[ast.AST]:
    """The parts of an expression, of what its names were set to, and of the methods called on these."""
    parts = list(walk(node))
    out, seen = list(parts), set[str]()
    for _ in range(depth):
        names = {p.id for p in parts if isinstance(p, ast.Name)} - seen
        called = {_last(p.func) for p in parts if isinstance(p, ast.Call)} - seen
        seen |= names | called
        values: list[ast.AST] = [v for name in names for v in literals(module).assigned.get(name, [])]
        values += [f for name in called if (f := module.functions.get(name)) is not None]
        values += [c for c in module.of(ast.Call) if isinstance(c.func, ast.Attribute) and _last(c.func.value) in names]
        parts = [p for v in values for p in walk(v)]
        out += parts
        if not parts:
            break
    return out


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
