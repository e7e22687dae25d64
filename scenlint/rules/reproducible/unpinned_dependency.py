"""A dependency that is installed without an exact version, lock or hash."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, related, rule
from scenlint.source.text import Span
from scenlint.task.images import find_images
from scenlint.task.installs import SYSTEM, Install, Origin
from scenlint.task.installs.files import read_manifest
from scenlint.task.installs.pins import pin_packages
from scenlint.task.model import Place
from scenlint.task.policy import Profile
from scenlint.task.runs import Run, build_runs, oracle_runs, verifier_runs


@rule(
    "unpinned-dependency",
    "SL304",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    aliases=["unpinned-python-dependency", "DL3008", "DL3013", "DL3016", "DL3018", "DL3028", "DL3033", "DL3041"],
    refute="a lock file, a constraints file or a snapshot of the index decides the version",
    fix="safe",
)
def unpinned_dependency(task: Task) -> Iterator[Finding]:
    seen: set[Span] = set()
    system: dict[Span, list[Install]] = {}
    for run in [*build_runs(task), *verifier_runs(task), *oracle_runs(task)]:
        found = run.installs
        loose = [i for i in found if not i.pinned and i.span not in seen]
        seen.update(i.span for i in loose)
        if loose and loose[0].manager in SYSTEM:
            if run.instruction:
                system.setdefault(run.instruction.span, []).extend(loose)
        elif loose:
            yield _finding(task, loose)
        for install in found:
            listed = [
                i for i in read_manifest(task, install, _folder(task, run)) if not i.pinned and i.span not in seen
            ]
            seen.update(i.span for i in listed)
            if listed:
                yield _finding(task, listed, install)
    if task.policy.profile in (Profile.SEED, Profile.MINIMAL) and not _frozen(task):
        yield from (_posture(installs) for installs in system.values())


def _folder(task: Task, run: Run) -> str | None:
    """Where in the task the files lie that a command can name."""
    if run.build is not None:
        return run.build.context
    return task.verifier.folder if task.verifier and run.script in task.verifier.files else None


def _finding(task: Task, loose: list[Install], listing: Install | None = None) -> Finding:
    first = loose[0]
    message = f"`{first.shown}` {first.why}" if len(loose) == 1 else f"{_names(loose)} have no exact version"
    others = [related(i.span, f"`{i.shown}` {i.why}") for i in loose[1:6]]
    if listing is not None and listing.origin is Origin.MANIFEST and first.span != listing.span:
        others.append(related(listing.span, "installed here"))
    target = "a commit" if first.origin is Origin.VCS else "the exact version"
    return Finding.at(
        first.span,
        message,
        help=f"give {target} that the scenario was calibrated with, or install from a lock file",
        related=others,
        fix=pin_packages(task, loose),
    )


def _posture(installs: list[Install]) -> Finding:
    return Finding.at(
        installs[0].span,
        f"{_names(installs)}: whatever version the distribution's mirror has on the day of the build",
        help="install from a snapshot mirror, or publish the built image and name it by digest in the metadata",
        severity=Severity.INFO,
    )


def _names(installs: list[Install]) -> str:
    shown = ", ".join(f"`{i.shown}`" for i in installs[:4])
    return f"{shown} and {len(installs) - 4} more" if len(installs) > 4 else shown


def _frozen(task: Task) -> bool:
    """Whether a digest names the built image, or the packages come from a snapshot of the mirror."""
    built = any(i.how == "image" and i.place is Place.AGENT and i.reference.pinned for i in find_images(task))
    builds = task.environment.builds if task.environment else []
    return built or any("snapshot." in b.fragment.text for b in builds)
