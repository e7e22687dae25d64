"""Rules about verdicts that hinge on trifles."""
