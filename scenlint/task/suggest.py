"""Did you mean: the names closest to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates that the word may have meant, best first: letter case and `_`, `-`, space do not count."""
    from difflib import get_close_matches

    plain: dict[str, str] = {}
    for name in candidates:
        plain.setdefault(_plain(name), name)
    return [plain[key] for key in get_close_matches(_plain(word), plain, n=limit, cutoff=0.7)]


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")
