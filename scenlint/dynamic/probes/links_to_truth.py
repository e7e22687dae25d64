"""Makes a result a link to the file with which the verifier compares it."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.task.paths import extension

_TRIALS = 4
_LINK = """
link() {
  mkdir -p "$(dirname "$2")" 2>/dev/null
  ln -sfn "$1" "$2" 2>/dev/null && note "linked $2"
}
"""


@probe("links-to-truth", TAMPERED)
def links_to_truth(ground: Ground) -> Iterator[Attack]:
    places = [p for p in ground.files if p not in ground.programs or ground.deepgym]
    kinds = {extension(p) for p in places}
    # A file of the kind that is wanted, or the verifier itself, which holds the answer in its text.
    likely = sorted(ground.truth, key=lambda p: (extension(p) not in kinds, "expect" not in p, ground.truth.index(p)))
    for truth in likely[:_TRIALS] if places else ():
        lines = [f"link {shlex.quote(truth)} {shlex.quote(p)}" for p in places]
        name = posixpath.basename(truth)
        yield ground.attack(_LINK + "\n".join(lines), f"made every result a link to `{truth}`", name, target=truth)
