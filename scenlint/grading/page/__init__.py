"""The HTML report: one file for a suite or a run that needs no script, no network and nothing beside it."""
