"""Regular expressions that are compiled when first used: of some three hundred, one task needs the half."""

from __future__ import annotations

import re
from typing import Any, cast


def regex(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Like `re.compile`, but later. For patterns of a module, which nobody may ever ask for."""
    return cast("re.Pattern[str]", _Regex(pattern, flags))


class _Regex:
    def __init__(self, pattern: str, flags: int | re.RegexFlag) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._given)
        # The methods become attributes, so that from now on asking costs what it costs of the pattern itself.
        for public in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, public, getattr(compiled, public))
        return getattr(compiled, name)
