"""A base image that is not on the approved list."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.images import Image, Reference, find_images, split
from scenlint.task.policy import Policy


@rule(
    "unapproved-base",
    "SL303",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    aliases=["DL3026"],
    refute="the image is on your team's list under another name",
)
def unapproved_base(task: Task) -> Iterator[Finding]:
    if task.shared:
        return  # the applications of a suite are what its tasks are about, not what they are built on
    for image in find_images(task):
        if image.base and not _is_build(task, image) and not _approved(image.reference, task.policy):
            name = image.reference.name
            yield Finding.at(
                image.span,
                f"`{name}` is not on the list of approved base images",
                help=f"start from an approved image, or add `{name}` to `[images] approved` in the configuration",
            )


def _is_build(task: Task, image: Image) -> bool:
    """An image named beside a Dockerfile for the same container is what that file was built to."""
    builds = task.environment.builds if task.environment else []
    return image.how == "image" and any((b.place, b.service) == (image.place, image.service) for b in builds)


def _approved(reference: Reference, policy: Policy) -> bool:
    """Whether the image, or the one that it is configured as a mirror of, matches the list."""
    originals = [split(original) for original, mirror in policy.substitutes.items() if mirror == reference.text]
    names = [r.name for r in (reference, *originals) if r]
    patterns = [split(p) for p in policy.approved_images]
    return any(fnmatchcase(name, pattern.name) for name in names for pattern in patterns if pattern)
