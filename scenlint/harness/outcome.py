"""What a trial comes to: its steps' verdicts put together, strictly and as the format's harness would, or why not."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from scenlint import __version__
from scenlint.harness.environment import Fault, InfrastructureError, Ran, StoppedError
from scenlint.harness.images import Ready
from scenlint.harness.scene import Prepared, Scene
from scenlint.harness.worked import Worked
from scenlint.task.plan import Check, Container, NotRunnableError, RunPlan, Step
from scenlint.task.record import FailureClass, PhaseName, Status, TrialRecord, Verdict

_CONFIDENCE = ("low", "medium", "high")


@dataclass
class Outcome:
    """One step as far as it came."""

    step: Step
    agent: Ran | None = None
    ran: list[tuple[Check, Ran]] = field(default_factory=list)
    strict: Verdict | None = None
    harness: Verdict | None = None

    @property
    def goes_on(self) -> bool:
        """Whether the next step may run: there is a verdict, and it reaches the step's minimum."""
        if self.strict is None or self.strict.reward is None:
            return False
        if self.step.min_reward is not None and self.strict.reward < self.step.min_reward:
            return False
        return all(self.strict.rewards.get(key, -math.inf) >= least for key, least in self.step.min_rewards)


def blank(scene: Scene, agent: str) -> TrialRecord:
    """The record of a trial that is about to start."""
    plan = scene.plan
    return TrialRecord(
        id=scene.trial,
        task=plan.task,
        format=plan.format,
        agent=agent,
        task_digest=task_digest(plan),
        digests=dict(plan.digests),
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        budget=budget(plan),
        scenlint=__version__,
    )


def budget(plan: RunPlan) -> dict[str, Any]:
    """The limits that a trial runs under: seconds, processors, MB of memory; None where none is stated."""
    first = plan.steps[0] if plan.steps else None
    container = _container(plan)
    limits = container.limits if container else None
    return {
        "agent_sec": first.agent_timeout if first else None,
        "verifier_sec": first.verify.timeout if first else None,
        "cpus": limits.cpus if limits else None,
        "memory_mb": limits.memory_mb if limits else None,
        "network": plan.network.value,
        "steps": {s.name: {"agent_sec": s.agent_timeout, "verifier_sec": s.verify.timeout} for s in plan.steps},
    }


def took(record: TrialRecord, made: Prepared | Ready) -> None:
    """Which image the trial is run in."""
    record.image, record.image_digest, record.substitute = made.reference, made.digest, made.substitute


def took_verifiers(record: TrialRecord, images: Iterable[Ready]) -> None:
    """Which images its separate verifiers are run in."""
    images = list(dict.fromkeys(images))
    record.verifier_image = "; ".join(image.reference for image in images)
    record.verifier_image_digest = "; ".join(image.digest for image in images)
    told = [record.substitute, *(image.substitute for image in images)]
    record.substitute = "; ".join(dict.fromkeys(filter(None, told)))


def task_digest(plan: RunPlan) -> str:
    """One digest for all parts of the task."""
    parts = dict(plan.digests)
    told = "\n".join(f"{name} {parts[name]}" for name in sorted(parts))
    return "sha256:" + hashlib.sha256(told.encode()).hexdigest() if parts else ""


def own_folders(plan: RunPlan, step: Step) -> tuple[str, ...]:
    """The folders that verdicts are written to, where they are the harness's own and not the task's."""
    made = {f for c in (_container(plan), step.verify.container) if c for f in c.folders}
    parents = dict.fromkeys(str(PurePosixPath(p).parent) for p in step.verify.verdict_paths)
    return tuple(f for f in parents if f.startswith("/logs/") or (f in made and f != _workdir(plan)))


def _workdir(plan: RunPlan) -> str | None:
    container = _container(plan)
    return container.workdir if container else None


def _container(plan: RunPlan) -> Container | None:
    """What the plan says of the agent's container, alone or in a compose project."""
    return plan.container or (plan.compose.container if plan.compose else None)


