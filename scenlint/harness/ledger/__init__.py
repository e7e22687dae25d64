"""The ledger: every phase of every trial as it ends, in SQLite, and a folder of evidence for each trial."""

from scenlint.harness.ledger.book import FOLDER, Ledger, Wanted
from scenlint.harness.ledger.reading import Entry, LedgerError
from scenlint.harness.ledger.rows import Filters, Head, Row

__all__ = ["FOLDER", "Entry", "Filters", "Head", "Ledger", "LedgerError", "Row", "Wanted"]
