"""`scenlint rules`: lists the rules."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenlint.task.policy import Profile

if TYPE_CHECKING:
    from scenlint.rules.base import Rule


class Listing(StrEnum):
    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def rules(
    output: Annotated[Listing, typer.Option("--format", "-f", help="How to print the list.")] = Listing.TEXT,
    profile: Annotated[Profile | None, typer.Option(help="Only the rules that run under this profile.")] = None,
) -> None:
    """List the rules: code, name, severity, kind, and what each finds."""
    from scenlint.lint.registry import load_rules
    from scenlint.report.style import write

    registry = load_rules()
    listed = registry.rules
    if profile is not None:
        from scenlint.config import Settings
        from scenlint.lint.select import select

        listed = select(registry, Settings(root=Path.cwd()).override(profile=profile)).rules
    printers = {Listing.TEXT: _text, Listing.JSON: _json, Listing.MARKDOWN: _markdown}
    write(printers[output](listed))


def _text(listed: list[Rule]) -> str:
    head = ("code", "name", "severity", "kind", "fix", "finds")
    rows = [head, *((r.code, r.name, r.severity.value, r.kind.value, r.fix or "-", _finds(r)) for r in listed)]
    wide = [max(len(row[n]) for row in rows) for n in range(5)]
    lines = ["  ".join([*(f"{row[n]:<{wide[n]}}" for n in range(5)), row[5]]) for row in rows]
    return "\n".join([*lines, "", f"{len(listed)} rules; `scenlint explain RULE` prints the page of one"]) + "\n"


def _finds(rule: Rule) -> str:
    return rule.summary + (" (preview)" if rule.preview else "")


def _json(listed: list[Rule]) -> str:
    return json.dumps([_entry(rule) for rule in listed], indent=2) + "\n"


def _entry(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "code": rule.code,
        "summary": rule.summary,
        "severity": rule.severity,
        "confidence": rule.confidence,
        "kind": rule.kind,
        "family": rule.family,
        "command": rule.command,
        "needs": sorted(rule.needs),
        "formats": sorted(rule.formats),
        "profiles": sorted(rule.profiles),
        "aliases": list(rule.aliases),
        "refute": rule.refute,
        "since": rule.since,
        "preview": rule.preview,
        "fix": rule.fix or None,
        "page": rule.page.as_posix(),
    }


def _markdown(listed: list[Rule]) -> str:
    rows = ["| code | name | severity | kind | needs | fix | finds |", "|---|---|---|---|---|---|---|"]
    for rule in listed:
        finds = _finds(rule).replace("|", "\\|")
        needs = ", ".join(sorted(rule.needs)) or "-"
        link = f"[{rule.name}]({rule.page.as_posix()})"
        rows.append(f"| {rule.code} | {link} | {rule.severity} | {rule.kind} | {needs} | {rule.fix or '-'} | {finds} |")
    return "\n".join(rows) + "\n"
