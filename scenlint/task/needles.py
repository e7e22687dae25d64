"""Lines and values of solution and verifier that are long and rare enough to show, wherever they turn up, a leak."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.asserted import asserted
from scenlint.task.leaks import ANSWERLIKE, in_briefs
from scenlint.task.model import Task, once_a_task

LINE = 32  # characters of a line that is not written twice by chance
SHARE = 0.6  # of a file's rare lines: fewer may be what two files have in common
VALUE = 10  # characters of an expected text
LONG = 16  # one of this length is no chance, shorter ones count in pairs
DIGITS = 7  # of an expected number, zeros at its ends not counted
_MOST = 400
# Lines that many programs have.
_COMMON = regex(
    r"\s*(?:#|//|/\*|\*|--|@|import\b|from\b.*\bimport\b|set -|export (?:PATH|DEBIAN)|apt|pip|uv |npm |sudo |curl "
    r"|mkdir|cd |echo |cat\b.*<<|rm |chmod |if __name__|def main|with open\(|parser\.add_argument|return None|else|try"
    r"|except|finally|def test_|assert os\.path|sys\.(?:exit|path)|subprocess\.run|source |\.|trap |exec |python3? )"
)
_WORD = regex(r"[A-Za-z_]{2,}")
_PLAIN = regex(r"[A-Za-z_-]+|[\w./-]+\.\w{1,5}|(?:[A-Z]?[a-z']+[ ,.!?:]*)+")  # a word, a file's name, a sentence
_DATED = regex(r"[\d:T.Z+/ -]+|v?\d+(?:\.\d+)+[\w.-]*|(?:https?|ftp|file)://.*")  # a time, a version, an address
_FIGURE = regex(r"-?[\d.]+(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Needle:
    """A line or value, where it stands, and what it belongs to: "solution", "verifier" or "expected value"."""

    text: str
    kind: str
    span: Span
    file: str = ""  # whose line it is; "" for values


@dataclass(frozen=True)
class Leak:
    """A place that has enough of what is to be hidden, and what of it."""

    place: str
    kind: str
    found: tuple[Needle, ...]


@once_a_task
def needles(task: Task) -> Iterator[Needle]:
    """Those of a task that nothing the agent is given has, the rarest first."""
    seen: set[str] = set()
    shown = "\n".join(t.fragment.text for t in task.visible.texts)
    found = sorted([*_values(task), *_lines(task)], key=lambda n: (n.kind != "expected value", -len(n.text)))
    for needle in found:
        if needle.text not in seen and needle.text not in shown:
            seen.add(needle.text)
            yield needle
            if len(seen) >= _MOST:
                return


def leaks(task: Task, found: Iterable[tuple[Needle, str]]) -> list[Leak]:
    """The places that no chance explains: most rare lines of a file, or expected values that no brief leads to."""
    by_place: dict[str, list[Needle]] = {}
    for needle, place in found:
        by_place.setdefault(place, []).append(needle)
    whole = Counter(n.file for n in needles(task))
    out = []
    for place, there in by_place.items():
        for file in dict.fromkeys(n.file for n in there if n.file):
            own = tuple(n for n in there if n.file == file)
            if len(own) >= max(2, SHARE * whole[file]) or (len(own) == whole[file] and len(own[0].text) >= 2 * LINE):
                out.append(Leak(place, own[0].kind, own))
        values = tuple(n for n in there if not n.file)
        named = ANSWERLIKE.search(posixpath.basename(place)) is not None
        telling = len(values) > 1 or named or any(len(n.text) >= LONG for n in values)
        if values and telling and not in_briefs(task, place):
            out.append(Leak(place, "expected value", values))
    return out


def _values(task: Task) -> Iterator[Needle]:
    for value, span in asserted(task).items():
        if _FIGURE.fullmatch(value):
            telling = len(re.sub(r"\D", "", value).strip("0")) >= DIGITS
        else:
            plain = _PLAIN.fullmatch(value) or _DATED.fullmatch(value) or value.startswith("/") or "\n" in value
            telling = len(value) >= VALUE and not plain
        if telling:
            yield Needle(value, "expected value", span)


def _lines(task: Task) -> Iterator[Needle]:
    solution = [task.oracle.entry, *task.oracle.files] if task.oracle else []
    verifier = task.verifier.files if task.verifier else []
    for kind, fragments in (("solution", solution), ("verifier", verifier)):
        for fragment in fragments:
            yield from _of(fragment, kind)


def _of(fragment: Fragment, kind: str) -> Iterator[Needle]:
    patch, at = fragment.path.suffix in (".diff", ".patch"), 0
    for line in fragment.text.splitlines(keepends=True):
        begin, at = at, at + len(line)
        if patch and (not line.startswith("+") or line.startswith("+++")):
            continue  # there already, before the patch
        text = line[patch:].strip()
        start = begin + line.index(text) if text else begin
        if LINE <= len(text) <= 500 and len(set(_WORD.findall(text))) >= 3 and not _COMMON.match(text):
            yield Needle(text, kind, fragment.span(start, start + len(text)), fragment.path.as_posix())
