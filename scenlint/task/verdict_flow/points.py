"""SaaS-Bench's protocol on stderr: the lines that a verifier prints, and which of them the harness will not read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from scenlint.source.python import walk
from scenlint.source.pyvalue import HOLE
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.facts import Output, Place
from scenlint.task.model import Contract
from scenlint.task.verdict_flow.numbers import text_problem
from scenlint.task.verdict_flow.programs import Line, Program, programs

if TYPE_CHECKING:
    from scenlint.task.model import Task

_H = HOLE
# The harness's own patterns, where a hole may stand for anything that fits.
_CHECK = regex(rf"\[(PASS|FAIL|{_H})\]\s+\(([\d{_H}]+)pt\)\s+(.+?)(?:\s{{2,}}\((.+)\))?\s*", re.DOTALL)
_SCORE = regex(rf"SCORE:\s*([\d.{_H}]+)\s+PASS:\s*(True|False|{_H})\s+\(([\d{_H}]+)/([\d{_H}]+)\).*", re.DOTALL)
_COLOUR = regex(r"\x1b\[[\d;]*[A-Za-z]")
_TAG = regex(rf"\[\s*(PASS(?:ED)?|FAIL(?:ED)?|SKIP(?:PED)?|ERROR|WARN|INFO|OK|XFAIL|{_H})\s*\]", re.I)
_POINTS = regex(rf"\(?\s*([-+]?[\d.{_H}]+)\s*(?:/\s*[\d.{_H}]+\s*)?-?(pts?|points?|p)\b\s*\)?", re.I)
_INSIDE = regex(rf"\[(?:PASS|FAIL|{_H})\]\s*\([\d{_H}]+ ?pts?\)|^(?:PASS|FAIL)(?:ED)?\W{{0,3}}\([\d{_H}]+ ?pts?\)")


@dataclass
class Points:
    """One verifier's protocol: the lines that are read, those that are meant to be, and what ends it early."""

    program: Program
    checks: list[Line] = field(default_factory=list)  # read as checks
    scores: list[Line] = field(default_factory=list)  # read as the SCORE line
    broken: list[tuple[Line, str]] = field(default_factory=list)  # meant as one of them, with what is wrong

    @property
    def silent(self) -> bool:
        """Whether it prints nothing of the protocol, by no means that is known or not."""
        return not (self.checks or self.scores or self.broken) and not self.mentions("pt)")

    def mentions(self, word: str) -> bool:
        """Whether a word stands in the verifier's code: it may be printed in a way that is not followed (logging)."""
        return any(word in module.fragment.text for module in self.program.flow.modules)


def points(task: Task) -> Iterator[Points]:
    """The protocol of each of the task's verifiers that could be followed to its end."""
    if task.verifier is None or task.verifier.contract is not Contract.POINT_LINES:
        return
    for program in programs(task):
        if program.entry.kind == "points" and program.complete:
            yield program.entry.module.fragment.memo("points", partial(read, program))


def read(program: Program) -> Points:
    out = Points(program)
    shown = {_bare(line.text) for line in program.lines if line.stream == "stderr"}
    for line in program.lines:
        text = line.text.strip()
        if line.stream == "stderr":
            _sort(out, line, text)
        elif (
            line.stream == "stdout" and (_CHECK.fullmatch(text) or _SCORE.fullmatch(text)) and _bare(text) not in shown
        ):
            # Printed on both streams it is for the human reader.
            out.broken.append((line, "goes to stdout, and the harness reads stderr"))
    return out


def _sort(out: Points, line: Line, text: str) -> None:
    if (_CHECK.fullmatch(text) or _SCORE.fullmatch(text)) and not line.ended:
        out.broken.append((line, "is not ended, so the next one is glued to it"))
    elif (match := _CHECK.fullmatch(text)) and (weight := _rounded(line.output, "pt)")):
        out.broken.append((line, f"gives its points as `{weight}`, and only whole numbers are read"))
    elif match:
        if _glued_detail(match[3]):
            out.broken.append((line, "has one space before its detail, which makes it part of the label"))
        out.checks.append(line)
    elif _SCORE.fullmatch(text):
        if precision := _rounded(line.output, "/", ")"):
            out.broken.append((line, f"gives the points as `{precision}`: the harness reads whole numbers there"))
        else:
            out.scores.append(line)
    elif why := problem(text):
        out.broken.append((line, why))


def problem(text: str) -> str | None:
    """Why the harness will not read a line that is meant for it; None for a line that is not."""
    plain = _COLOUR.sub("", text).strip()
    score = re.match(r"score\b\s*[:=]?", plain, re.I)
    tag = _TAG.match(plain)
    rest = plain[tag.end() :].strip() if tag else ""
    weight = _POINTS.match(rest) if tag else None
    if tag and tag[1] == HOLE and weight is None:
        return None  # any label in brackets
    if (tag and weight) or (score and "pass" in plain.lower()):
        if plain != text.strip():
            return "has colour codes in it"
        return _score_problem(plain) if score else _check_problem(plain, tag, weight, rest)
    if tag and tag[0] in ("[PASS]", "[FAIL]"):
        return "does not give its points as `(Npt)`"
    if not tag and _INSIDE.search(plain):
        return "does not begin with `[PASS]` or `[FAIL]`"
    return None


