"""What a brief states about the task's own files and settings: inputs, columns, counts, limits, versions, users."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scenlint.source import markdown
from scenlint.source.markdown import Block, Part
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.numbers import find_numbers
from scenlint.task.paths import EXTENSIONS, Token, extension, find_paths

_LONGEST = 20_000  # characters of one sentence that are searched for paths; a longer one is data


@dataclass(frozen=True)
class Sentence:
    """A sentence or a list item of a brief; `context` is what introduces it."""

    text: str
    start: int
    context: str
    item: bool
    brief: Fragment

    def span(self, start: int = 0, end: int | None = None) -> Span:
        return self.brief.span(self.start + start, self.start + (len(self.text) if end is None else end))

    @cached_property
    def paths(self) -> list[Token]:
        return [t for t in find_paths(self.text[:_LONGEST]) if not t.open]

    def says(self, *words: str) -> bool:
        """Whether one of some words (in lower case) stands in it: a quick test before a pattern is tried."""
        return any(word in self._folded for word in words)

    @cached_property
    def _folded(self) -> str:
        return self.text.lower()


@dataclass(frozen=True)
class Statement:
    """Something a sentence states: the words that state it, and what it comes to."""

    value: object
    span: Span
    hedged: bool = False


_LONGEST = 3000  # characters of a sentence


def sentences(brief: Fragment) -> list[Sentence]:
    """The sentences of a brief, list items and lines of a listing each on their own."""
    return brief.memo("sentences", lambda: list(_sentences(brief)))


def _sentences(brief: Fragment) -> Iterator[Sentence]:
    for block in markdown.parse(brief).of(Part.PARAGRAPH, Part.ITEM):
        around = " | ".join(filter(None, (block.lead, *block.headings[-1:])))
        for start, end in _cuts(block):
            yield Sentence(block.text[start:end], block.start + start, around, block.part is Part.ITEM, brief)


def _cuts(block: Block) -> Iterator[tuple[int, int]]:
    at = 0
    for cut in re.finditer(
        r"(?<=[.!?。！？])\s+(?=[\"'`*(\[A-Z0-9/])|\n(?=\s*[-*•\d])|\n\s*\n|(?<=[。！？])", block.text
    ):
        yield from _pieces(block.text, at, cut.start())
        at = cut.end()
    yield from _pieces(block.text, at, len(block.text))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence. A longer one than anybody writes is cut at spaces: some questions cost the square of its length."""
    while end - start > _LONGEST:
        cut = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        cut = start + _LONGEST if cut < 0 else cut
        if text[start:cut].strip():
            yield start, cut
        start = cut
    if text[start:end].strip():
        yield start, end


# Inputs. A path counts as given only where nothing in the brief says that it is to be made.

