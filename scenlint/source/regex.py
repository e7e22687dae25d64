"""Regular expressions that are compiled when first used: of some three hundred, one task needs the half."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, cast


def regex(pattern: str, flags: int | re.RegexFlag = 0, *, words: Iterable[str] = ()) -> re.Pattern[str]:
    """Like `re.compile`, but later. For patterns of a module, which nobody may ever ask for.

    `words`, in lower case: texts that hold none of them are known not to match. Looking for words takes a hundredth of
    the time that an alternation takes, so patterns that read whole files and seldom match are given some.
    """
    return cast("re.Pattern[str]", _Regex(pattern, flags, tuple(words)))


class _Regex:
    def __init__(self, pattern: str, flags: int | re.RegexFlag, words: tuple[str, ...]) -> None:
        self._given = pattern, flags
        self._words = words

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._given)
        # The methods become attributes, so that from now on asking costs what it costs of the pattern itself.
        for public in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, public, getattr(compiled, public))
        if self._words:
            self.search = _only(compiled.search, self._words, lambda text: None)
            self.finditer = _only(compiled.finditer, self._words, lambda text: iter(()))
            self.findall = _only(compiled.findall, self._words, lambda text: [])
        return self.__dict__[name] if name in self.__dict__ else getattr(compiled, name)


def _only(find: Callable[..., Any], words: tuple[str, ...], none: Callable[[str], Any]) -> Callable[..., Any]:
    def found(text: str, *place: int) -> Any:
        folded = _folded(text)
        return find(text, *place) if any(word in folded for word in words) else none(text)

    return found


_last = ("", "")


def _folded(text: str) -> str:
    """The text without letter case; many patterns look at the same one in turn."""
    global _last
    if _last[0] is not text:
        _last = text, text.casefold()
    return _last[1]