def _score_problem(plain: str) -> str:
    if re.search(rf"\((?:[\d{_H}]*\.[\d{_H}]+/|[\d.{_H}]+/[\d{_H}]*\.)", plain):
        return "gives the points with a fraction: the harness reads whole numbers there"
    if re.search(r"PASS:\s*(true|false|yes|no|1|0)\b", plain):
        return "says `PASS:` with another word than `True` or `False`"
    return "is not `SCORE: <float>  PASS: <True|False>  (<earned>/<total>)`"


def _check_problem(plain: str, tag: re.Match[str] | None, weight: re.Match[str] | None, rest: str) -> str:
    if tag is None or weight is None:
        return "is not `[PASS] (Npt) <label>`"
    number = weight[1]
    if tag[0] not in ("[PASS]", "[FAIL]", f"[{HOLE}]"):
        return f"begins with `{tag[0]}`, and only `[PASS]` and `[FAIL]` are read"
    if number.startswith("-"):
        return f"has the negative weight `{number}`"
    if "." in number:
        return f"has the weight `{number}`, and only whole numbers are read"
    if not re.match(rf"\([\d{_H}]+pt\)", rest):
        return f"gives its points as `{weight[0].strip()}` instead of `(Npt)`".replace(HOLE, "…")
    if not plain[tag.end() :].startswith((" ", "\t")):
        return "has no space before its points"
    return "has no label" if rest == weight[0].strip() else "has no space between its points and its label"


def _bare(text: str) -> str:
    return re.sub(rf"\s+|{_H}", "", _COLOUR.sub("", text))


def _glued_detail(label: str) -> bool:
    """Whether a label ends in a parenthesis that is filled in when it is printed, one space behind other words."""
    match = re.search(r"\S (\((?:[^()]|\([^()]*\))*\))$", label)
    return match is not None and HOLE in match[1] and HOLE not in label[: match.start(1)]


def _rounded(output: Output, *behind: str) -> str:
    """The value before one of these texts that an f-string prints with decimals: `{earned:.1f}/`."""
    for node in walk(output.place.node):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, following in pairwise(parts):
            if isinstance(value, ast.FormattedValue) and isinstance(following, ast.Constant) and value.format_spec:
                spec = ast.unparse(value.format_spec)
                if str(following.value).startswith(behind) and re.search(r"\.[1-9]\d*f|e|%", spec):
                    return ast.unparse(value).strip("'\"f")
    return ""


def site(line: Line) -> Span:
    """Where a line is stated: the call that fills its text in, else what prints it."""
    for step in line.output.stack:
        if isinstance(step.call.node, ast.Call) and any(_words(a) for a in step.call.node.args):
            return step.call.span
    return line.output.place.span


def _words(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def weights(found: Points) -> dict[str, float]:
    """The weight of every check by its label; empty where one of either is only known to a run."""
    out: dict[str, float] = {}
    for line in found.checks:
        match = _CHECK.fullmatch(line.text.strip())
        if match is None or HOLE in match[2] or HOLE in match[3]:
            return {}
        out[match[3]] = float(match[2])
    return out


def totals(found: Points) -> dict[int, Line]:
    """The totals that SCORE lines give outright, each with its line."""
    matches = [(_SCORE.fullmatch(line.text.strip()), line) for line in found.scores]
    return {int(m[4]): line for m, line in matches if m is not None and m[4].isdigit()}


def score_problems(found: Points) -> Iterator[tuple[Line, str]]:
    """Scores that are given outright and are none."""
    for line in found.scores:
        match = _SCORE.fullmatch(line.text.strip())
        if match is not None and HOLE not in match[1] and (problem := text_problem(match[1])):
            yield line, problem


def early_exits(found: Points) -> Iterator[tuple[Place, Line]]:
    """Exits behind a check line and before the SCORE line, with that line: the harness scores by what came so far."""
    last: Line | None = None
    lines = {id(line.output): line for line in (*found.checks, *found.scores)}
    scores = {id(line.output) for line in found.scores}
    ended = False
    for output in found.program.flow.outputs:
        if id(output) in scores:
            last, ended = None, True
        elif id(output) in lines:
            last = lines[id(output)]
        elif output.kind == "exit" and last is not None and not ended and not _apart(last.output, output):
            yield output.place, last


def _apart(one: Output, other: Output) -> bool:
    """Whether two outputs stand on branches that exclude each other."""
    first, second = (o.stack[-1].call if o.stack else o.place for o in (one, other))
    if first.module is not second.module:
        return True
    above = {id(p): p for p in first.module.parents(first.node)}
    inner: ast.AST = second.node
    for up in second.module.parents(second.node):
        if id(up) in above and isinstance(up, ast.If | ast.Try | ast.ExceptHandler):
            mine = {id(n) for n in (first.node, *above.values())}
            sides: list[Sequence[ast.AST]] = [up.body, up.orelse] if isinstance(up, ast.If) else []
            if isinstance(up, ast.Try):
                sides = [up.body, *(list[ast.AST]([h]) for h in up.handlers)]
            where = [n for n, side in enumerate(sides) for s in side if id(s) in mine]
            there = [n for n, side in enumerate(sides) for s in side if s is inner]
            if where and there and where[0] != there[0]:
                return True
        inner = up
    return False
