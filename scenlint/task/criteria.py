"""Finds the success criteria of a brief: the numbered or bulleted things that the agent must bring about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from scenlint.source.markdown import Block, Markdown, Part, parse
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span


@dataclass(frozen=True)
class Criterion:
    """One success criterion. `number` is what a check would call it ("3", "2.1", the place of a bullet in its list)."""

    id: str  # the number, made unique within the brief
    text: str  # on one line
    span: Span
    kind: str  # "numbered", "bullet" or "step"
    number: str
    section: str = ""  # the heading or the sentence that introduces its list
    raw: str = ""  # as written, marks included


@dataclass(frozen=True)
class _Item:
    """A list item, whether Markdown knows it as one or only its author ("1、", "(2)", "Step 3:")."""

    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    lead: str
    group: int
    number: str
    kind: str
    position: int | None = None  # in the document's blocks
    parent: int | None = None
    colon: bool = False  # it only introduces what is nested in it


# Words of the heading or sentence above a list. What stands nearest decides.
_WANTED = regex(
    r"requirement|criteri|\bmust\b|\bshould\b|\bshall\b|\bneeds?\b|\btasks?\b|deliverable|\bgoals?\b|objective|"
    r"\brules?\b|constraint|ensure|acceptance|\bsteps?\b|to[- ]?do\b|specification|what (?:you (?:need|have) )?to|"
    r"\bimplement|success|complete when|considered|correct when|follow(?:ing)? (?:steps|rules|properties|structure)|"
    r"output|\bsave\b|\bcreate\b|\bproduce\b|\bwrite\b|\bso that\b|submission|expected|exactly|"
    r"要求|标准|步骤|任务|准则|目标|验收|输出|规则|需要|必须|完成",
    re.I,
)
_UNWANTED = regex(
    r"credential|\blog ?in\b|account|password|\bhints?\b|\btips?\b|\bnotes?\b|background|context|situation|available|"
    r"provided|\bprovide\b|\bgiven\b|\bexamples?\b|resources?|references?|\bfiles? (?:to|you) (?:read|have)|input|"
    r"\bcontains?\b|existing|current(?:ly)?|environment|workspace|overview|useful|assum|definition|where\b|legend|"
    r"located|location|\bproblems?\b|issues?\b|\bsymptoms?\b|\bbugs?\b|you (?:may|can|might|will find|have access)|"
    r"might|could|consider|scenario|system|describes?|include these columns|"
    r"凭证|账号|登录|密码|提示|背景|示例|输入|环境|注意|说明",
    re.I,
)
_STRONG = regex(
    r"requirement|criteri|\bmust\b|\bshall\b|acceptance|deliverable|\bsteps\b|要求|标准|验收|步骤|准则", re.I
)
_ORDERED = regex(
    r"(?:please )?(?:write|create|save|add|make|produce|generate|implement|build|fix|update|modify)\b", re.I
)
_CLOSED = regex(r"credential|\blog ?in\b|account|password|\bhints?\b|input files?|凭证|账号|登录", re.I)
_DEMAND = regex(
    r"\b(?:must|should|shall|needs? to|ensure|exactly|at least|at most|no more than|do not|don't|never|only)\b|"
    r"必须|应|不得",
    re.I,
)
# An item that only asks to look at something, lets the agent choose, advises, or lists a file.
_READ_ONLY = regex(
    r"(?:please |then |first,? |next,? |carefully )*(?:read|open|view|look|inspect|review|examine|understand|study|"
    r"analy[sz]e|explore|navigate|familiari[sz]e|learn|investigate|observe|visit|note|check|go to|log ?in|sign in|see|"
    r"locate|find|identify|determine|verify|confirm|compare|search|think|consider|visually|"
    r"查看|打开|阅读|浏览|登录|分析|查找|确认)\b",
    re.I,
)
_PRODUCE = regex(
    r"\b(?:write|create|save|add|set|update|make|produce|generate|output|record|fix|implement|build|delete|remove|move|"
    r"copy|rename|send|post|insert|submit|approve|mark|assign|upload|install|configure|modify|change|edit|replace|return|"
    r"print|report|store|extract|export|schedule|share|reply|enter|fill|attach|link|rate|tag|convert|compute|calculate|"
    r"put|apply|enable|disable|merge|commit|publish|name|register|compose|draft|log)\b|"
    r"创建|写入|保存|添加|设置|更新|生成|输出|删除|修改|填写|发送|上传",
    re.I,
)
_OPTIONAL = regex(
    r"\W*(?:hints?|notes?|examples?|e\.g\.|tips?|optional(?:ly)?|you (?:can|may|might)|feel free|for example|"
    r"提示|注意|例如)\b",
    re.I,
)
_LISTING = regex(r"[`*\"']*(?:(?:[\w.\-]*/)*[\w\-*]+\.\w{1,8}|(?:~|/)[\w./\-]+)[`*\"']*\s*(?:[-–—:(（：]|$)")
_FIELD = regex(r"[`*]{1,3}[\w.\[\]]+[`*]{1,3} (?:is|are|holds|contains|has|must)\b", re.I)
_PRODUCT = regex(r"deliver|output|save|creat|produc|generat|writ|submi|result|输出|生成|保存|创建", re.I)

# Lists that Markdown does not know: one marker at the start of each line.
_LINE = regex(
    r"^[ \t]*(?:[(（]\s*(\d{1,2})\s*[)）]|(\d{1,2})\s*[、．)]|([一二三四五六七八九十]{1,3})、|"
    r"(?:\*\*)?(?:Step|Criterion|Requirement|步骤)\s*(\d{1,2})\s*[:：.—–-]+|"
    r"第\s*([一二三四五六七八九十\d]{1,3})\s*[步条][:：、]?)[ \t]*",
    re.I | re.M,
)
_HANZI = {c: n for n, c in enumerate("一二三四五六七八九十", 1)}
_BULLETS = regex(r"^[ \t]*[•·●◦▪–][ \t]+", re.M)


def find_criteria(prose: Fragment) -> list[Criterion]:
    """The success criteria of a brief, in order; background, credentials, hints, listings, reading steps left out."""
    return prose.memo("criteria", lambda: _unique(list(_criteria(prose))))


def _criteria(prose: Fragment) -> Iterator[Criterion]:
    accepted: dict[int, str] = {}  # position of an item -> its number
    numbers: Counter[tuple[int, int | None]] = Counter()
    for item in _items(parse(prose)):
        place = (item.group, item.parent)
        numbers[place] += 1
        number = item.number or str(numbers[place])
        if item.parent is not None and item.parent in accepted:
            number = f"{accepted[item.parent]}.{number}"
            label = _label(item.lead)
            wanted = not _UNWANTED.search(label) or bool(_WANTED.search(label))
        else:
            wanted = item.parent is None and _list_wanted(item)
        if not wanted or not _item_wanted(item):
            continue
        if item.position is not None:
            accepted[item.position] = number
        if item.colon:
            continue
        section = _label(item.lead) or (item.headings[-1] if item.headings else "")
        line = " ".join(item.text.split())
        kind = "step" if item.kind == "numbered" and _is_steps(item) else item.kind
        yield Criterion(number, line, prose.span(item.start, item.end), kind, number, section, item.text)


def _items(document: Markdown) -> Iterator[_Item]:
    parents = {b.parent for b in document.blocks if b.parent is not None}
    for position, block in enumerate(document.blocks):
        if block.part is Part.ITEM:
            number = "" if block.number is None else str(block.number)
            kind = "bullet" if block.number is None else "numbered"
            colon = position in parents and block.line.rstrip("*_` ").endswith((":", "："))
            yield _Item(
                block.start, block.end, block.text, block.headings, block.lead, block.group, number, kind,
                position, block.parent, colon,
            )  # fmt: skip
        elif block.part is Part.PARAGRAPH:
            yield from _lines(block, -1 - position)


def _lines(block: Block, group: int) -> Iterator[_Item]:
    """Items that stand in a paragraph because Markdown does not know their marker."""
    marks = list(_LINE.finditer(block.text)) or list(_BULLETS.finditer(block.text))
    if not marks:
        return
    before = block.text[: marks[0].start()].strip()
    lead = before.splitlines()[-1].strip("* ").replace("：", ":") if before else ""
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        end = after.start() if after else len(block.text)
        text = block.text[mark.end() : end].rstrip()
        written = next((g for g in mark.groups() if g), "")
        number = str(_HANZI.get(written, written))
        start = block.start + mark.end()
        kind = "numbered" if number else "bullet"
        yield _Item(start, start + len(text), text, block.headings, lead, group, number, kind)


def _list_wanted(item: _Item) -> bool:
    """Whether the list is one of demands, by what introduces it; a numbered list is unless something speaks against."""
    for words in (_label(item.lead), *item.headings[-1:]):
        wanted = _introduces(words) if words else None
        if wanted is not None:
            return wanted
    return item.kind == "numbered" or bool(_DEMAND.search(item.text) or _FIELD.match(item.text))


@lru_cache(maxsize=512)
def _introduces(words: str) -> bool | None:
    """Whether a list that some words introduce is one of demands; None where they do not tell."""
    if _CLOSED.search(words) and not _STRONG.search(words):
        return False
    if _ORDERED.match(words):
        return True
    unwanted = _UNWANTED.search(words)
    if _WANTED.search(words) and (not unwanted or _STRONG.search(words)):
        return True
    return False if unwanted else None


def _label(lead: str) -> str:
    """The sentence before a list as far as it says what the list holds; "" for a sentence that merely stands there."""
    return lead.rstrip(":") if lead.endswith(":") or len(lead) <= 40 else ""


def _is_steps(item: _Item) -> bool:
    return any(re.search(r"\bsteps?\b|步骤", words, re.I) for words in (_label(item.lead), *item.headings[-1:]))


def _item_wanted(item: _Item) -> bool:
    text = item.text.strip().lstrip("*_ ")
    if len(re.findall(r"\w", text)) < 3 or _OPTIONAL.match(text):
        return False
    around = " ".join([_label(item.lead), *item.headings[-1:]])
    if _LISTING.match(text) and not _PRODUCT.search(around) and not _DEMAND.search(text):
        return False
    return item.colon or not only_reads(text)


def only_reads(text: str) -> bool:
    """Whether a sentence asks to look at something and for nothing that could be checked."""
    return bool(_READ_ONLY.match(text) and not _PRODUCE.search(text))


def is_demand(text: str) -> bool:
    """Whether a sentence asks for something outright: "must", "exactly", or a verb of making at its beginning."""
    return bool(_DEMAND.search(text) or _PRODUCE.match(text.lstrip("`*_\"' ")))


def _unique(criteria: list[Criterion]) -> list[Criterion]:
    seen: Counter[str] = Counter()
    out = []
    for criterion in criteria:
        seen[criterion.number] += 1
        nth = seen[criterion.number]
        out.append(criterion if nth == 1 else replace(criterion, id=f"{criterion.number}#{nth}"))
    return out
