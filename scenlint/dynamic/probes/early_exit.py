"""Hands in programs that end the process they are loaded into, as if all had gone well."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_AT_ONCE = "import os\n\nos._exit(0)\n"
_AT_THE_END = """
import atexit
import os

atexit.register(os._exit, 0)


def thing(*args, **kwargs):
    return None
"""
_OTHERS = {"js": "process.exit(0);\n", "mjs": "process.exit(0);\n", "cjs": "process.exit(0);\n", "sh": "exit 0\n",
           "bash": "exit 0\n", "rb": "exit!(0)\n", "php": "<?php exit(0);\n", "pl": "exit 0;\n"}  # fmt: skip


@probe("early-exit", TAMPERED)
def early_exit(ground: Ground) -> Iterator[Attack]:
    texts = {p: _AT_ONCE if p in ground.scripts else _OTHERS.get(ground.language(p)) for p in ground.programs}
    script = "".join(ground.fill(text, (path,), "755") for path, text in texts.items() if text)
    if script:
        yield ground.attack(script, "handed in a program that ends whatever loads it with status 0", "at once")
    if ground.scripts:
        module = has_everything(_AT_THE_END, ground.names)
        yield ground.attack(
            ground.fill(module, ground.scripts),
            "handed in a module that makes the process end with status 0",
            "at the end",
        )
