"""The dynamic stage: what trials of a task show. It has them run into the ledger, and lets rules judge them."""
