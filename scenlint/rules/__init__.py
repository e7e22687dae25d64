"""The built-in rules, one file each, grouped as the rule book is; and what rule authors import."""

from scenlint.rules.base import Rule, rule, suite_rule, trial_rule
from scenlint.task.finding import Confidence, Finding, Kind, Severity, related
from scenlint.task.fix import Fix
from scenlint.task.model import Contract, Isolation, NotAssessableError, Role, Task

__all__ = [
    "Confidence",
    "Contract",
    "Finding",
    "Fix",
    "Isolation",
    "Kind",
    "NotAssessableError",
    "Role",
    "Rule",
    "Severity",
    "Task",
    "related",
    "rule",
    "suite_rule",
    "trial_rule",
]
