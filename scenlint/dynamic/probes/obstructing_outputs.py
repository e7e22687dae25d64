"""Puts something in the place of a result that no reader gets through: a pipe, a folder, bytes that are no text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground

_HANGS = {"py": "while True:\n    pass\n", "sh": "#!/bin/sh\nwhile :; do sleep 1; done\n", "js": "for (;;);\n"}
_INSTEAD = """
instead() {
  rm -rf "$1" 2>/dev/null
  mkdir -p "$(dirname "$1")" 2>/dev/null
  MAKE "$1" && note "a pipe or a folder: $1"
}
"""


@probe("obstructing-outputs", TAMPERED)
def obstructing_outputs(ground: Ground) -> Iterator[Attack]:
    places = [p for p in ground.files if p not in ground.programs]
    if places and not ground.deepgym:
        pipes = _INSTEAD.replace("MAKE", "mkfifo") + "\n".join(f"instead {shlex.quote(p)}" for p in places)
        yield ground.attack(pipes, "made every result a pipe that nobody writes to", "pipe", hangs=True)
        folders = _INSTEAD.replace("MAKE", "mkdir") + "\n".join(f"instead {shlex.quote(p)}" for p in places)
        yield ground.attack(folders, "made every result a folder", "folder")
        broken = "\n".join(f"printf '\\377\\376\\000\\330' | put {shlex.quote(p)}" for p in places)
        yield ground.attack(broken, "wrote bytes that are no text to every result", "broken")
    hanging = {p: _HANGS[lang] for p in ground.programs if (lang := ground.language(p)) in _HANGS}
    if hanging:
        script = "".join(ground.fill(text, (path,), "755") for path, text in hanging.items())
        yield ground.attack(script, "handed in a program that never ends", "endless", hangs=True)
