"""How plain text reaches a terminal: colour or none, room, encoding, and characters that would disturb it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from scenlint.source.regex import regex
from scenlint.source.secrets import redact

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
# Controls, invisible format characters, line and paragraph separators, surrogates: they would move the cursor,
# reorder the line or hide text. Joiners, which scripts and emoji need, are not among them.
_DISTURBING = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True)
class Style:
    """Colour switch, terminal width, whether everything is listed, and the encoding of the stream."""

    color: bool = False
    width: int = 100
    verbose: bool = False
    encoding: str = "utf-8"

    def __call__(self, text: str, *names: str) -> str:
        """The text in the named styles, or as it is without colour."""
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(_CODES[n] for n in names)}m{text}\x1b[0m"


def wants_color(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """NO_COLOR forbids it, FORCE_COLOR and CLICOLOR_FORCE demand it, else a terminal that is not dumb decides."""
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def visible(text: str) -> str:
    """The text on one line, secrets blanked out, with every character that would disturb a terminal spelled out."""
    return _DISTURBING.sub(lambda m: spelled(m[0]), redact(text).replace("\t", " ").replace("\n", " "))


def spelled(char: str) -> str:
    """A disturbing character in letters: `<202e>`, and `\\xff` for a byte that was no text."""
    code = ord(char)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"<{code:04x}>"


def disturbs(char: str) -> bool:
    """Whether a character must be spelled out."""
    return _DISTURBING.match(char) is not None


def decoded(text: str) -> str:
    """The text without secrets, and without surrogates, which no JSON or XML reader takes: they become `\\xff`."""
    return re.sub("[\ud800-\udfff]", lambda m: spelled(m[0]), redact(text))


def write(text: str, stream: TextIO | None = None) -> None:
    """Print text whatever the stream's encoding: what it cannot show is escaped (`\\u2026`), never an error."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
