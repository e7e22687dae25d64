"""The audit record of a run: a chain of lines that shows any later change, its export, and grading saved work again."""

from scenlint.grading.audit.artefacts import trial_data
from scenlint.grading.audit.chain import Chain, ChainError, Fault, Line, chain_of, path_of, verify

__all__ = ["Chain", "ChainError", "Fault", "Line", "chain_of", "path_of", "trial_data", "verify"]
