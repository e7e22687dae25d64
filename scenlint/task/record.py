"""A TrialRecord: everything that is kept of one trial, as versioned JSON that can be re-read years later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

VERSION = 1
REFUSAL_PHRASE = "its words read like a refusal"  # evidence that only makes a person look


class Status(StrEnum):
    """How a trial ended. Only the first two are verdicts; nothing turns the others into a number."""

    PASSED = "passed"
    FAILED = "failed"
    NO_VERDICT = "no verdict"


class FailureClass(StrEnum):
    """Why a trial did not pass (calibration.md, section 3.1)."""

    WRONG_ANSWER = "wrong-answer"
    AGENT_TIMEOUT = "agent-timeout"
    BUDGET = "budget"
    REFUSAL = "refusal"
    TOOL_ERROR = "tool-error"
    CONTEXT = "context"  # the model's context was used up
    AGENT_CRASH = "agent-crash"
    INFRASTRUCTURE = "infrastructure"
    PROVIDER = "provider"  # of the model: rate limits, overload, lost connections
    VERIFIER_ERROR = "verifier-error"
    CONFIGURATION = "configuration"
    MISALIGNMENT = "misalignment"
    CHEATING = "cheating"
    INTERRUPTED = "interrupted"


class PhaseName(StrEnum):
    BUILD = "build"
    START = "start"
    AGENT = "agent"
    OVERLAY = "overlay"
    VERIFY = "verify"
    VERDICT = "verdict"
    COLLECT = "collect"
    REMOVE = "remove"


@dataclass
class Phase:
    """One phase: when it began (ISO 8601, UTC), how long it took, how it ended. `output` keeps head and tail."""

    name: str
    step: str = ""
    started: str = ""
    duration: float = 0.0
    exit_code: int | None = None
    error: str = ""  # "" or the typed fault: "timeout: …", "build: …", "infrastructure: …" (the machine's)
    output: str = ""
    output_file: str | None = None  # full text, relative to the trial's folder


@dataclass
class CheckResult:
    """One graded check as the verifier reported it (or as its exit status says)."""

    id: str
    passed: bool | None  # None: it gave no verdict
    label: str = ""
    weight: float = 1.0
    required: bool = True
    detail: str = ""
    command: str = ""
    duration: float = 0.0
    step: str = ""


@dataclass
class Verdict:
    """A reading of the verifier's outcome. `reward` None: no verdict, and `reason` says why."""

    reward: float | None
    passed: bool = False
    reason: str = ""
    rewards: dict[str, float] = field(default_factory=dict)  # all keys of a reward.json
    confidence: str = "high"  # high: every check's verdict parsed; medium; low: inferred
    invalid: bool = False  # no verdict because what the verifier handed in is none: no number, NaN, outside of [0, 1]


class ProbeOutcome(StrEnum):
    """What came of an attack on a verifier (probes.md): how its verdict stood."""

    HOLDS = "holds"  # no full score, and a valid verdict
    BROKEN = "broken"  # a full score, or more than doing nothing earns
    LAUNDERED = "laundered"  # the attack turned a failure into a fault
    LEAK = "leak"  # what must not be readable was read


@dataclass
class Experiment:
    """What a trial did beside an ordinary one, and what is expected of the verifier."""

    kind: str  # "probe", "mutant", "world", "environment" or "calibration" (then `name` is its stage)
    name: str  # of the probe, the operator, or what of the world was moved
    target: str = ""  # what it was done to: a path, a table, a line of the solution
    expected: str = ""  # probes: "holds"; mutants: "must-die", "must-live" or "open"; worlds: "same"
    did: str = ""  # in words, for the author of the task
    outcome: str = ""  # of a probe, a ProbeOutcome; of the others "killed", "survived", "same", "differs", "skipped"
    evidence: str = ""  # what the verifier or the attack printed that shows it
    criterion: str = ""  # number or name of the criterion of the brief that it is about
    reason: str = ""  # why this is expected: the words of the brief, or why it was skipped
    rule: str = ""  # of a probe: the rule by which it is reported


AS_IT_IS = ("calibration", "grade")  # kinds of experiment in which an agent works on the task as it is


class Disposed(StrEnum):
    """What a person can decide."""

    GENUINE = "genuine"  # about a trial: the agent's own failure
    EXCLUDED = "excluded"  # about a trial: not the agent's doing
    CHEATING = "cheating"  # about a trial
    MISALIGNED = "misaligned"  # about a task's digest: brief and verifier disagree, all its trials are void
    ALIGNED = "aligned"  # about a task's digest: the suspicion was looked into and is none


@dataclass(frozen=True)
class Disposition:
    """A decision about a trial (`about` is its id) or a task as it stood (`about` is its digest)."""

    about: str
    verdict: Disposed
    reason: str
    role: str  # of who decided: "maintainer", "reviewer" …
    at: str = ""  # ISO 8601, UTC

    @property
    def voids(self) -> bool:
        return self.verdict is Disposed.MISALIGNED


@dataclass
class TrialRecord:
    """One trial. `reward` is the strict verdict, by which scenlint judges; `harness` what the format's own records."""

    id: str
    task: str
    format: str
    agent: str
    reward: float | None = None
    status: Status = Status.NO_VERDICT
    failure_class: FailureClass | None = None
    failure_evidence: str = ""
    strict: Verdict | None = None
    harness: Verdict | None = None
    phases: list[Phase] = field(default_factory=list)
    checks: list[CheckResult] = field(default_factory=list)
    step_rewards: dict[str, float | None] = field(default_factory=dict)
    task_digest: str = ""
    digests: dict[str, str] = field(default_factory=dict)
    image: str = ""
    image_digest: str = ""
    substitute: str = ""  # the local image that stood in for the pinned reference
    verifier_image: str = ""  # of a separate verifier; several are joined by "; "
    verifier_image_digest: str = ""
    model: str = ""
    attempt: int = 1
    seed: int | None = None
    started: str = ""
    duration: float = 0.0
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    budget: dict[str, Any] = field(default_factory=dict)
    suite: str = ""
    source: str = ""  # of a trial that another harness ran: which, and where its files lay
    experiment: Experiment | None = None  # of a trial of the deep stage
    summary: str = ""  # the handbook's VerificationResult.summary
    confidence: str = "low"
    # Noted when trials are judged, and not kept with them: what people decided about this one and its task, and the
    # agent's pass rate on the other scenarios of the suite (None: it has too few trials there).
    dispositions: list[Disposition] = field(default_factory=list)
    strength: float | None = None
    scenlint: str = ""  # version that ran it
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrialRecord:
        """The record of `to_json`; a version newer than this one raises ValueError."""
        if data.get("version", 1) > VERSION:
            raise ValueError(f"trial record of version {data['version']}; this scenlint reads up to {VERSION}")
        known = {k: v for k, v in data.items() if k in cls.__dataclass_fields__}
        out = cls(**known)
        out.status = Status(out.status)
        out.failure_class = FailureClass(out.failure_class) if out.failure_class else None
        out.strict = Verdict(**data["strict"]) if data.get("strict") else None
        out.harness = Verdict(**data["harness"]) if data.get("harness") else None
        out.phases = [Phase(**p) for p in data.get("phases", ())]
        out.experiment = Experiment(**data["experiment"]) if data.get("experiment") else None
        out.checks = [CheckResult(**c) for c in data.get("checks", ())]
        out.dispositions = [
            Disposition(**{"about": out.id, **d, "verdict": Disposed(d["verdict"])})
            for d in data.get("dispositions", ())
        ]
        return out
