"""A task that the commands about trials are tested with."""

import json
from pathlib import Path

from scenlint.testing import base_task


def packet(folder: Path, *, solve: str = "", check: str = "") -> Path:
    """A sound packet, or one whose solution or check is replaced. Its folder's name is its id."""
    base_task("packet", folder)
    about = json.loads((folder / "packet.json").read_text())
    about["id"] = folder.name
    if check:
        about["verification"]["checks"] = [{"type": "test", "command": check, "required": True}]
    (folder / "packet.json").write_text(json.dumps(about, indent=2) + "\n")
    if solve:
        (folder / "solve.sh").write_text(f"#!/bin/bash\n{solve}\n")
    return folder
