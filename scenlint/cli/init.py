"""`scenlint init`: writes a configuration file in which every key is explained, ready to be uncommented."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

# Keys whose value is a table, as a team would write them; kept as comments, since each speaks of one's own tasks.
_TABLES = {
    "severity": """[severity]
unpinned-dependency = "error"
""",
    "per-path-ignores": """[per-path-ignores]
"tasks/legacy/**" = ["test-without-criterion"]
""",
    "images": """[images]
approved = ["python", "debian", "registry.example.org/bases/*"]

[images.substitutes]
"python:3.12-slim@sha256:0123" = "mirror.example.org/python@sha256:0123"

[images.digests]
"python:3.12-slim" = "sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de"
""",
    "dependencies": """[dependencies]
locks = ["requirements.lock"]
""",
    "saas-bench": """[saas-bench]
apps = "apps.yaml"
""",
    "oracles": """[oracles]
"teamwork_*" = "oracles/{id}.py"
""",
    "agents": """[agents.solver]
command = ["python3", "/opt/solver/main.py"]
files = { "agents/solver" = "/opt/solver" }
""",
    "watch": """[watch.types.refund]
success = { usual = 0.92, alert = 0.8 }

[watch.fields]
task-type = "task.kind"

[watch.webhook]
url = "https://alerts.example.org/scenlint"
header = "Authorization"
secret-env = "ALERTS_TOKEN"
""",
    "suppressions": """[[suppressions]]
rule = "unknown-metadata-key"
path = "tasks/crm/create-lead/meta.json"
reason = "`owner` is read by our dashboard"
""",
}


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write scenlint.toml.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a scenlint.toml that explains every key.

    Exit status: 0 written, 2 it is there already or cannot be written.
    """
    from scenlint.config import FILE_NAME
    from scenlint.report.style import visible, write

    target = folder / FILE_NAME
    try:
        with target.open("w" if force else "x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        write(f"scenlint: {visible(str(target))} exists; `--force` overwrites it\n", sys.stderr)
        raise typer.Exit(2) from None
    except OSError as exc:
        write(f"scenlint: {visible(str(target))}: {exc.strerror}\n", sys.stderr)
        raise typer.Exit(2) from None
    write(f"wrote {visible(str(target))}\n")


def template() -> str:
    """The file's text: plain keys first, as TOML wants it, then the tables."""
    from scenlint.config import KEYS

    blocks = ["# Configuration of scenlint. Commented lines show the default or an example."]
    plain = [key for key in KEYS if key not in _TABLES]
    for key in [*plain, *_TABLES]:
        schema, default, words = KEYS[key]
        if "enum" in schema:
            words += f" One of: {', '.join(schema['enum'])}."
        example = _TABLES.get(key, f"{key} = {default}\n")
        blocks.append(
            f"# {words}\n" + "".join(f"#{line}" if line.strip() else "#\n" for line in example.splitlines(True))
        )
    return "\n".join(block.rstrip("\n") + "\n" for block in blocks)
