"""Numbers as people write them: 12, 12 %, 1,000, 1_000, 10k, twelve, 1e-6, 10^-6, two hours, 十二."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.regex import regex


@dataclass(frozen=True)
class Number:
    """A number in a text: its value as written, and the other values it stands for (a percentage is a share too)."""

    value: float
    others: tuple[float, ...]
    start: int
    end: int

    def stands_for(self, value: float) -> bool:
        return any(same(value, own) for own in (self.value, *self.others))


_TO_TWENTY = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_BY_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL, _TENS = _TO_TWENTY.split(), _BY_TENS.split()
_WORDS: dict[str, float] = {
    **{w: n for n, w in enumerate(_SMALL)},
    **{w: 20 + 10 * n for n, w in enumerate(_TENS)},
    **{f"{t}-{s}": 20 + 10 * n + k for n, t in enumerate(_TENS) for k, s in enumerate(_SMALL) if 0 < k < 10},
    "once": 1, "twice": 2, "thrice": 3, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6,
    "half": 0.5, "quarter": 0.25, "single": 1, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
}  # fmt: skip
_SCALES: dict[str, float] = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9, "hundred": 100, "dozen": 12,
    "kb": 1e3, "kib": 1024, "mb": 1e6, "mib": 1024**2, "gb": 1e9, "gib": 1024**3, "tb": 1e12, "g": 1e9,
    "ms": 1e-3, "millisecond": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "minute": 60, "min": 60,
    "hour": 3600, "hr": 3600, "h": 3600, "day": 86400, "week": 604800, "year": 365, "cm": 1e-2, "mm": 1e-3, "km": 1e3,
    "千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8, "分钟": 60, "小时": 3600, "天": 86400, "毫秒": 1e-3,
}  # fmt: skip
_ALSO = {"kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "k": 1024.0, "tb": 1024.0**4}
_UNIT = "|".join(sorted(map(re.escape, _SCALES), key=len, reverse=True))
_DIGITS = regex(
    r"(?<![A-Za-z0-9_.])(?P<sign>[-−+]?)"
    r"(?P<body>\d{1,3}(?:[,_\u2009\u00a0' ]\d{3})+(?:\.\d+)?|\d+(?:_\d+)+|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<power>[eE][-−+]?\d+|\s*[x×*·]\s*10\s*\^?\s*\{?[-−⁻]?[\d⁰¹²³⁴-⁹]+\}?|"
    r"\^\{?[-−]?\d+\}?|\*\*[-−]?\d+|⁻?[⁰¹²³⁴-⁹]+)?"
    rf"(?P<unit>\s?%|\s?‰|\s?percent\b|\s?per cent\b|[\s-]?(?:{_UNIT})s?(?![A-Za-z]))?",
    re.I,
)
_TENS_LIST = rf"(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_SMALL[1:10])}))?"
_WORD_LIST = "|".join([_TENS_LIST, *(w for w in _WORDS if "-" not in w and w not in _TENS)])
_WORD = regex(rf"\b({_WORD_LIST})\b(?:[\s-](hundred|thousand|million|minute|hour|day|week)s?\b)?", re.I)
_HANZI = regex(r"[零〇一二两三四五六七八九十百千万]+")
_HANZI_DIGIT = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HANZI_UNIT = {"十": 10, "百": 100, "千": 1000}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


def same(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def find_numbers(text: str) -> Iterator[Number]:
    """Every number of a text, in no particular order."""
    for match in _DIGITS.finditer(text):
        value = _value(match)
        if value is not None and math.isfinite(value):
            yield Number(value, _others(value, (match["unit"] or "").strip(" -").lower()), *match.span())
    for match in _WORD.finditer(text):
        value = _WORDS[match[1].lower()]
        scale = _SCALES.get((match[2] or "").lower())
        yield Number(value, (value * scale,) if scale else (), *match.span())
    for match in _HANZI.finditer(text) if not text.isascii() else ():
        yield Number(_hanzi(match.group()), (), *match.span())


def _value(match: re.Match[str]) -> float | None:
    value = float(re.sub(r"[,_\u2009\u00a0' ]", "", match["body"]))
    power = (match["power"] or "").strip().translate(_SUPERSCRIPT)
    try:
        if power[:1] in ("e", "E"):
            value *= 10.0 ** int(power[1:])
        elif times := re.match(r"[x×*·]\s*10\s*\^?\s*\{?(-?\d+)", power):
            value *= 10.0 ** int(times[1])
        elif exponent := re.search(r"-?\d+", power):
            value **= int(exponent.group())
    except (OverflowError, ZeroDivisionError):
        return None
    return -value if match["sign"] in ("-", "−") else value


def _others(value: float, unit: str) -> tuple[float, ...]:
    if unit in ("%", "percent", "per cent", "‰"):
        share = value / (1000 if unit == "‰" else 100)
        # "within 5 %" is written as a factor of 0.95 or 1.05 in code.
        return (share, 1 - share, 1 + share)
    out: list[float] = [value * 100] if 0 < value < 1 else []
    scale = unit if unit in _SCALES else unit.removesuffix("s")
    if scale in _SCALES:
        out.append(value * _SCALES[scale])
    if scale in _ALSO:
        out.append(value * _ALSO[scale])
    return tuple(out)


def _hanzi(text: str) -> float:
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _HANZI_DIGIT:
            digit = _HANZI_DIGIT[char]
        elif char == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            section += (digit or 1) * _HANZI_UNIT[char]
            digit = 0
    return float(total + section + digit)
