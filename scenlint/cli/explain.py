"""`scenlint explain`: prints the page of a rule or of an experiment."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scenlint.lint.registry import Registry


def explain(
    rule: Annotated[str, typer.Argument(help="A rule's name, code or alias; a probe, a mutant or a world.")],
) -> None:
    """Print what a rule finds, why it matters, and how to fix or suppress it; or what an experiment does.

    Exit status: 0 printed, 2 nothing is called so.
    """
    from scenlint.dynamic import pages
    from scenlint.lint.pages import page_of
    from scenlint.lint.registry import load_rules
    from scenlint.report.style import visible, write

    registry = load_rules()
    found = registry.find(rule.strip())
    text = page_of(found) if found else pages.page_of(rule.strip())
    if not text:
        write(f"scenlint: {visible(_stranger(rule, registry))}\n", sys.stderr)
        raise typer.Exit(2)
    if sys.stdout.isatty():
        _print_rich(text)
    else:
        write(text)


def _stranger(name: str, registry: Registry) -> str:
    """What to say of a name that has no page."""
    from scenlint.dynamic import pages
    from scenlint.task.suggest import closest

    if group := registry.matching(name.strip()):
        return f"`{name}` stands for {len(group)} rules, name one of them: {', '.join(r.name for r in group)}"
    known = [key for r in registry.rules for key in (r.name, r.code)]
    names = ", ".join(f"`{other}`" for other in closest(name, [*known, *pages.every()]))
    hint = f"did you mean {names}?" if names else "`scenlint rules` lists the known ones"
    return f"no rule is called `{name}`; {hint}"


def _print_rich(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    from scenlint.report.style import wants_color

    console = Console(no_color=not wants_color(sys.stdout), soft_wrap=False)
    console.print(Markdown(text), width=min(console.width, 100))