_MADE = regex(
    r"creat|writ|sav(?:e|ing)|output|produc|generat|store (?:the|your|it)|export|report|\bmust\b|should|result|"
    r"buil[dt]|install|compil|deliver|submi|\bnew\b|expected|e\.g\.|example|such as|\bif\b|\bfix|modif|updat|\bwill\b|"
    r"implement|\badd|optimi[sz]e|\bplace\b|\bput\b|replac|renam|\bmove|convert|miss|delet|remov|lost|corrupt|"
    r"not exist|absent|mount|run ?time|deploy|download|clone|extract|unpack|restor|recover|recreat|cach|temporar|"
    r"log(?:s|ged)? to|生成|创建|写入|保存|输出|缺失",
    re.I,
)
_DEMANDED = regex(r"criteri|requirement|success|deliverable|objective|\bgoal|要求|标准", re.I)
_THERE = (
    r"provided|located|stored|available|found|supplied|included|shipped|given|placed|exists?|pre-\w+|提供|位于|给出"
)
_VERBS = r"read|use|load|parse|analy[sz]e|process|inspect|examine|open|读取"
_END = r"[\s:`'\"]*$"
_GIVEN_BEFORE = regex(
    rf"(?:\b|(?<=(?-i:[一-鿿])))(?:{_THERE})\s*(?:in|at|as|under|by|于|在)?(?: (?:the|a) file)?{_END}|"
    r"\b(?:have|has|given|there(?:'s| is| are)|find) (?:been given )?(?:an?|the|two|three|several|some)\b"
    rf"[^.]{{0,60}}\b(?:at|in|named|called){_END}|"
    rf"\b(?:dataset|data|input|file|script|records?|image|document)s?(?: (?:is|are))?(?: in| at|:)?{_END}|"
    rf"(?:^|\bto |\band |\byou )(?:{_VERBS})(?: the)?(?: \w+){{0,3}}?(?: (?:in|from|at|file))?{_END}",
    re.I,
)
_STATES = rf"contains|holds|defines|lists|describes|(?:is|are) (?:already )?(?:{_THERE})"
_GIVEN_AFTER = regex(rf"[`'\"*]*\s+(?:(?:file|dataset|script)\s+)?(?:{_STATES})\b", re.I)
_LISTS_GIVEN = regex(
    r"\bcontains?\b|provided|\bgiven\b|available|existing|you(?:'ll| will|'ve)? (?:find|have|discover)|environment|"
    r"workspace|input|snapshot|(?:following|these) files|\bfiles (?:are|you)|current|starting|situation|resources|"
    r"提供|输入|已有",
    re.I,
)
_BEHAVES = regex(r"\b(?:that|which|it)\s*:")  # introduces what a program does, not what is there
# Made by packages or at run time, or named in passing as what a build leaves.
_NOT_SHIPPED = regex(
    r"/(?:etc|usr|bin|lib|sbin|boot|dev|proc|sys|run|var/(?:log|run|lib|cache))/|"
    r".*\.(?:a|o|so|exe|dll|class|pyc|out|log|pid|sock|lock|db|sqlite3?)$",
    re.I,
)


def given_inputs(brief: Fragment) -> list[Statement]:
    """The paths the brief says are there before the agent starts; value: the Token."""
    made: set[str] = set()
    given: dict[str, Statement] = {}
    for sentence in sentences(brief):
        around = f"{sentence.text} {sentence.context}"
        makes: dict[str, bool] = {}
        for token in sentence.paths:
            name = token.plain
            if name not in makes:
                makes[name] = bool(_MADE.search(around.replace(name, " ")))
            if makes[name]:
                made.add(name.rpartition("/")[2])
            elif _is_given(sentence, token):
                given.setdefault(name, Statement(token, sentence.span(token.start, token.end)))
    inside = "\n".join(b.text for b in markdown.parse(brief).of(Part.CODE))
    return [s for name, s in given.items() if name.rpartition("/")[2] not in made and name not in inside]


def _is_given(sentence: Sentence, token: Token) -> bool:
    """Only files with a known extension: what stands for a kind of file (`.csv`) or a URL's path is no input."""
    name = token.plain.rpartition("/")[2]
    if name.startswith(".") or extension(name) not in EXTENSIONS or (token.plain.count("/") and not token.absolute):
        return False
    if _NOT_SHIPPED.match(token.plain) or _DEMANDED.search(sentence.context):
        return False
    before, after = sentence.text[: token.start], sentence.text[token.end :]
    if after.startswith("("):
        return False  # a call: `rs.conf()`
    if sentence.item and _LISTS_GIVEN.search(sentence.context) and not _BEHAVES.search(sentence.context):
        # An item of a list of what is there, by its first words or by where it lies.
        if not before.strip(" `*\"'-•"):
            rest = after.lstrip("`*\"' ")
            return not rest or rest[0] in "-–—:(（："
        if re.search(r"\b(?:at|in|file|under|from)[\s:`'\"]*$|:[\s`'\"]*$", before):
            return True
    near = max(0, len(before) - 400)  # it ends with the text
    return bool(_GIVEN_BEFORE.search(before, near) or _GIVEN_AFTER.match(after))


