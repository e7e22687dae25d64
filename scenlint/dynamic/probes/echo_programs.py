"""Hands in programs that give back what they are given, unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import HALF, Attack
from scenlint.dynamic.probes.base import COPIED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_ECHO = """
import sys


def thing(*args, **kwargs):
    return args[0] if args else None
"""
_MAIN = """

if __name__ == "__main__":
    for name in sys.argv[1:]:
        try:
            print(open(name).read(), end="")
        except OSError:
            print(name)
    if not sys.argv[1:] and not sys.stdin.isatty():
        print(sys.stdin.read(), end="")
"""
_SHELL = '#!/bin/sh\nif [ $# -gt 0 ]; then cat "$@" 2>/dev/null || echo "$@"; else cat; fi\n'


@probe("echo-programs", COPIED)
def echo_programs(ground: Ground) -> Iterator[Attack]:
    shells = tuple(p for p in ground.programs if ground.language(p) in ("sh", "bash"))
    script = ""
    if ground.scripts:
        script += ground.fill(has_everything(_ECHO, ground.names) + _MAIN, ground.scripts, "755")
    if shells:
        script += ground.fill(_SHELL, shells, "755")
    if script:
        yield ground.attack(script, "handed in programs that give back what they are given", share=HALF)
