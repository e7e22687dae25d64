"""`scenlint explain`: prints the page of a rule."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scenlint.lint.registry import Registry
    from scenlint.rules.base import Rule


def explain(rule: Annotated[str, typer.Argument(help="Name, code or alias of a rule, or name of a probe.")]) -> None:
    """Print what a rule finds, why it matters, and how to fix or suppress it.

    Exit status: 0 printed, 2 nothing is called so.
    """
    from scenlint.lint.registry import load_rules
    from scenlint.report.style import visible, write

    registry = load_rules()
    found = registry.find(rule.strip())
    probe = page_of_probe(rule.strip()) if found is None else ""
    if found is None and not probe:
        write(f"scenlint: {visible(_stranger(rule, registry))}\n", sys.stderr)
        raise typer.Exit(2)
    text = page_of(found) if found else probe
    if sys.stdout.isatty():
        _print_rich(text)
    else:
        write(text)


def _stranger(name: str, registry: Registry) -> str:
    """What to say of a name that has no page."""
    from scenlint.dynamic.probes import load_probes
    from scenlint.task.suggest import closest

    if group := registry.matching(name.strip()):
        return f"`{name}` stands for {len(group)} rules, name one of them: {', '.join(r.name for r in group)}"
    known = [key for r in registry.rules for key in (r.name, r.code)]
    names = ", ".join(f"`{other}`" for other in closest(name, [*known, *load_probes()]))
    hint = f"did you mean {names}?" if names else "`scenlint rules` lists the known ones"
    return f"no rule is called `{name}`; {hint}"


def page_of_probe(name: str) -> str:
    """The page of a probe of the deep stage; "" where none is called so."""
    from scenlint.dynamic.probes import load_probes
    from scenlint.lint.registry import book_text

    probe = load_probes().get(name)
    if probe is None:
        return ""
    page = book_text(probe.module, Path(probe.page)) or f"# {probe.name}\n\n{probe.summary}\n"
    title, _, body = page.partition("\n")
    return f"{title}\n\na probe of `scenlint validate --deep`; reported as {probe.rule}\n\n{body.strip()}\n"


def page_of(rule: Rule) -> str:
    """The rule's page as it is read: what is known of the rule below its title, the examples with captions."""
    from scenlint.lint.registry import page_text

    page = _readable(page_text(rule)) or f"# {rule.name}\n\n{rule.summary}\n\nThis rule has no page.\n"
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


def _readable(page: str) -> str:
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


def _print_rich(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    from scenlint.report.style import wants_color

    console = Console(no_color=not wants_color(sys.stdout), soft_wrap=False)
    console.print(Markdown(text), width=min(console.width, 100))
