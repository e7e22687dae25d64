"""Leaves a process running that kills every program which the verifier starts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.path_shims import TOOLS

# Shells stay: one that is killed can write no verdict, which is no fault of the verifier's.
_KILLS = """
ours=" $(ls /proc | tr '\\n' ' ') "
while :; do
  for p in /proc/[0-9]*; do
    case "$ours" in *" ${p#/proc/} "*) continue ;; esac
    read -r name < "$p/comm" || continue
    case "$name" in TOOLS) kill -9 "${p#/proc/}" ;; esac
  done
done 2>/dev/null
"""


@probe("killed-verifier", TAMPERED)
def killed_verifier(ground: Ground) -> Iterator[Attack]:
    if not ground.shared:
        return
    words = set(re.findall(r"[\w.]+", ground.verifier_text))
    tools = [tool for tool in TOOLS if tool in words] or ["python3"]
    loop = _KILLS.replace("TOOLS", "|".join(f"{tool}*" for tool in tools))
    script = f"(setsid sh -c {shlex.quote(loop)} </dev/null >/dev/null 2>&1 &)\nnote 'left a process running'\n"
    yield ground.attack(
        script, f"left a process running that kills {', '.join(tools[:4])} again and again", starves=True
    )