# Columns and counts, bound to the one file that the sentence names.

_COLUMN = r"[`'\"]?[A-Za-z_]\w*[`'\"]?"
_COLUMNS = regex(
    r"\b(?:columns?|fields?|headers?|keys)\b[^:(`'\".\n]{0,20}?[\s:(`'\"]+(?:the )?"
    rf"(?P<names>(?<!\w)(?:{_COLUMN}(?:\s*\([^)]*\))?\s*(?:,\s*(?:and\s+)?|\s+and\s+))+{_COLUMN})",
    re.I,
)
_NO_COLUMN = frozenset(
    ["and", "or", "where", "which", "with", "the", "a", "an", "each", "all", "in", "of", "for", "from", "as"]
)
_ROWS = r"rows?|records?|entries|lines|observations|data ?points"
_NOT_ALL = r"(?:per|each|at a time|from|that|with|where|which|were|are)"
_COUNT = regex(
    rf"(?<![\w.,/-])(?P<number>\d[\d,]*(?:\.\d+)?(?:\s?(?:k|thousand|million|M)\b)?)\s+"
    rf"(?P<of>(?:[a-z-]+\s+){{0,2}}?)(?P<noun>{_ROWS})\b(?!\s*{_NOT_ALL}\b)",
    re.I,
)
_PART = regex(
    r"\b(?:first|last|top|each|every|per|at least|at most|up to|over|under|fewer|less|more|between|through|to|batch\w*|"
    r"random\w*|limit\w*|only|duplicate\w*|invalid|missing|error\w*|remain\w*|unique|distinct|valid|chunk\w*|split|"
    r"after|remov\w*)\b",
    re.I,
)
_HEDGE = regex(r"approximat|about|around|roughly|nearly|almost|some|~|≈|circa|several|represent|大约|约", re.I)


def stated_columns(sentence: Sentence) -> Statement | None:
    """The names of columns, fields or keys that a sentence lists."""
    found = _COLUMNS.search(sentence.text)
    if not found or _MADE.search(sentence.text[: found.start()]):
        return None
    plain = re.sub(r"\([^)]*\)", "", found["names"])
    names = [w for w in re.findall(r"[A-Za-z_]\w*", plain) if w.lower() not in _NO_COLUMN]
    if re.match(r" [a-z]", sentence.text[found.end() :]) and not found["names"].endswith(("`", "'", '"')):
        names.pop()  # "a, b, collected from traffic": the last one begins something else
    return Statement(names, sentence.span(*found.span("names")))


def stated_count(sentence: Sentence) -> Statement | None:
    """The number of rows or records a sentence gives, where it gives exactly one for the whole."""
    found = list(_COUNT.finditer(sentence.text))
    if len(found) != 1 or _MADE.search(sentence.text[: found[0].start()]):
        return None
    match = found[0]
    near = sentence.text[max(0, match.start() - 40) : match.start()]
    if _PART.search(near.rpartition(",")[2]) or _PART.search(match["of"]):
        return None
    number = next(find_numbers(match["number"]), None)
    if number is None:
        return None
    value = max([number.value, *(o for o in number.others if o > number.value)][:2])
    return Statement(value, sentence.span(match.start("number"), match.end()), bool(_HEDGE.search(near)))


# Settings.

