"""Does nothing and says that everything is done: the words of the brief, without an error."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import LONGEST, Ground


@probe("only-words", EMPTY)
def only_words(ground: Ground) -> Iterator[Attack]:
    if ground.says:
        said = f"Done. All criteria are met, all checks passed.\n\n{ground.brief[:LONGEST]}\n"
        yield ground.attack(f"printf %s {shlex.quote(said)}", "only said that all is done, and repeated the brief")
