"""Code frames: the lines of a location with their numbers, and carets under exactly what it points at."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from scenlint.report.style import Style, disturbs, spelled
from scenlint.task.finding import EXCERPT_WIDTH, Location

TAB = 4
CUT = "..."


@dataclass(frozen=True)
class Cell:
    """What one character of the file looks like, and the columns it takes."""

    shown: str
    width: int


def cells(line: str, encoding: str = "utf-8") -> list[Cell]:
    """A cell per character of the line: tabs widened, wide characters counted as two, invisible ones spelled out."""
    out: list[Cell] = []
    at = 0
    for n, char in enumerate(line):
        cell = _cell(line, n, char, at, out[-1].width if out else 0, encoding)
        out.append(cell)
        at += cell.width
    return out


def _cell(line: str, n: int, char: str, at: int, before: int, encoding: str) -> Cell:
    if " " <= char <= "~":
        return Cell(char, 1)
    if char == "\t":
        width = TAB - at % TAB
        return Cell(" " * width, width)
    if char in "\u200c\u200d":  # joiners: only between characters that can be joined
        joins = 0 < n < len(line) - 1 and line[n - 1] > "\x7f" and line[n + 1] > "\x7f"
        return _encoded(char, 0, encoding) if joins else Cell(spelled(char), len(spelled(char)))
    if disturbs(char):
        return Cell(spelled(char), len(spelled(char)))
    return _encoded(char, _width(line, n, char, before), encoding)


def _encoded(char: str, width: int, encoding: str) -> Cell:
    """The cell as a stream of that encoding will show it."""
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        shown = char.encode(encoding, "backslashreplace").decode(encoding)
        if shown != char:
            return Cell(shown, len(shown))
    return Cell(char, width)


def _width(line: str, n: int, char: str, before: int) -> int:
    if char == "\ufe0f":  # turns the character before it into an emoji, two columns wide
        return 1 if before == 1 else 0
    if unicodedata.category(char) in ("Mn", "Me") or "\u1160" <= char <= "\u11ff":
        return 0
    joined = n > 0 and line[n - 1] == "\u200d" and unicodedata.category(char) == "So"
    toned = n > 0 and "\U0001f3fb" <= char <= "\U0001f3ff" and before != 1
    if joined or toned:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def frame(place: Location, style: Style, mark: str = "^", color: str = "red") -> list[str]:
    """The frame of a location, line by line; [] for a whole file or folder."""
    if not place.excerpt:
        return []
    end_line, end_column = place.end_line, place.end_column
    if end_line > place.line and end_column == 1:  # the span takes in the last line's end
        end_line -= 1
        known = end_line - place.line < len(place.excerpt)
        end_column = len(place.excerpt[end_line - place.line]) + place.shift + 1 if known else 1
    shown = place.excerpt[: end_line - place.line + 1]
    gutter = len(str(place.line + len(shown) - 1))
    bar = style("|", "blue")
    blank = f"{'':{gutter}} {bar}"
    several = end_line > place.line
    rows = [cells(line, style.encoding) for line in shown]
    begin = place.column - 1 - place.shift
    end = end_column - 1 - place.shift
    room = max(style.width - gutter - 3 - 2 * several, 24)
    left = _left(rows[0], begin, len(rows[0]) if several else end, room)
    cut_left = place.shift > 0 or left > 0

    def text(row: list[Cell]) -> str:
        return _clip(row, left, room, cut_left)

    def columns(row: list[Cell], stop: int) -> int:
        """Display columns before a character of the row, past its end included, inside the room."""
        width = sum(c.width for c in row[left:stop]) + max(stop - max(len(row), left), 0)
        return min(width + len(CUT) * cut_left, room)

    def line(n: int, content: str) -> str:
        return f"{style(f'{place.line + n:>{gutter}}', 'blue')} {bar} {content}".rstrip()

    out = [blank]
    if not several:
        pad = columns(rows[0], begin)
        carets = max(columns(rows[0], max(end, begin)) - pad, 1)
        out.append(line(0, text(rows[0])))
        out.append(f"{blank} {' ' * pad}{style(mark * carets, color)}")
        return out
    edge = style("|", color)
    if shown[0][:begin].strip():  # begins in the middle of a line
        out.append(line(0, f"  {text(rows[0])}"))
        out.append(f"{blank}  {style('_' * (columns(rows[0], begin) + 1) + mark, color)}")
    else:
        out.append(line(0, f"{style('/', color)} {text(rows[0])}"))
    out.extend(line(n, f"{edge} {text(row)}") for n, row in enumerate(rows[1:], 1))
    if len(shown) > end_line - place.line:
        out.append(f"{blank} {edge}{style('_' * max(columns(rows[-1], end), 1) + mark, color)}")
    else:
        out.append(f"{blank} {edge}{style(f'_{CUT} up to line {end_line}', color)}")
    return out


def _left(row: list[Cell], begin: int, end: int, room: int) -> int:
    """The first character shown: the line's own where the span then fits, else one a little before the span."""
    if sum(c.width for c in row) <= room or sum(c.width for c in row[:end]) <= room - 2 * len(CUT):
        return 0
    left, before = begin, 0
    while left > 0 and left <= len(row) and before + row[left - 1].width <= room // 4:
        left -= 1
        before += row[left].width
    return left


def _clip(row: list[Cell], left: int, room: int, cut_left: bool) -> str:
    """The part of a line that fits, with dots where something is left out."""
    out = CUT if cut_left else ""
    rest = row[left:]
    space = room - len(out)
    cut_right = len(row) >= EXCERPT_WIDTH or sum(c.width for c in rest) > space
    if cut_right:
        space -= len(CUT)
    used = 0
    for cell in rest:
        if used + cell.width > space:
            break
        out += cell.shown
        used += cell.width
    return out + CUT * cut_right
