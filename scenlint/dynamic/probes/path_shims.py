"""Puts programs of its own in front of the tools that the verifier calls, or overwrites the tools themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import takes_over

TOOLS = (
    "python", "python3", "pytest", "py.test", "uv", "uvx", "pip", "pip3", "node", "npm", "npx", "go", "make", "cargo",
    "diff", "cmp", "jq", "curl", "wget", "grep", "awk", "sed", "sha256sum", "md5sum", "tox", "pipx", "poetry",
)  # fmt: skip
# Only in folders that come before the tool's own: the tool itself stays.
_IN_FRONT = """
  there="$(command -v "$t")" || continue
  IFS=:
  for d in $PATH; do
    [ "$d/$t" = "$there" ] && break
    case "$d" in /*) PUT ;; esac
  done
  unset IFS
"""
_OVER = """
  f="$(command -v "$t")" || continue
  f="$(readlink -f "$f")"
  PUT
  mv -f "$f.new" "$f" 2>/dev/null && note "overwrote $f"
"""


@probe("path-shims", TAMPERED)
def path_shims(ground: Ground) -> Iterator[Attack]:
    if not ground.shared:
        return
    words = set(re.findall(r"[\w.]+", ground.verifier_text))
    called = [tool for tool in TOOLS if tool in words] or ["python3"]
    tools = f"for t in {' '.join(called)}; do\n"
    tool = ground.fill(takes_over(ground), ("@",), "755")
    script = tools + _IN_FRONT.replace("PUT", tool.replace("put @", 'put "$d/$t"').strip()) + "done\n"
    yield ground.attack(script, f"put programs that report success in front of {', '.join(called[:5])}", "in front")
    script = tools + _OVER.replace("PUT", tool.replace("put @", 'put "$f.new"').strip()) + "done\n"
    yield ground.attack(script, f"overwrote {', '.join(called[:5])}", "overwritten", posture=True)