_UNIT = {"s": 1, "m": 60, "h": 3600, "秒": 1, "分": 60, "小": 3600}
_TIME = r"(\d[\d,.]*|[a-z]+(?:-[a-z]+)?)[\s-]*(seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|秒|分钟|小时)\b"
_AS_A_WHOLE = r"(?=[^.]{0,40}\b(?:tasks?|in total|altogether)\b)"
_LIMITS = (
    regex(rf"\byou(?: will|'ll)? have (?:up to |at most |a total of |only )?{_TIME}{_AS_A_WHOLE}", re.I),
    regex(rf"\b(?:complete|finish|solve|do) (?:this|the|your) (?:whole )?task[^.]{{0,20}} (?:with)?in {_TIME}", re.I),
    regex(rf"\b(?:time limit|time budget|agent timeout)(?: for (?:this|the|your) task)?(?: is| of|:)+ {_TIME}", re.I),
)
_PORT = regex(
    r"\b(?:is|are|already|which|that) (?:already )?(?:listen|run|serv|expos|reach|avail)\w*\b[^.]{0,40}"
    r"\bport (?P<port>\d{2,5})\b|\b(?:listens|runs|serves) on port (?P<port2>\d{2,5})\b",
    re.I,
)
_WORKDIR = regex(
    r"\b(?:current |your )?working directory (?:is|will be|is set to)[ :]+[`\"']?(?P<path>/[\w./\-]*)", re.I
)
_AS = r"(?:logged in |running |working )?as "
_USER = regex(
    rf"\b(?:you are|you're|you will be|commands (?:are )?run|everything runs|you (?:run|work)) {_AS}(?:the )?"
    r"(?:non-root |unprivileged )?(?:user )?[`\"'](?P<user>[a-z_][\w-]*)[`\"']|"
    rf"\b(?:you are|you're|you (?:run|work)) {_AS}(?P<user2>root)\b",
    re.I,
)
_TOOLS = r"Python|Node(?:\.js)?|Go|Ruby|PHP|Java|Rust|Debian|Ubuntu|PostgreSQL|Postgres|Redis|MySQL"
_VERSION = regex(
    r"\b(?:environment|container|image|machine|system|sandbox|box)[^.]{0,40}"
    r"\b(?:has|have|runs|uses|provides|comes with|ships|is)\b[^.]{0,20}?"
    rf"\b(?P<tool>{_TOOLS})\s+v?(?P<version>\d+(?:\.\d+)*)(?!\s*(?:\+|or (?:later|newer|above)))",
    re.I,
)


def stated_limit(sentence: Sentence) -> Statement | None:
    """The time the agent has, in seconds."""
    if not sentence.says("task", "in total", "altogether", "time limit", "time budget", "agent timeout"):
        return None
    found = next((m for pattern in _LIMITS if (m := pattern.search(sentence.text))), None)
    number = next(find_numbers(found[1]), None) if found else None
    if found is None or number is None:
        return None
    return Statement(number.value * _UNIT[found[2][0].lower()], sentence.span(*found.span()))


def stated_port(sentence: Sentence) -> Statement | None:
    """The port on which the brief says that something listens already."""
    found = _PORT.search(sentence.text) if sentence.says("port") else None
    if not found or _MADE.search(sentence.text):
        return None
    group = "port" if found["port"] else "port2"
    return Statement(int(found[group]), sentence.span(*found.span(group)))


def stated_workdir(sentence: Sentence) -> Statement | None:
    found = _WORKDIR.search(sentence.text) if sentence.says("working directory") else None
    return Statement(found["path"].rstrip("/.") or "/", sentence.span(*found.span("path"))) if found else None


def stated_user(sentence: Sentence) -> Statement | None:
    found = _USER.search(sentence.text) if sentence.says(" as ") else None
    group = "user" if found and found["user"] else "user2"
    return Statement(found[group].lower(), sentence.span(*found.span(group))) if found else None


def stated_version(sentence: Sentence) -> Statement | None:
    """A tool of the environment and its version: ("python", "3.11")."""
    named = sentence.says("environment", "container", "image", "machine", "system", "sandbox", "box")
    found = _VERSION.search(sentence.text) if named else None
    if not found:
        return None
    tool = found["tool"].lower().removesuffix(".js").replace("postgresql", "postgres")
    return Statement((tool, found["version"]), sentence.span(found.start("tool"), found.end("version")))
