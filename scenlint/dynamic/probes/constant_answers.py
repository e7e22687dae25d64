"""Hands in functions that give the same answer whatever they are asked: yes, no, 0, -1, an empty list or text."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import HALF, Attack
from scenlint.dynamic.probes.base import EMPTY, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_ANSWERS = {"yes": "True", "no": "False", "zero": "0", "minus-one": "-1", "empty-list": "[]", "empty-text": "''"}


@probe("constant-answers", EMPTY)
def constant_answers(ground: Ground) -> Iterator[Attack]:
    if not ground.scripts:
        return
    for variant, answer in _ANSWERS.items():
        module = has_everything(f"def thing(*args, **kwargs):\n    return {answer}", ground.names)
        told = f"handed in functions that return `{answer}` whatever they are asked"
        yield ground.attack(ground.fill(module, ground.scripts), told, variant, share=HALF)
