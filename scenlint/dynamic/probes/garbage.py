"""Writes text or noise that means nothing to every file that brief or verifier name."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground

_TEXT = "Lorem ipsum dolor sit amet, consectetur adipiscing elit.\n" * 12
_BYTES = 2048


@probe("garbage", EMPTY)
def garbage(ground: Ground) -> Iterator[Attack]:
    if not ground.files:
        return
    if not ground.deepgym:
        yield ground.attack(ground.fill(_TEXT), "wrote the same meaningless sentence to every file", "text")
    noise = random.Random(5).randbytes(_BYTES)  # always the same
    octal = "".join(f"\\{byte:03o}" for byte in noise)
    lines = [f"printf '{octal}' | put {shlex.quote(p)}" for p in ground.files[:10]]
    yield ground.attack("\n".join(lines), f"wrote {_BYTES} bytes of noise to every file", "noise")
