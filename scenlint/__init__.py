"""Decides whether a scenario of an AI-agent benchmark measures what it claims."""

__version__ = "0.1.0"
