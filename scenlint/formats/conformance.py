"""What every format must hold to, as one check that authors of formats run in their tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from scenlint.formats.base import Format


def check_format(format: Format, sample_folder: Path, lookalikes: Iterable[Path] = ()) -> None:
    """Check a format against a sound sample task of its own; raises AssertionError with what is wrong."""
    raise NotImplementedError
