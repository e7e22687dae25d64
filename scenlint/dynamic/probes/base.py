"""What a probe is made with: `@probe(...)` turns a function (ground) -> attacks into one; `load_probes` finds all."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenlint.dynamic.probes.attack import Attack
    from scenlint.dynamic.probes.ground import Ground

GROUP = "scenlint.probes"  # entry points that name modules with probes of others
# Rules by which an attack that got through is reported.
EMPTY, COPIED, TAMPERED, LEAKED = (
    "passes-empty-output", "passes-copied-input", "verdict-tamperable", "answer-in-built-image",
)  # fmt: skip

Attacks = Callable[["Ground"], Iterable["Attack"]]


@dataclass(frozen=True)
class Probe:
    """One probe: its name, the rule that reports it, and the attacks it makes on a given ground, a trial each."""

    name: str
    rule: str
    summary: str  # the first line of its module's docstring
    module: str
    make: Attacks
    control: str = ""  # the variant that by losing marks shows that the others show anything

    @property
    def page(self) -> str:
        """Its page, relative to the rule book."""
        return f"probes/{self.module.rpartition('.')[2]}.md"

    def attacks(self, ground: Ground) -> Iterator[Attack]:
        """Its attacks on this ground; none where it has nothing to do with such a task."""
        for attack in self.make(ground):
            measure = bool(self.control) and attack.variant == self.control
            yield replace(attack, probe=self.name, rule=attack.rule or self.rule, measure=measure)


def probe(name: str, rule: str, *, control: str = "") -> Callable[[Attacks], Probe]:
    """Make the decorated function a probe."""

    def wrap(make: Attacks) -> Probe:
        doc = (sys.modules[make.__module__].__doc__ or "").strip()
        return Probe(name, rule, doc.partition("\n")[0], make.__module__, make, control)

    return wrap


@lru_cache
def load_probes() -> dict[str, Probe]:
    """All probes by name: those of this package, in the order of their names, and those of others."""
    package = importlib.import_module(__package__)
    names = [f"{__package__}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    names += [entry.value for entry in entry_points(group=GROUP)]
    found = [p for name in names for p in vars(importlib.import_module(name)).values() if isinstance(p, Probe)]
    return {p.name: p for p in sorted(found, key=lambda p: (_ORDER.index(p.rule), p.name))}


_ORDER = [EMPTY, COPIED, TAMPERED, LEAKED]
