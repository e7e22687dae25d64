"""The verifier runs the submission in its own process, or with its own rights where nothing else holds it back."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.model import Contract, Isolation

_APART = "run it in a process of its own as a user without rights (`user=…`), and judge what comes back"
_HELPERS = "use the helpers of `deepgym_solution` (`load_solution`, `run_solution`), which keep it apart"


@rule(
    "solution-runs-in-verifier",
    "SL406",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="a submission that ends the process with status 0, or replaces what the verifier compares with, is graded 0",
)
def solution_runs_in_verifier(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None:
        return
    judge = verifier.isolation is Isolation.JUDGE
    own_rights = verifier.isolation in (Isolation.JUDGE, Isolation.HOST)
    loads = [e.span for e in task.survey.events if e.kind == "loads"]
    starts = [e.span for e in task.survey.events if e.kind == "starts" and not e.note and own_rights]
    for spans, message in (
        (loads, "the submission runs in the verifier's own process here, and can end it, patch it or read the answers"),
        (
            starts,
            "the submission is started with the verifier's own rights here, so it can reach whatever the verifier can",
        ),
    ):
        if spans:
            yield Finding.at(
                spans[0],
                message,
                help=_HELPERS if judge else _APART,
                related=[related(s, "and here") for s in spans[1:6]],
                # A verdict read from the terminal is not won by ending the process, only by forging the lines.
                severity=Severity.WARNING if verifier.contract is Contract.TEST_SUMMARY else None,
            )
