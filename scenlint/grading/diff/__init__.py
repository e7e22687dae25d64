"""A run against its baseline: what changed, by tests that noise does not pass."""

from scenlint.grading.diff.compare import diff
from scenlint.grading.diff.model import Compared, Diff, Kind, Line

__all__ = ["Compared", "Diff", "Kind", "Line", "diff"]
