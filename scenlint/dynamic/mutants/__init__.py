"""Mutants of what the oracle made: is wrong work noticed, and is what the brief leaves free let be?"""

from __future__ import annotations

from scenlint.dynamic.mutants.maker import plan

__all__ = ["plan"]
