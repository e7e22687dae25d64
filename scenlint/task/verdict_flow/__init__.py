"""How a verifier's verdict comes about: what its scripts write or end with, on which paths, and on what that hangs."""

from scenlint.task.verdict_flow.shell import Flow, Swallowed, flows, short, swallowed_failures

__all__ = ["Flow", "Swallowed", "flows", "short", "swallowed_failures"]
