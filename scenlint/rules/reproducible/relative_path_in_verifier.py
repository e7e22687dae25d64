"""The verifier opens a path that starts from a working directory nobody has promised it."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.task.model import Isolation


@rule(
    "relative-path-in-verifier",
    "SL314",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the verifier finds the file from whatever directory it is started in",
)
def relative_path_in_verifier(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None:
        return
    if verifier.isolation is Isolation.HOST and verifier.workdir is None:
        for event in task.survey.events:
            if event.kind == "relative":
                yield Finding.at(
                    event.span,
                    f"`{event.note}` is looked for wherever the harness was started, which is left open",
                    help="join it to `os.path.dirname(__file__)`, or to the folder that the harness names",
                )
    elif task.format == "packet":
        yield from _left_the_workdir(task)


def _left_the_workdir(task: Task) -> Iterator[Finding]:
    """A check that changes the directory and then opens the brief's path, which counts from the working directory."""
    for event in task.survey.events:
        if event.kind != "moved":
            continue
        written, meant = event.note.split("\n")
        said = task.visible.in_brief(written)
        if said is None or task.visible.in_brief(meant) is not None or task.visible.exists(meant) is not None:
            continue
        yield Finding.at(
            event.span,
            f"after the `cd`, `{written}` means `{meant}`",
            help=f"open it before the `cd`, or as `{_back(meant, written)}`",
            related=[related(said, "the brief counts the path from the working directory")],
        )


def _back(meant: str, written: str) -> str:
    depth = len(PurePosixPath(meant).parts) - len(PurePosixPath(written).parts)
    return "../" * max(depth, 1) + written
