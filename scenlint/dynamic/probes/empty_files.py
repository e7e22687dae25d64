"""Makes every file and folder that brief or verifier name, and leaves them empty."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground


@probe("empty-files", EMPTY)
def empty_files(ground: Ground) -> Iterator[Attack]:
    if ground.outputs:
        yield ground.attack(ground.fill("", mode="755"), "made every file that brief or verifier name, empty")
