"""An image that no digest pins."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.images import find_images, pin


@rule(
    "unpinned-image",
    "SL301",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the reference names a build stage or an image that this task builds itself",
    fix="safe",
)
def unpinned_image(task: Task) -> Iterator[Finding]:
    for image in find_images(task):
        reference = image.reference
        if reference.pinned or reference.floating:
            continue  # an image without a tag, or at `latest`, is latest-tag's
        if reference.digest:
            yield Finding.at(
                image.span,
                f"the digest of `{reference.text}` is malformed, so it pins nothing",
                help="write `sha256:` and the 64 hexadecimal digits that the registry gives",
            )
        else:
            yield Finding.at(
                image.span,
                f"`{reference.text}` is named by tag only, so what it holds can change",
                help=f"pin it as `{reference.text}@sha256:…`; "
                f"`docker buildx imagetools inspect {reference.text}` prints the digest",
                fix=pin(task, image),
            )
