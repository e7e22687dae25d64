"""Writes the brief's own words, or its examples, where a result is due."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import COPIED, probe
from scenlint.dynamic.probes.ground import LONGEST, Ground
from scenlint.dynamic.probes.payloads import has_everything

_FENCE = re.compile(r"^ {0,3}```[^\n]*\n(.*?)^ {0,3}```", re.M | re.S)
_TRIALS = 3


@probe("copied-brief", COPIED)
def copied_brief(ground: Ground) -> Iterator[Attack]:
    if not ground.files:
        return
    brief = ground.brief[:LONGEST]
    examples = [m for m in _FENCE.findall(brief) if m.strip()][:_TRIALS]
    if ground.scripts:
        words = "\n".join(examples) or brief
        program = has_everything(f"def thing(*args, **kwargs):\n    return {words!r}\n", ground.names)
        program += f"\n\nif __name__ == '__main__':\n    print({words!r}, end='')\n"
        yield ground.attack(
            ground.fill(program, ground.scripts), "handed in a program that prints the brief's examples", "printed"
        )
    places = tuple(p for p in ground.files if p not in ground.programs)
    if places:
        yield ground.attack(ground.fill(brief, places), "wrote the brief itself to every result", "brief")
        # Every word that an answer may consist of.
        given = " ".join(shlex.quote(p) for p in ground.inputs[:30])
        quoted = shlex.quote(brief)
        lines = [
            f"{{ printf %s {quoted}; cat {given or '/dev/null'}; }} 2>/dev/null | put {shlex.quote(p)}" for p in places
        ]
        yield ground.attack("\n".join(lines), "wrote brief and inputs together to every result", "every word")
        for n, example in enumerate(examples, 1):
            yield ground.attack(
                ground.fill(example, places), f"wrote example {n} of the brief to every result", f"example {n}"
            )
