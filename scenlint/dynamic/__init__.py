"""The dynamic stage: what trials of a task show; it plans them, runs them into the ledger, and lets rules judge them."""
