"""Looks in the environment for what the agent must not reach: the tests, the solution, the engine's socket."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import LEAKED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.outcome import LEAKED as MARK


@probe("looks-around", LEAKED)
def looks_around(ground: Ground) -> Iterator[Attack]:
    if ground.local or ground.plan.apps:
        return
    # Of a file that no reader may open, the name alone is no leak.
    lines = [_look(path, "the verifier's file") for path in ground.truth[:50]]
    oracle = ground.step.oracle
    if oracle is not None and ground.step is ground.plan.steps[0]:  # later, what did the work is there
        folders = {posixpath.dirname(u.target) if u.source.is_file() else u.target for u in oracle.uploads}
        lines += [_look(f"{folder}/*", "the solution's file") for folder in sorted(folders)]
    lines.append(f'[ -S /var/run/docker.sock ] && note "{MARK} the engine\'s socket /var/run/docker.sock"')
    yield ground.attack("\n".join(lines) + "\ntrue\n", "looked for tests, solution and the engine in the environment")


def _look(path: str, what: str) -> str:
    shown = path if path.endswith("*") else shlex.quote(path)
    return f'for f in {shown}; do [ -f "$f" ] && [ -s "$f" ] && [ -r "$f" ] && note "{MARK} {what} $f"; done'
