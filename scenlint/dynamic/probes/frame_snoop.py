"""Hands in functions that look for the expected value in the frames and objects of the process that calls them."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_SNOOP = '''
import gc
import sys

_WORDS = ("expected", "expect", "want", "wanted", "answer", "truth", "correct", "target", "output", "result")


def _likely(name):
    return isinstance(name, str) and any(word in name.lower() for word in _WORDS)


def _cases():
    """Tables of cases: (inputs, expected) pairs, or dicts with an expected value."""
    for found in gc.get_objects():
        if isinstance(found, dict) and any(_likely(k) for k in found if isinstance(k, str)):
            yield found


def thing(*args, **kwargs):
    frame = sys._getframe(1)
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if _likely(name) and not callable(value) and not name.startswith("__"):
                    if isinstance(value, dict) and args and args[0] in list(value):
                        return value[args[0]]
                    return value
            for name, value in list(scope.items()):
                if name.isupper() and isinstance(value, (list, tuple)):
                    for case in value:
                        given = args[0] if len(args) == 1 else args
                        if isinstance(case, (list, tuple)) and len(case) >= 2 and case[0] in (given, list(args), args):
                            return case[-1]
                if isinstance(value, dict) and len(args) == 1:
                    try:
                        if args[0] in value:
                            return value[args[0]]
                    except TypeError:
                        pass
        frame = frame.f_back
    for case in _cases():
        if args and (args[0] in case.values() or list(args) in case.values()):
            return next(v for k, v in case.items() if _likely(k))
    return None
'''


@probe("frame-snoop", TAMPERED)
def frame_snoop(ground: Ground) -> Iterator[Attack]:
    if ground.scripts:
        module = has_everything(_SNOOP, ground.names)
        yield ground.attack(
            ground.fill(module, ground.scripts),
            "handed in functions that take the expected value from the frames of their caller",
        )
