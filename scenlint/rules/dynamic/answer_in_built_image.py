"""The image that the agent gets holds the solution, the tests or an expected value."""

from collections.abc import Iterator, Sequence

from scenlint.rules import Confidence, Finding, Severity, Task, related, trial_rule
from scenlint.task import trials
from scenlint.task.attacks import attacks
from scenlint.task.finding import At
from scenlint.task.model import Place
from scenlint.task.needles import needles
from scenlint.task.record import ProbeOutcome, TrialRecord

HIDDEN = "(not for the agent to see) "  # marks places that only whoever has the image can read


@trial_rule(
    "answer-in-built-image",
    "SL715",
    refute="the file is an input that the agent is meant to have, and says the same by chance or by intention",
    deep=True,
)
def answer_in_built_image(task: Task, records: Sequence[TrialRecord]) -> Iterator[Finding]:
    for attack in attacks(task, records, "answer-in-built-image"):
        if attack.experiment.outcome != ProbeOutcome.LEAK:
            continue
        for line in attack.experiment.evidence.splitlines():
            hidden = line.startswith(HIDDEN)
            known = next((n for n in needles(task) if f"`{n.text[:80]}`" in line), None)
            where = "layers or history, though the agent does not see it" if hidden else "the agent's environment"
            yield Finding.at(
                _place(task),
                f"found in {where}: {line.removeprefix(HIDDEN)} (trial `{attack.record.id}`)",
                help="build from a context without it (.dockerignore, a stage of its own, a fresh `git init`); "
                + trials.look(attack.record),
                related=[related(known.span, "it stands here")] if known else [],
                severity=Severity.WARNING if hidden or (known and known.kind == "expected value") else Severity.ERROR,
                confidence=Confidence.MEDIUM,
            )


def _place(task: Task) -> At:
    """The Dockerfile of the agent's image, or the task's folder."""
    builds = task.environment.builds if task.environment else []
    build = next((b for b in builds if b.place is Place.AGENT), None)
    return build.fragment.source.lines(1) if build else task.folder
