"""Trials that other harnesses ran, read from the files they left: one reader for each harness.

Nothing that had no verdict gets a number; where a trial came from stays on record (`TrialRecord.source`).
"""

from __future__ import annotations

from scenlint.imports.base import Imported, Problem, read

__all__ = ["Imported", "Problem", "read"]
