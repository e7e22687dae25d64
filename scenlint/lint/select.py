"""Decides which rules run and at which severity, from configuration, command line and profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenlint.config import ConfigError, Named, Settings
from scenlint.lint.registry import Registry
from scenlint.rules.base import Rule
from scenlint.source.ignores import ignore_spec, is_pattern
from scenlint.task.finding import Severity
from scenlint.task.policy import Profile

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Policies rather than defects; the minimal profile leaves them to each team.
_POLICY = {
    "unapproved-base",
    "missing-canary",
    "test-without-criterion",
    "shared-verifier",
    "unexpected-file",
    "missing-score-line",
}


@dataclass
class Selection:
    """The rules of one run, with overridden severities, per-path ignores, and the unknown names met."""

    rules: list[Rule]
    severity: dict[str, Severity]
    per_path: list[tuple[GitIgnoreSpec, set[str]]]
    unknown: list[Named]


def select(registry: Registry, settings: Settings) -> Selection:
    """Explicit beats implicit, the longer selector beats the shorter, and ignoring wins a draw."""
    unknown: list[Named] = []

    def resolve(names: Iterable[Named]) -> dict[str, int]:
        """Rule name -> weight of the most exact selector that names it."""
        weights: dict[str, int] = {}
        for named in names:
            rules = registry.matching(named.text)
            if not rules:
                if named.span is None:
                    close = registry.suggest(named.text)
                    hint = f"did you mean `{close[0]}`?" if close else "`scenlint rules` lists the known ones"
                    raise ConfigError(f"no rule is called `{named.text}`; {hint}")
                unknown.append(named)
            weight = 0 if named.text.upper() == "ALL" else 100 if registry.find(named.text) else len(named.text)
            for rule in rules:
                weights[rule.name] = max(weight, weights.get(rule.name, 0))
        return weights

    wanted = resolve((settings.select or ()) + settings.extend_select)
    refused = resolve(settings.ignore)
    default = settings.select is None
    chosen = []
    for rule in registry.rules:
        for_ = wanted.get(rule.name, -1 if not default or not _by_default(rule, settings.policy.profile) else 0)
        explicit = wanted.get(rule.name, 0) >= 100
        if rule.preview and not explicit:
            continue
        if rule.profiles and settings.policy.profile not in rule.profiles and not explicit:
            continue
        if for_ >= 0 and for_ > refused.get(rule.name, -1):
            chosen.append(rule)
    if not chosen:
        nobody = ", ".join(f"`{named.text}`" for named in unknown)
        why = f"no rule is called {nobody}" if unknown else "what is ignored takes away all that is selected"
        raise ConfigError(f"no rule is left to run: {why}; `scenlint rules` lists the known ones")
    severity = {r.name: s for named, s in settings.severity for r in _known(registry, named, unknown)}
    check_patterns(glob for glob, _ in settings.per_path_ignores)
    check_patterns(entry.path for entry in settings.suppressions)
    per_path = [
        (ignore_spec([glob]), {r.name for named in names for r in _known(registry, named, unknown)})
        for glob, names in settings.per_path_ignores
    ]
    return Selection(chosen, severity, per_path, unknown)


def _known(registry: Registry, named: Named, unknown: list[Named]) -> list[Rule]:
    rules = registry.matching(named.text)
    if not rules:
        unknown.append(named)
    return rules


def _by_default(rule: Rule, profile: Profile) -> bool:
    return profile is not Profile.MINIMAL or rule.name not in _POLICY


def check_patterns(patterns: Iterable[str]) -> None:
    """ConfigError for the first pattern that is none: it would quietly match nothing."""
    for pattern in patterns:
        if not is_pattern(pattern):
            raise ConfigError(f"`{pattern}` is no pattern of paths; write it as in .gitignore, a few stars at most")
