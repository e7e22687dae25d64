"""The page of a rule as it is read: what is known of the rule on top, the examples with captions."""

from __future__ import annotations

import re

from scenlint.lint.registry import page_text
from scenlint.rules.base import Rule


def page_of(rule: Rule) -> str:
    """The rule's page as it is read: what is known of the rule below its title, the examples with captions."""
    page = readable(page_text(rule)) or f"# {rule.name}\n\n{rule.summary}\n\nThis rule has no page.\n"
    title, _, body = page.partition("\n")
    return f"{title}\n\n{header(rule)}\n\n{body.strip()}\n"


def header(rule: Rule) -> str:
    """One line of metadata: `SL301; error; high confidence; fact; needs environment; every format`."""
    parts = [rule.code, rule.severity.value, f"{rule.confidence} confidence", rule.kind.value]
    if rule.needs:
        parts.append("needs " + ", ".join(sorted(rule.needs)))
    parts.append(", ".join(sorted(rule.formats)) + " only" if rule.formats else "every format")
    if rule.profiles:
        parts.append("profiles " + ", ".join(sorted(rule.profiles)))
    if rule.command != "check":
        parts.append(f"judged by `scenlint {rule.command}`")
    if rule.fix:
        parts.append("fixable with --fix" + (" --unsafe-fixes" if rule.fix == "unsafe" else ""))
    if rule.aliases:
        parts.append("also " + ", ".join(rule.aliases))
    if rule.preview:
        parts.append("preview")
    return "; ".join([*parts, f"since {rule.since}"])


def readable(page: str) -> str:
    """The page with the file name of an example above it instead of inside its fence, and its marks in words."""

    def caption(match: re.Match[str]) -> str:
        path = re.search(r"\b(?:path|records)=(\S+)", match["info"])
        fence = match["fence"] + match["language"]
        if not path:
            return fence
        what = " (left out)" if re.search(r"\bdelete\b", match["info"]) else ""
        return f"`{path[1]}`{what}:\n\n{fence}"

    page = re.sub(
        r"((?:#|//|<!--)[ \t]*)![a-z0-9,-]+(?=[ \t]*(?:-->)?[ \t]*$)", r"\1found here", page, flags=re.MULTILINE
    )
    return re.sub(r"^(?P<fence>`{3,}|~{3,})(?P<language>\S+)[ \t]+(?P<info>.+)$", caption, page, flags=re.MULTILINE)
