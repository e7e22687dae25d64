"""Pages of the deep stage's experiments in the rule book: one for each probe, one for each other kind."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from scenlint.dynamic.probes import load_probes
from scenlint.lint.registry import book_text

KINDS = ("mutants", "worlds", "environments")
_ROW = re.compile(r"^\| (?P<names>`[^|]*`) \| (?P<what>[^|]*) \|", re.M)


def page_of(name: str) -> str:
    """The page of a probe, of a kind of experiment, or of the one with this name; "" where none is called so.

    A name is taken as it stands in the ledger too: `mutant:drop-row#3`, `world:offline`, `probe:garbage#text@step`.
    """
    kind, _, rest = name.rpartition(":")
    name = re.sub(r"[#@].*", "", rest)
    if (probe := load_probes().get(name)) is not None and kind in ("", "probe"):
        page = book_text(probe.module, Path(probe.page)) or f"# {probe.name}\n\n{probe.summary}\n"
        return _below(page, probe.name, f"a probe of `scenlint validate --deep`; reported as {probe.rule}")
    for title in KINDS:
        if name in (title, title[:-1]) and not kind:
            return _below(_book(title), title, "experiments of `scenlint validate --deep`")
        if kind in ("", title[:-1]) and name in names(title):
            told = f"one of the {title} of `scenlint validate --deep`: {names(title)[name]}"
            return _below(_book(title), name, told)
    return ""


@lru_cache
def names(kind: str) -> dict[str, str]:
    """The experiments of a kind, each with what it changes."""
    rows = _ROW.finditer(_book(kind))
    return {name: row["what"].strip() for row in rows for name in re.findall(r"`([^`]+)`", row["names"])}


def every() -> list[str]:
    """All names that have a page."""
    return [*load_probes(), *KINDS, *(name for kind in KINDS for name in names(kind))]


def _book(kind: str) -> str:
    return book_text(__name__, Path(f"experiments/{kind}.md"))


def _below(page: str, title: str, told: str) -> str:
    return f"# {title}\n\n{told}\n\n{page.partition(chr(10))[2].strip()}\n"
