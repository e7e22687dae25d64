"""A file that the format requires and that is not there."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule


@rule(
    "missing-file",
    "SL101",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    refute="the harness runs the task without the file",
)
def missing_file(task: Task) -> Iterator[Finding]:
    for required in task.requirements:
        if not required.met:
            twin = _other_case(task, required.path)
            yield Finding.at(
                task.folder / required.path,
                f"`{required.path}` is missing: {required.why}",
                help=f"rename `{twin}`" if twin else "add it",
                severity=required.severity,
            )


def _other_case(task: Task, path: str) -> str | None:
    """A file whose path differs in letter case only."""
    return next((e.path for e in task.files if e.path.lower() == path.lower()), None)
