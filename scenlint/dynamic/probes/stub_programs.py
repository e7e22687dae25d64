"""Hands in programs that do nothing: whose functions return nothing, or which fail at once."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_RETURNS = """
def thing(*args, **kwargs):
    return None
"""
_RAISES = "raise RuntimeError('no solution')\n"
_FAILING = {"sh": "#!/bin/sh\nexit 1\n", "bash": "#!/bin/sh\nexit 1\n", "js": "throw new Error('no solution');\n"}


@probe("stub-programs", EMPTY)
def stub_programs(ground: Ground) -> Iterator[Attack]:
    if ground.scripts:
        stub = has_everything(_RETURNS, ground.names)
        yield ground.attack(ground.fill(stub, ground.scripts), "handed in functions that return nothing", "returns")
    texts = {p: _RAISES if p in ground.scripts else _FAILING.get(ground.language(p)) for p in ground.programs}
    known = {p: text for p, text in texts.items() if text}
    if known:
        script = "".join(ground.fill(text, (path,), "755") for path, text in known.items())
        yield ground.attack(script, "handed in a program that fails at once", "raises")
