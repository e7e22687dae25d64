"""The model's process: mini-swe-agent's loop; each command goes to the trial's sandbox by pipe, and the result back."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import LimitsExceeded, Submitted

from scenlint.harness.llm import prompts
from scenlint.harness.llm.endpoint import Refused, Spent, endpoint, typed
from scenlint.task.record import REFUSAL_PHRASE

DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
# Words alone are no refusal: they only make a person look.
_DECLINES = re.compile(
    r"\bI(?:'m| am)? (?:sorry|can(?:not|'t|’t)|won(?:'t|’t)|will not|must (?:decline|refuse)|un(?:able|willing))\b"
    r"[^.\n]{0,80}\b(?:help|assist|comply|do (?:this|that)|provide|fulfil|complete|proceed|request)",
    re.IGNORECASE,
)


class Wire:
    """JSON lines to and from scenlint; whatever else is printed here is a log."""

    def __init__(self) -> None:
        self._in, self._out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        line = self._in.readline()
        if not line:
            sys.exit(1)  # scenlint is gone
        return dict(json.loads(line))


class Sandbox:
    """mini-swe-agent's environment: the trial's own."""

    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, wire: Wire, job: dict[str, Any]) -> None:
        self.wire, self.seen = wire, {key: job[key] for key in ("shell", "folder", "system", "user")}

    def execute(self, action: dict[str, Any], cwd: str = "") -> dict[str, Any]:
        self.wire.send(run=str(action.get("command", "")))
        output = self.wire.receive()
        first, _, rest = output["output"].lstrip().partition("\n")
        if first.strip() == DONE and output["returncode"] == 0:
            raise Submitted(
                {"role": "exit", "content": rest, "extra": {"exit_status": "Submitted", "submission": rest}}
            )
        return output

    def get_template_vars(self, **_: Any) -> dict[str, Any]:
        return self.seen

    def serialize(self) -> dict[str, Any]:
        return {"info": {"config": {"environment": self.seen}}}


class Solver(DefaultAgent):  # type: ignore[misc,unused-ignore]
    """The loop, with limits that say which of them was reached, and a log that can be read."""

    def __init__(self, job: dict[str, Any], spent: Spent, *parts: Any, **more: Any) -> None:
        super().__init__(*parts, **more)
        self.job, self.spent = job, spent

    def query(self) -> dict[str, Any]:
        reached = self._reached()
        if reached:
            raise LimitsExceeded({"role": "exit", "content": reached, "extra": {"exit_status": "LimitsExceeded"}})
        return dict(super().query())

    def _reached(self) -> str:
        spent = self.spent
        used = {
            "max-steps": (spent.replies, self.job["max_steps"]),
            "max-cost": (spent.cost or 0.0, self.job["max_cost"]),
            "max-tokens": (spent.input + spent.output, self.job["max_tokens"]),
        }
        for name, (amount, limit) in used.items():
            if limit is not None and amount >= limit:
                unit = " USD" if name == "max-cost" else ""
                return f"BudgetExceeded: `{name}` = {limit:g}{unit} was reached ({amount:g}{unit} used)"
        return ""

    def add_messages(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        for message in messages:
            print(f"\n--- {message.get('role', '')}", message.get("content") or "", sep="\n", file=sys.stderr)
            if message.get("extra", {}).get("interrupt_type") == "FormatError":
                print(f"(about this reply: {self.spent.words})", file=sys.stderr)
            for action in message.get("extra", {}).get("actions", ()):
                print(f"$ {action.get('command', '')}", file=sys.stderr)
        sys.stderr.flush()
        return list(super().add_messages(*messages))


def main() -> None:
    wire = Wire()
    job = wire.receive()
    logging.disable(logging.CRITICAL)  # what matters is in the log by `add_messages`, or comes back as the outcome
    spent = Spent(lambda told: wire.send(usage=told), lambda why: wire.send(waiting=why))
    model = endpoint(job, spent)
    agent = Solver(
        job,
        spent,
        model,
        Sandbox(wire, job),
        system_template=prompts.SYSTEM,
        instance_template=prompts.TASK if job["tools"] else prompts.TASK_WITHOUT_TOOLS,
        cost_limit=0.0,
        output_path=Path(job["trajectory"]),
    )
    wire.send(ready=True)
    try:
        agent.run(job["brief"])
        outcome = _outcome(agent)
    except Exception as exc:
        failure_class, evidence = typed(exc, first=not spent.replies)
        outcome = {"class": failure_class, "evidence": evidence}
    wire.send(done=outcome)


def _outcome(agent: Solver) -> dict[str, str]:
    """How the loop ended: a failure class with evidence where that is known, and the answer."""
    last = agent.messages[-1]
    said = [m for m in agent.messages if m.get("role") == "assistant"]
    words = str(said[-1].get("content") or "") if said else ""
    declines = _DECLINES.search(agent.spent.words)
    person = {"evidence": f"{REFUSAL_PHRASE}: `{declines[0]}`"} if declines else {}
    match last.get("extra", {}).get("exit_status"):
        case "Submitted":
            return {"answer": last["content"] or words, **person}
        case "LimitsExceeded":
            return {"class": "budget", "evidence": last["content"], "answer": words}
        case Refused.STATUS:
            return {"class": "refusal", "evidence": last["content"], "answer": words}
        case "RepeatedFormatError":
            out = {"answer": agent.spent.words or words}
            if agent.spent.finish == "length":
                return {**out, "class": "context", "evidence": "OutputTokenExceeded: its replies were cut off"}
            if agent.spent.plain:  # it only talks: that is its last word
                return {**out, **person}
            return {**out, "class": "tool-error", "evidence": "exit_format: its tool calls cannot be read"}
    return {"class": "agent-crash", "evidence": f"it ended as {last.get('extra', {}).get('exit_status')}"}


if __name__ == "__main__":
    main()
