"""Hands in functions whose result is equal to everything, and greater, and smaller, and in it."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything

_OBJECT = '''
class Agreeable(dict):
    """Agrees with whatever it is compared with."""

    def __call__(self, *args, **kwargs):
        return Agreeable()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Agreeable()

    def __getitem__(self, key):
        return Agreeable()

    def __iter__(self):
        return iter(())

    def _yes(self, *args):
        return True

    def _same(self, *args):
        return self

    def __hash__(self):
        return 0

    def __float__(self):
        return 0.0

    def __str__(self):
        return ""

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = _yes
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __rtruediv__ = __abs__ = __round__ = _same

    def __ne__(self, other):
        return False


thing = Agreeable()
'''


@probe("equal-objects", TAMPERED)
def equal_objects(ground: Ground) -> Iterator[Attack]:
    if ground.scripts:
        module = has_everything(_OBJECT, ground.names)
        yield ground.attack(
            ground.fill(module, ground.scripts), "handed in functions whose result is equal to everything"
        )
