"""Lines of SaaS-Bench's protocol in the form that its harness reads, where the text they are printed from shows how."""

from __future__ import annotations

import ast

from scenlint.source.edit_python import local_name, replace, set_keyword
from scenlint.source.regex import regex
from scenlint.source.text import Edit
from scenlint.task.checks.facts import Place
from scenlint.task.fix import Fix

_HOLE = r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"  # of an f-string
# What the harness does not read -> what it does; each has to stand in the text once.
_SPELLINGS = (
    (regex(r"\[ ?(PASS|FAIL)(?:ED)? ?\](?<!\[PASS\])(?<!\[FAIL\])"), r"[\1]"),
    (regex(rf"(?<=\])\s*\(?\s*({_HOLE}|\d+)\s*-?(?:pts?|points?|p)\b\s*\)?(?<! \(\d pt\))\s*(?=\S)"), r" (\1pt) "),
    (regex(rf"(?<=\S) (?=\({_HOLE}\)(?:\\n)?[\"']+$)"), "  "),
)


def mended(place: Place, why: str) -> Fix | None:
    """The fix of a call that prints such a line; None where its text does not show what has to change."""
    call, module = place.node, place.module
    if not isinstance(call, ast.Call):
        return None
    if why.startswith("goes to stdout"):
        system, imports = local_name(module, "sys")
        edits: list[Edit | None] = []
        if module.dotted(call.func) == "print":
            edits = set_keyword(module, call, "file", f"{system}.stderr")
        elif module.dotted(call.func) == "sys.stdout.write" and isinstance(call.func, ast.Attribute):
            edits = replace(module, call.func.value, f"{system}.stderr")
        return Fix.of("print it to stderr", *edits, safe=False, imports=imports)
    text = call.args[0] if len(call.args) == 1 else None
    if isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        begin, end = module.bounds(text)
        raw = module.fragment.text[begin:end]
        better = raw
        for pattern, form in _SPELLINGS:
            if len(pattern.findall(better)) == 1:
                better = pattern.sub(form, better)
        if better != raw:
            return Fix.of("write it as the harness reads it", module.fragment.edit(begin, end, better), safe=False)
    return None