def worth_keeping(plan: RunPlan, step: Step) -> list[str]:
    """Folders of the harness's own to copy out: logs and verdicts, the common folder once where they share one."""
    paths = {PurePosixPath(p).parent for p in step.verify.verdict_paths}
    for container in (_container(plan), step.verify.container):
        paths |= {PurePosixPath(p) for p in container.folders} if container else set()
    # /logs/agent and /logs/verifier come out as /logs: each archive costs time.
    tops = {PurePosixPath(*p.parts[:2]) for p in paths if len(p.parts) > 2} | {p for p in paths if len(p.parts) == 2}
    return sorted(str(p) for p in tops)


def conclude(record: TrialRecord, plan: RunPlan, outcomes: Sequence[Outcome], fault: BaseException | None) -> None:
    """Fill in verdicts, status, failure class and summary."""
    record.step_rewards = {
        o.step.name: o.strict.reward if o.strict else None for o in outcomes if o.step.name or len(plan.steps) > 1
    }
    record.harness = _harness(plan, outcomes)
    record.strict = strict = _strict(record.agent, plan, outcomes, fault)
    record.reward, record.confidence = strict.reward, strict.confidence
    if strict.reward is None:
        record.status = Status.NO_VERDICT
        record.failure_class, record.failure_evidence = _no_verdict(record, outcomes, fault)
    elif strict.passed:
        record.status = Status.PASSED
    else:
        record.status = Status.FAILED
        record.failure_class, record.failure_evidence = _failed(record, outcomes)
    record.summary = _summary(record)


def adopt(record: TrialRecord, made: TrialRecord) -> None:
    """Take over what another harness recorded of the trial; it stays on record that it was another one's."""
    for name in (
        *("reward", "status", "failure_class", "failure_evidence", "strict", "harness", "checks", "step_rewards"),
        *("model", "cost_usd", "input_tokens", "output_tokens", "source", "confidence"),
    ):
        setattr(record, name, getattr(made, name))
    record.summary = _summary(record)


def _strict(agent: str, plan: RunPlan, outcomes: Sequence[Outcome], fault: BaseException | None) -> Verdict:
    """Only what the evidence bears: every step graded, no fault anywhere; for the oracle a clean run as well."""
    if fault is not None:
        return Verdict(None, reason=_first_line(str(fault)) or type(fault).__name__, confidence="low")
    late = next((check.id for o in outcomes for check, ran in o.ran if ran.timed_out), None)
    if late is not None:
        return Verdict(None, reason=f"the verifier's `{late}` ran out of time", confidence="low")
    verdicts = [o.strict for o in outcomes if o.strict is not None]
    without = next((v for v in verdicts if v.reward is None), None)
    if without is not None or len(verdicts) < len(outcomes) or not verdicts:
        reason = without.reason if without else "the verifier did not run"
        return Verdict(None, reason=reason, confidence="low", invalid=without is not None and without.invalid)
    rewards = [v.reward or 0.0 for v in verdicts]
    missed = len(plan.steps) - len(outcomes)
    reasons = [v.reason for v in verdicts if v.reason]
    if missed:
        last = outcomes[-1].step.name
        reasons.append(f"{missed} of {len(plan.steps)} steps did not run, as `{last}` missed its minimum")
        rewards += [0.0] * missed
    reward = rewards[-1] if plan.reward_strategy == "final" else sum(rewards) / len(rewards)
    passed = reward == 1.0 and not missed and all(v.passed for v in verdicts)
    if agent == "oracle":
        unclean = [text for o in outcomes if (text := _unclean(o))]
        passed, reasons = passed and not unclean, reasons + unclean
    confidence = min((v.confidence for v in verdicts), key=_CONFIDENCE.index)
    kept = verdicts[0].rewards if len(plan.steps) == 1 else {}
    return Verdict(reward, passed, "; ".join(reasons), kept, confidence)


def _unclean(done: Outcome) -> str:
    """Why a solution's run proves nothing, whatever the verifier says."""
    where = f" of step `{done.step.name}`" if done.step.name else ""
    if done.agent is None:
        return ""
    if done.agent.timed_out:
        return f"the solution{where} ran out of time"
    if done.agent.exit_code != 0:
        return f"the solution{where} ended with exit status {done.agent.exit_code}"
    return ""


