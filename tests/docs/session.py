"""Replays a page: writes the files and runs the commands that it shows. `session.py PAGE` brings a page up to date.

A block `LANG path=FILE` is written to FILE. In a block `console` each line that begins with `$ ` is run by bash, and
the lines below it are what it prints, on both streams. Times and trials' ids are made alike, so that a page stays as
it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from one run to the next, and what stands for it.
_VARYING = {r"\b\d+\.\d s\b": "0.4 s", r"\b[0-9a-f]{12}-\d+\b": "5c3e9a70b142-1"}


def replay(page: str, folder: Path) -> str:
    """The page with what its commands print now."""
    tools = folder / ".tools"
    tools.mkdir()
    shim = tools / "scenlint"
    shim.write_text(f"#!{sys.executable}\nfrom scenlint.cli.app import main\nmain()\n")
    shim.chmod(0o755)
    home = folder / "suite"
    home.mkdir()
    environ = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}

    def block(match: re.Match[str]) -> str:
        language, _, rest = match["info"].partition(" ")
        if path := re.search(r"path=(\S+)", rest):
            target = home / path[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(match["body"], "utf-8")
        elif language == "console":
            commands = re.findall(r"^\$ (.*)$", match["body"], re.MULTILINE)
            printed = [f"$ {command}\n{_run(command, home, environ)}" for command in commands]
            return f"```{match['info']}\n{''.join(printed)}```"
        return match[0]

    return _BLOCK.sub(block, page)


def _run(command: str, folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=300,
    )  # fmt: skip
    text = done.stdout
    for pattern, instead in _VARYING.items():
        text = re.sub(pattern, instead, text)
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as box:
            Path(name).write_text(replay(Path(name).read_text("utf-8"), Path(box)), "utf-8")
