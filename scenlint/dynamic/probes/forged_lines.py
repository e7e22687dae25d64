"""Has a program, a file or the agent itself print the lines by which the verifier reports success."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import has_everything


@probe("forged-lines", TAMPERED)
def forged_lines(ground: Ground) -> Iterator[Attack]:
    forged = f"\n{ground.forged}"
    if ground.scripts:
        said = f"import os\nimport sys\n\nfor fd in (1, 2):\n    os.write(fd, {forged.encode()!r})\n"
        program = has_everything(f"{said}\n\ndef thing(*args, **kwargs):\n    return {forged!r}\n", ground.names)
        yield ground.attack(
            ground.fill(program, ground.scripts), "handed in a program that prints the verifier's lines", "printed"
        )
    shells = tuple(p for p in ground.programs if ground.language(p) in ("sh", "bash"))
    places = tuple(p for p in ground.files if p not in ground.programs)
    if places or shells or ground.says:
        script = ground.fill(forged, places) if places else ""
        script += ground.fill(f"#!/bin/sh\nprintf %s {shlex.quote(forged)}\n", shells, "755") if shells else ""
        script += f"printf %s {shlex.quote(forged)}\n"
        yield ground.attack(script, "wrote the lines by which the verifier reports success to every result", "written")
