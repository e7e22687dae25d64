"""The reward is the same whatever the checks say."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.shell import Node
from scenlint.task.model import Contract
from scenlint.task.verdict_flow import Flow, flows, short
from scenlint.task.verdict_flow.judge import judges
from scenlint.task.verdict_flow.points import points, site
from scenlint.task.verdict_flow.programs import programs


@rule(
    "constant-reward",
    "SL505",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="a program that the verifier starts, and that is not at hand, decides the reward",
)
def constant_reward(task: Task) -> Iterator[Finding]:
    for flow in flows(task):
        # Where a pipe is to blame, masked-exit-status says so.
        if flow.constant is not None and not flow.masked:
            yield _always_written(flow)
    for found in points(task):
        if found.checks and not found.broken and all(line.text.strip().startswith("[PASS]") for line in found.checks):
            message = "every check line says `[PASS]`, so the score is always 1"
            yield Finding.at(site(found.checks[0]), message, help="print `[FAIL]` where the check does not hold")
    for judge in judges(task):
        if (constant := judge.constant) is not None:
            message = "the verdict is the same whatever the solution does, as long as it does not crash"
            yield Finding.at(constant.span, message, help="let the score say how many cases came out right")
    yield from _nothing_required(task)


def _always_written(flow: Flow) -> Finding:
    value = flow.constant
    assert value is not None
    node = value.source
    checks = sorted(flow.checks, key=lambda c: c.start)
    about, there = "no check decides it", []
    if isinstance(node, Node) and checks:
        about = f"the outcome of `{short(checks[-1])}` is not used"
        there = [related(checks[-1].span, "this decides nothing")]
    alone = len(flow.written) == 1
    text = f"the reward is always `{(value.text or '').strip()}`" if alone else "the reward does not hang on the work"
    return Finding.at(
        node.span if node is not None else flow.script,
        f"{text}: {about}",
        help="write the full reward where the checks succeed and 0 where they fail",
        related=there,
    )


def _nothing_required(task: Task) -> Iterator[Finding]:
    """Checks of which none has to hold, and checks that always succeed."""
    verifier = task.verifier
    if verifier is None or verifier.contract is not Contract.EXIT_STATUS or not verifier.graders:
        return
    required = [g for g in verifier.graders if g.required]
    if not required:
        first, *rest = verifier.graders
        yield Finding.at(
            first.span or task.folder,
            "no check is required, so the task is passed whatever the checks say",
            help="make the checks that state the success criteria required",
            related=[related(g.span, "not required either") for g in rest if g.span],
        )
        return
    idle = {id(f.grader) for f in flows(task) if f.always_passes and not f.checks}
    idle |= {id(p.entry.grader) for p in programs(task) if p.entry.command is None and p.always_succeeds}
    if all(id(g) in idle for g in required):
        for grader in required:
            yield Finding.at(
                grader.span or task.folder,
                f"`{grader.name}` always succeeds, so the task is always passed",
                help="let its exit status tell whether the agent's work meets the criterion",
            )
