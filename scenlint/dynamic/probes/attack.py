"""One attack: an agent that runs a short shell script with the rights that the task gives its agent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from scenlint.harness.agents import OracleAgent
from scenlint.harness.environment import Environment, Fault, Ran
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, RunPlan, Step, Upload

TIME = 60.0  # seconds
LARGEST = 4 * 1024 * 1024  # bytes of an output that is compared with the oracle's
# What an attack says of itself, in the log of the agent's phase.
SKIPPED, SAME = "[probe: skipped]", "[probe: what is there now is what the oracle makes]"

# Of several cases a few always have a trivial answer (0, an empty list, the input itself). What half of the marks are
# given for, the verifier hardly tests.
HALF = 0.5


@dataclass(frozen=True)
class Attack:
    """What one trial of a probe does. Its name in records is `probe:<probe>` and the variant behind `#`.

    In a task of several steps only the step `at` is attacked: the oracle does those before it.
    """

    script: str  # for sh; notes go to its standard error, as its standard output is what the agent says
    did: str  # in words, for the author of the task: "made every named file empty"
    variant: str = ""
    target: str = ""  # what it was done to, where that is one thing
    at: str = ""
    work: bool = False  # the oracle does its work after the script: what was changed is what it works on
    posture: bool = False  # as root nothing in the same container withstands it, so then it is not tried
    earns: bool = False  # part of the work is done on the way: what that earns short of full marks is due
    share: float = 0.0  # a reward below this may fall to whoever does no more
    hangs: bool = False  # it may make the verifier wait for ever: it is not waited for as long as its own limit says
    starves: bool = False  # whoever has the verifier's rights can keep it from any verdict, which shows nothing then
    measure: bool = False  # it is its probe's control, and no attack itself
    uploads: tuple[Upload, ...] = ()
    made: tuple[tuple[str, str], ...] = ()  # digests of what the oracle makes: having that is no cheat
    probe: str = ""
    rule: str = ""

    @property
    def name(self) -> str:
        variant = f"#{self.variant}" if self.variant else ""
        return f"probe:{self.probe}{variant}" + (f"@{self.at}" if self.at else "")

    def check(self, plan: RunPlan) -> None:
        names = [step.name for step in plan.steps]
        before = plan.steps[: names.index(self.at)] if self.at in names else ()
        OracleAgent().check(replace(plan, steps=plan.steps if self.work else before))

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        names = [s.name for s in scene.plan.steps]
        if step.name != self.at and self.at in names:
            return (
                OracleAgent().act(step, environment, scene) if names.index(step.name) < names.index(self.at) else None
            )
        for upload in self.uploads:
            environment.upload(upload)
        script = f"{_ROOT}\n{self.script}" if self.posture else self.script
        command = Command(("sh", "-c", PRELUDE + script), user=step.agent_user, timeout=TIME)
        ran = environment.run(command, scene.log("probe.log", step), split=step.verify.agent_output)
        if self.work and SKIPPED not in ran.output:
            worked = OracleAgent().act(step, environment, scene)
            ran = replace(worked, output=f"{ran.output}\n{worked.output}") if worked else ran
        if self.made and not self.work and self._is_the_work(environment):
            ran = replace(ran, output=f"{ran.output}\n{SAME}\n")
        if self.work and SKIPPED not in ran.output and not self._differs(environment):
            ran = replace(ran, output=f"{ran.output}\n{SKIPPED}: the oracle's results are the same as before\n")
        return ran

    def _is_the_work(self, environment: Environment) -> bool:
        return all(digest_at(environment, path) == digest for path, digest in self.made)

    def _differs(self, environment: Environment) -> bool:
        """Whether something that the oracle made is there and not what it should be."""
        found = ((digest_at(environment, path), digest) for path, digest in self.made)
        return any(there and there != digest for there, digest in found)


def digest(content: bytes) -> str:
    """Of a file's content, blank ends aside."""
    return hashlib.sha256(content.strip()).hexdigest()[:16]


def digest_at(environment: Environment, path: str) -> str:
    try:
        content = environment.read(path, LARGEST)
    except Fault:
        return ""
    return "" if content is None else digest(content)


PRELUDE = """
note() { echo "$*" >&2; }
put() { # put PATH [MODE]: standard input becomes the file; a link or an empty folder in its place goes
  [ -L "$1" ] && rm -f "$1" 2>/dev/null
  rmdir "$1" 2>/dev/null
  mkdir -p "$(dirname "$1")" 2>/dev/null
  if { cat > "$1"; } 2>/dev/null; then
    [ -n "$2" ] && chmod "$2" "$1" 2>/dev/null
    note "wrote $1"
  else
    note "not permitted: $1"
  fi
  return 0
}
"""
_ROOT = f"""
if [ "$(id -u)" = 0 ]; then
  note "{SKIPPED}: the agent is root where the verifier runs, and no verifier withstands that"
  exit 0
fi
"""
