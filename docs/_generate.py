"""Writes the pages that come from the code: the rule book with its index, the configuration, the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from scenlint.config import KEYS, schema
from scenlint.dynamic import pages as experiments
from scenlint.dynamic.probes import load_probes
from scenlint.lint.pages import page_of
from scenlint.lint.registry import load_rules
from scenlint.rules.base import Rule

FAMILIES = {
    "meta": "About files, configuration and suppressions",
    "format": "What the format asks for",
    "brief": "The brief states what decides",
    "reproducible": "The same tomorrow and elsewhere",
    "honest": "The answer cannot be had without the work",
    "verifier": "The verifier measures the work",
    "fair": "Right work is not refused",
    "dynamic": "Evidence from trials",
    "calibration": "Does it discriminate",
}


def generate(folder: Path) -> None:
    """Bring the generated pages up to date; what has not changed is not touched, so that it is not built again."""
    pages = {**dict(_rules()), **dict(_probes()), "configuration.md": _configuration(), "commands.md": _commands()}
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        target = folder / name
        if not target.is_file() or target.read_text("utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")


def _rules() -> Iterator[tuple[str, str]]:
    rules = [rule for rule in load_rules().rules if rule.module.startswith("scenlint.")]
    index = [
        "# Rules",
        f"{len(rules)} rules. The name is a rule's identity, the code a short alias; both are accepted everywhere.",
        "A *fact* holds under a policy, a *claim* may be refuted by a run or a reader, *evidence* comes from trials.",
    ]
    for family, members in groupby(sorted(rules, key=lambda r: r.code[:3]), key=lambda r: r.family):
        listed = sorted(members, key=lambda r: r.code)
        index += [f"## {FAMILIES.get(family, family.capitalize())} ({listed[0].code[:3]}xx)", _table(listed)]
        index.append("\n".join(["```{toctree}", ":hidden:", "", *(f"rules/{_page(r)}" for r in listed), "```"]))
        # In the repository the book's folder of probes is its own index.
        yield from ((f"rules/{_page(r)}", page_of(r).replace("](../probes)", "](../../probes.md)")) for r in listed)
    yield "rules.md", "\n\n".join(index) + "\n"


def _probes() -> Iterator[tuple[str, str]]:
    probes = sorted(load_probes().values(), key=lambda probe: probe.name)
    rows = [f"| [{p.name}](rules/{p.page}) | {p.rule} | {p.summary.replace('|', chr(92) + '|')} |" for p in probes]
    paths = [*(p.page for p in probes), *(f"experiments/{kind}.md" for kind in experiments.KINDS)]
    index = [
        "# Probes",
        "Small agents that do no work and try to be paid; `scenlint validate --deep` lets each try.\n"
        "See [experiments](../deep.md), and of the other kinds "
        + ", ".join(f"[{kind}](rules/experiments/{kind}.md)" for kind in experiments.KINDS)
        + ".",
        "\n".join(["| probe | reported as | tries |", "|---|---|---|", *rows]),
        "\n".join(["```{toctree}", ":hidden:", "", *(f"rules/{path}" for path in paths), "```"]),
    ]
    yield "probes.md", "\n\n".join(index) + "\n"
    yield from ((f"rules/{p.page}", experiments.page_of(p.name)) for p in probes)
    yield from ((f"rules/experiments/{kind}.md", experiments.page_of(kind)) for kind in experiments.KINDS)


def _page(rule: Rule) -> str:
    return rule.page.as_posix()


def _table(rules: list[Rule]) -> str:
    rows = ["| code | rule | severity | kind | finds |", "|---|---|---|---|---|"]
    for rule in rules:
        finds = rule.summary.replace("|", "\\|") + (" (preview)" if rule.preview else "")
        rows.append(f"| {rule.code} | [{rule.name}](rules/{_page(rule)}) | {rule.severity} | {rule.kind} | {finds} |")
    return "\n".join(rows)


def _configuration() -> str:
    about = [
        "`scenlint.toml`, or the table `[tool.scenlint]` of `pyproject.toml`, at or above the first path.",
        "`scenlint init` writes one that explains every key; patterns in it are relative to its folder. Unknown keys",
        "are errors. A JSON Schema for editors ships as `scenlint/scenlint.schema.json`.",
    ]
    out = ["# Configuration", "\n".join(about)]
    properties = schema()["properties"]
    for key, (part, default, words) in KEYS.items():
        out += [f"## {key}", words, f"{_type(part).capitalize()}. Default: `{default}`."]
        if table := "\n".join(_nested(properties[key])):
            out.append("| key | type | what it is |\n|---|---|---|\n" + table)
    return "\n\n".join(out) + "\n"


def _nested(part: dict[str, Any], above: str = "") -> Iterator[str]:
    """A row for every key of the tables below a key."""
    inner = part.get("items", part)
    more = inner.get("additionalProperties")
    inner = more if isinstance(more, dict) and "properties" in more else inner
    for name, value in inner.get("properties", {}).items():
        needed = " Required." if name in inner.get("required", ()) else ""
        yield f"| `{above}{name}` | {_type(value)} | {value.get('description', '')}{needed} |"
        if "properties" in value:
            yield from _nested(value, f"{above}{name}.")


def _type(part: dict[str, Any]) -> str:
    if "enum" in part:
        return "one of " + ", ".join(f"`{json.dumps(v)}`" for v in part["enum"])
    kind = part.get("type", "any")
    if kind == "array":
        items = part.get("items", {})
        return "list of tables" if items.get("type") == "object" else "list of " + _plural(_type(items))
    if kind == "object":
        more = part.get("additionalProperties")
        return (
            "table"
            if "properties" in part or not isinstance(more, dict)
            else f"table of names and {_plural(_type(more))}"
        )
    return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(kind, str(kind))


def _plural(text: str) -> str:
    return {"text": "texts", "table": "tables"}.get(text, text)


def _commands() -> str:
    from typer.testing import CliRunner

    from scenlint.cli.commands import app

    out = ["# Commands", "What `--help` prints."]
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    names = [str(command.name) for command in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        names += [f"{group.name} {command.name}" for command in group.typer_instance.registered_commands]
    for name in sorted(names):
        shown = runner.invoke(app, [*name.split(), "--help"], prog_name="scenlint", terminal_width=100)
        out += [f"## scenlint {name}", f"```text\n{shown.output.strip()}\n```"]
    return "\n\n".join(out) + "\n"