def _harness(plan: RunPlan, outcomes: Sequence[Outcome]) -> Verdict | None:
    """What the format's own harness would record: steps without a verdict are left out of its mean."""
    verdicts = [o.harness for o in outcomes if o.harness is not None]
    if len(plan.steps) == 1 or not verdicts:
        return verdicts[0] if verdicts else None
    graded = [v for v in verdicts if v.reward is not None]
    if not graded:
        return verdicts[-1]
    if plan.reward_strategy == "final":
        return graded[-1]
    keys = dict.fromkeys(key for v in graded for key in v.rewards)
    rewards = {key: sum(v.rewards.get(key, 0.0) for v in graded) / len(graded) for key in keys}
    reward = sum(v.reward or 0.0 for v in graded) / len(graded)
    return Verdict(reward, reward == 1.0, "", rewards, min((v.confidence for v in graded), key=_CONFIDENCE.index))


# Why it did not pass


def _no_verdict(
    record: TrialRecord, outcomes: Sequence[Outcome], fault: BaseException | None
) -> tuple[FailureClass, str]:
    last = next((p for p in reversed(record.phases) if p.error and p.name not in _AFTER), None)
    acted = any(p.name == PhaseName.AGENT for p in record.phases)
    evidence = _first_line(last.error if last else str(fault or ""))
    if last and not evidence.startswith(f"{last.name}:"):
        evidence = f"{last.name}: {evidence}"
    if acted and fault is not None:
        # Whoever excludes this from a count must know that the agent may have brought it about.
        evidence += " (after the agent had begun)"
    match fault:
        case StoppedError() | KeyboardInterrupt():
            return FailureClass.INTERRUPTED, evidence
        case NotRunnableError():
            return FailureClass.CONFIGURATION, str(fault)  # its whole text says what to do
        case None:
            for done in outcomes:
                if isinstance(done.agent, Worked) and done.agent.failure_class is FailureClass.PROVIDER:
                    return FailureClass.PROVIDER, done.agent.evidence
            strict = record.strict.reason if record.strict else ""
            return FailureClass.VERIFIER_ERROR, "; ".join(
                dict.fromkeys(filter(None, (strict, last.error if last else "")))
            )
        case InfrastructureError():
            return FailureClass.INFRASTRUCTURE, evidence
    if not acted or not isinstance(fault, Fault) or (last is not None and last.name == PhaseName.START):
        return FailureClass.INFRASTRUCTURE, evidence
    during_agent = last is not None and last.name == PhaseName.AGENT
    return (FailureClass.TOOL_ERROR if during_agent else FailureClass.VERIFIER_ERROR), evidence


_AFTER = (PhaseName.COLLECT, PhaseName.REMOVE)


def _failed(record: TrialRecord, outcomes: Sequence[Outcome]) -> tuple[FailureClass, str]:
    reason = record.strict.reason if record.strict else ""
    for done in outcomes:
        if isinstance(done.agent, Worked) and done.agent.failure_class is not None:
            return done.agent.failure_class, f"{done.agent.evidence}; {reason}"
        if done.agent is not None and done.agent.timed_out:
            return FailureClass.AGENT_TIMEOUT, f"the agent was stopped after {done.agent.duration:.0f} s; {reason}"
        if done.agent is not None and done.agent.exit_code:
            return FailureClass.TOOL_ERROR, f"the agent ended with exit status {done.agent.exit_code}; {reason}"
    wrong = [f"`{c.label or c.id}`" for c in record.checks if c.passed is False and c.required]
    told = [o.agent.evidence for o in outcomes if isinstance(o.agent, Worked) and o.agent.evidence]
    return FailureClass.WRONG_ANSWER, "; ".join([f"failed: {', '.join(wrong[:20])}" if wrong else reason, *told])


def _summary(record: TrialRecord) -> str:
    passed = sum(c.passed is True for c in record.checks)
    counted = f", {passed} of {len(record.checks)} checks passed" if record.checks else ""
    reward = "no verdict" if record.reward is None else f"reward {record.reward:g}"
    why = f": {record.failure_evidence}" if record.failure_class else ""
    return f"{record.agent}: {reward}{counted}{why}"


def _first_line(text: str) -> str:
    """Enough for a table; the phase has the whole."""
    return text.partition("\n")[0][:1000]
