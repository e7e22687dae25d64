"""Parses with tree-sitter, and gives up on text that a grammar needs quadratic time for: `)(` a thousand times, say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

PATIENCE = 3.0  # seconds of CPU time for one text; a real one takes a hundredth
_CHUNK = 1 << 16
_BROKEN = b")"  # which parses nowhere


def parse(parser: Parser, text: bytes) -> Tree:
    """The syntax tree; where it takes too long, the tree of something broken, so that nobody takes it for clean."""
    # A run of zero bytes is what no grammar gets through; shells drop them.
    text = text.replace(b"\0", b" ")
    end = time.process_time() + PATIENCE
    try:
        return parser.parse(
            lambda at, _: text[at : at + _CHUNK],
            progress_callback=lambda *_: time.process_time() > end,
        )
    except ValueError:
        parser.reset()
        return parser.parse(_BROKEN)
