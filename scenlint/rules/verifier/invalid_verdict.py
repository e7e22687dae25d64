"""A verdict that is no verdict: not a number from 0 to 1, or not in the form that the harness reads."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.model import Contract
from scenlint.task.verdict_flow.rewards import judge_problems, reward_problems, score_problems

_HELP = {
    Contract.REWARD_FILE: "write one finite number from 0 to 1 (reward.txt), or an object of numbers (reward.json)",
    Contract.POINT_LINES: "print the share of the points earned, from 0 to 1",
    Contract.JSON_LINE: "hand back a number from 0 to 1, a bool, or a dict with `score` and a real bool as `passed`",
}


@rule(
    "invalid-verdict",
    "SL514",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the way on which this verdict comes about cannot be taken",
)
def invalid_verdict(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    find = _FINDERS.get(verifier.contract) if verifier else None
    if verifier is None or find is None:
        return
    seen = set()
    for span, problem in find(task):
        if span not in seen:
            seen.add(span)
            yield Finding.at(span, f"this is not a verdict: {problem}", help=_HELP[verifier.contract])


_FINDERS = {
    Contract.REWARD_FILE: reward_problems,
    Contract.POINT_LINES: score_problems,
    Contract.JSON_LINE: judge_problems,
}
