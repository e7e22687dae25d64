"""Verifiers of live services against dead, empty and noisy ones: what earns points there measures nothing."""

from __future__ import annotations

from scenlint.dynamic.dead.maker import plan

__all__ = ["plan"]
