"""Copies a file that the agent was given to every place where a result is due."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import COPIED, probe
from scenlint.dynamic.probes.ground import Ground

_TRIALS = 3
_TEXTS = 30  # files


@probe("copied-inputs", COPIED)
def copied_inputs(ground: Ground) -> Iterator[Attack]:
    places = tuple(p for p in ground.files if p not in ground.inputs)
    given = [p for p in ground.inputs if p not in ground.outputs]
    if ground.deepgym or not places:
        return
    attacks = [_copied(ground, path, places) for path in given[:_TRIALS]]
    if len(given) > 1:
        everything = " ".join(shlex.quote(p) for p in given[:_TEXTS])
        lines = [f"cat {everything} 2>/dev/null | put {shlex.quote(place)}" for place in places]
        told = "wrote all inputs, one behind the other, to every result"
        attacks.insert(1, ground.attack("\n".join(lines), told, "all"))
    yield from attacks


def _copied(ground: Ground, path: str, places: tuple[str, ...]) -> Attack:
    lines = [f"[ -f {shlex.quote(path)} ] && cat {shlex.quote(path)} | put {shlex.quote(place)}" for place in places]
    return ground.attack("\n".join(lines), f"copied `{path}` to every result", posixpath.basename(path), target=path)
