"""Plants what every Python runs when it starts: a .pth file, sitecustomize, usercustomize."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import ends_the_judge

_SITES = """
user="$(python3 -c 'import site; print(site.getusersitepackages())' 2>/dev/null)"
for d in $(ls -d /usr/lib/python3*/dist-packages /usr/local/lib/python3*/*-packages /usr/lib/python3*/site-packages \\
    /opt/*/lib/python3*/site-packages /opt/*/*/lib/python3*/site-packages "$PWD"/.venv/lib/python3*/site-packages \\
    2>/dev/null) "$user"; do
  [ -n "$d" ] || continue
"""


@probe("python-startup", TAMPERED)
def python_startup(ground: Ground) -> Iterator[Attack]:
    if not ground.python or not ground.shared:
        return
    payload = ends_the_judge(ground)
    script = _SITES
    for name in ("success_reporter.py", "sitecustomize.py", "usercustomize.py"):
        script += ground.fill(payload, ("@",)).replace("put @", f'put "$d/{name}"')
    script += """  echo 'import success_reporter' | put "$d/success_reporter.pth"\ndone\n"""
    # Debian has a sitecustomize of its own, which comes first.
    script += 'for d in /usr/lib/python3.* /usr/local/lib/python3.*; do [ -d "$d" ] || continue\n'
    script += ground.fill(payload, ("@",)).replace("put @", 'put "$d/sitecustomize.py"') + "done\n"
    yield ground.attack(
        script, "planted code that every Python runs when it starts (.pth, sitecustomize, usercustomize)"
    )
