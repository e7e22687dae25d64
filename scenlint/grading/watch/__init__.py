"""Signals between audits: outcomes of production, one by one, and alerts whose false-alarm rate is known."""
