"""The brief with the deciding rule written down: built once, shown, kept, and calibrated with word for word."""

from __future__ import annotations

import difflib
import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scenlint.task.plan import RunPlan

FOLDER = "stated"  # in the ledger's


class NothingStatedError(Exception):
    """The text says nothing that the brief does not say; the message is for the user."""


@dataclass(frozen=True)
class StatedBrief:
    """What the agent is told in each step, without the rule and with it."""

    task: str
    rule: str
    steps: tuple[tuple[str, str, str], ...]  # (name, brief, brief with the rule)

    @property
    def digest(self) -> str:
        """Of all that the agent is told: trials with the rule stated carry it."""
        told = json.dumps([[name, stated] for name, _, stated in self.steps])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def plan(self, plan: RunPlan) -> RunPlan:
        """The plan in which the agent is told this."""
        stated = {name: text for name, _, text in self.steps}
        return replace(plan, steps=tuple(replace(s, brief=stated[s.name]) for s in plan.steps))

    def where(self, step: str) -> int:
        """The number of lines of a step's brief after which the rule stands."""
        return next(len(brief.rstrip().splitlines()) for name, brief, _ in self.steps if name == step)

    def diff(self, step: str) -> str:
        """What is added to a step's brief, with the lines around it."""
        brief, stated = next((b, s) for name, b, s in self.steps if name == step)
        of = f" of step {step}" if step else ""
        lines = difflib.unified_diff(
            brief.splitlines(), stated.splitlines(), f"brief{of}", f"brief{of} with the rule stated", lineterm=""
        )
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "digest": self.digest,
            "rule": self.rule,
            "steps": [
                {"step": name, "after_line": self.where(name), "brief": stated, "diff": self.diff(name)}
                for name, _, stated in self.steps
            ],
        }


def build(plan: RunPlan, rule: str) -> StatedBrief:
    """Every step's brief with the rule at its end; NothingStatedError where that would change nothing."""
    rule = rule.strip()
    if not rule:
        raise NothingStatedError("the file with the rule is empty: write down in it what decides, in a sentence or two")
    if all(_same(rule) in _same(step.brief) for step in plan.steps):
        raise NothingStatedError("the brief says this already, word for word: with it stated the task is the same")
    steps = tuple((step.name, step.brief, f"{step.brief.rstrip()}\n\n{rule}\n") for step in plan.steps)
    return StatedBrief(plan.task, rule, steps)


def keep(stated: StatedBrief, ledger: Path) -> Path:
    """Write it beside the recorded trials; the file with what the agent is told, or the folder of several."""
    folder = ledger / FOLDER / stated.digest
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (name, _, text) in enumerate(stated.steps, 1):
        files.append(folder / (f"brief-{number}.md" if name else "brief.md"))
        files[-1].write_text(text, "utf-8", errors="surrogateescape")
    (folder / "stated.json").write_text(json.dumps(asdict(stated), indent=1), "utf-8")
    return files[0] if len(files) == 1 else folder


def kept(digest: str, ledger: Path) -> StatedBrief | None:
    """What was kept under a digest, for whoever looks at a trial later."""
    try:
        told = json.loads((ledger / FOLDER / digest / "stated.json").read_text("utf-8"))
        return StatedBrief(told["task"], told["rule"], tuple((n, b, s) for n, b, s in told["steps"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _same(text: str) -> str:
    """A text without what makes no difference to a reader."""
    return " ".join(text.split()).lower()
