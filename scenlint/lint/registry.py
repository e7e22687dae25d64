"""The rules at hand: built-in and third-party ones, loaded alike through the entry-point group `scenlint.rules`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from scenlint.config import ConfigError
from scenlint.rules.base import Rule
from scenlint.task.suggest import closest

GROUP = "scenlint.rules"

# Former name or code -> present name. A rule is renamed only through a row here.
REDIRECTS: dict[str, str] = {}


@dataclass
class Registry:
    """All rules, sorted by code, found by name, code or alias (letter case does not matter)."""

    rules: list[Rule]
    _keys: dict[str, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rules.sort(key=lambda r: (r.code, r.name))
        for alias_first in (True, False):  # names and codes win over aliases
            for rule in self.rules:
                keys = rule.aliases if alias_first else (rule.name, rule.code)
                self._keys.update({key.lower(): rule for key in keys})

    def find(self, key: str) -> Rule | None:
        """The rule of that name, code or alias."""
        key = REDIRECTS.get(key, key)
        return self._keys.get(key.lower())

    def suggest(self, key: str) -> list[str]:
        """Names, codes and families that look like a mistyped one."""
        known = [key for r in self.rules for key in (r.name, r.code, r.family)]
        return closest(key, known)

    def matching(self, text: str) -> list[Rule]:
        """The rules a selector stands for: ALL, a name, code, alias, code prefix (SL3) or family (brief)."""
        if text.upper() == "ALL":
            return list(self.rules)
        found = self.find(text)
        if found:
            return [found]
        prefix = text.upper()
        if prefix.startswith("SL"):
            return [r for r in self.rules if r.code.startswith(prefix)]
        return [r for r in self.rules if r.family == text.lower()]


@cache
def load_rules() -> Registry:
    """Every rule of every installed package, imported once."""
    seen: dict[str, Rule] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name != "builtin", p.name)):
        for rule in _collect(load_entry(point)):
            other = seen.setdefault(rule.name, rule)
            if other.module != rule.module:
                raise ValueError(f"two rules are called `{rule.name}`: in {other.module} and in {rule.module}")
    return Registry(list(seen.values()))


def load_entry(point: EntryPoint) -> Any:
    """What an entry point names; a package that cannot be imported is a fault of the installation, said by its name."""
    try:
        return point.load()
    except Exception as exc:
        raise ConfigError(f"{point.group}: `{point.value}` cannot be loaded: {type(exc).__name__}: {exc}") from exc


def _collect(loaded: object) -> Iterator[Rule]:
    """The rules behind an entry point: a Rule, a module, or a package whose modules hold rules."""
    if isinstance(loaded, Rule):
        yield loaded
    elif isinstance(loaded, ModuleType):
        yield from (value for value in vars(loaded).values() if isinstance(value, Rule))
        for info in pkgutil.walk_packages(getattr(loaded, "__path__", []), loaded.__name__ + "."):
            module = importlib.import_module(info.name)
            yield from (value for value in vars(module).values() if isinstance(value, Rule))


def page_text(rule: Rule) -> str:
    """The rule's page in Markdown; "" where it has none."""
    return book_text(rule.module, rule.page)


def book_text(module: str, path: Path) -> str:
    """A page of the rule book that comes with a module's package; "" where there is none."""
    package = Path(importlib.import_module(module.split(".")[0]).__file__ or "").parent
    # Installed, the book lies inside the package; in a checkout, beside it.
    for book in (package / "_rulebook", package.parent / "rules"):
        page = book / path
        if page.is_file():
            return page.read_text("utf-8")
    return ""
