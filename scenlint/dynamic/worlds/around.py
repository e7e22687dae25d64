"""The containers beside the agent's (apps, services): what a world moves there too, and which kept their own."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scenlint.dynamic.experiments import Context, conclude
from scenlint.dynamic.worlds.moved import FOLDER, Variables
from scenlint.harness.environment import Environment, Fault
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, Others, RunPlan, Upload
from scenlint.task.record import TrialRecord

_KEPT = "kept.json"  # in the trial's folder: container -> why nothing moved there
_INIT = "docker-init"
# As each user of the container, because nobody reads the maps of another's programs.
_LOADED = """
for p in /proc/[0-9]*; do
  program=$(readlink "$p/exe" 2>/dev/null) || continue
  grep -q LIBRARY "$p/maps" 2>/dev/null || { [ -e "$p/maps" ] && echo "$program"; }
done
"""

Look = Callable[[Environment], str]  # why nothing moved in a container; "" if it did


def many(plan: RunPlan) -> bool:
    """Whether there are containers beside the agent's."""
    return plan.compose is not None or bool(plan.apps)


def beside(plan: RunPlan) -> str:
    """What they are called."""
    return "apps" if plan.apps else "other services"


def preloaded(plan: RunPlan, library: str, setting: str, env: Variables) -> RunPlan:
    """The plan in which a library is put before every program of the other containers, with what it is to do.

    By files: a variable would end every program of another C library, and some programs are started without any.
    """
    target = f"{FOLDER}/{Path(library).name}"
    texts = (("/etc/ld.so.preload", f"{target}\n"), ("/etc/faketimerc", f"{setting}\n"))
    return replace(plan, others=Others(env, (Upload(Path(library), target),), texts)) if many(plan) else plan


def look(environment: Environment, scene: Scene, moved: Look) -> None:
    """Ask every other container whether it moved, and keep which did not."""
    others: Callable[[], dict[str, Environment]] = getattr(environment, "others", dict)
    kept = {}
    for name, other in others().items():
        try:
            why = moved(other)
        except Fault as exc:
            why = str(exc).partition("\n")[0]
        if why:
            kept[name] = why
    (scene.folder / _KEPT).write_text(json.dumps(kept), "utf-8")


def judge(record: TrialRecord, folder: Path, about: Context) -> None:
    """Where a container kept its own, a check that compares the two differs rightly: that shows nothing."""
    conclude(record, folder, about)
    experiment = record.experiment
    assert experiment is not None
    try:
        kept = json.loads((folder / _KEPT).read_text("utf-8"))
    except (OSError, ValueError):
        return
    if not kept:
        return
    named = ", ".join(f"`{name}`" for name in kept)
    experiment.did += f"; but {named} kept {'its' if len(kept) == 1 else 'their'} own"
    if experiment.outcome == "differs":
        first, why = next(iter(kept.items()))
        experiment.outcome = "skipped"
        experiment.reason = (
            f"the verdict differs, but {named} could not be moved ({first}: {why}), and a check that compares the two "
            f"differs then too: {experiment.evidence}"
        )


def clock_moved(library: str, seconds: int, tolerance: float) -> Look:
    """Whether the clock of a container moved by so much, and that of every program which runs in it."""

    def asked(environment: Environment) -> str:
        told = _run(environment, "date +%s && stat -c %u /proc/[0-9]* 2>/dev/null | sort -u; :").split()
        if not told or not told[0].isdigit():
            return "it has no `date` that could be asked"
        off = float(told[0]) - seconds - time.time()
        if abs(off) > tolerance:
            return f"its `date` is {off:+.0f} s off"
        for user in told[1:]:
            script = _LOADED.replace("LIBRARY", shlex.quote(Path(library).name))
            found = [p for p in _run(environment, script, user).splitlines() if not p.endswith(_INIT)]
            if found:
                return f"`{found[0]}` loads no library"
        return ""

    return asked


def zone_moved(offset: str) -> Look:
    """Whether the time zone of a container is another one."""

    def asked(environment: Environment) -> str:
        said = _run(environment, "date +%z").strip()
        return "" if said == offset else f"`date +%z` says {said[:40] or 'nothing'}"

    return asked


def _run(environment: Environment, script: str, user: str = "0") -> str:
    ran = environment.run(Command(("sh", "-c", script), user=user, timeout=30), None, split=True)
    return ran.stdout.decode("utf-8", "replace")
