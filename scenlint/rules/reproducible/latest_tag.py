"""An image at `latest`, or with no tag at all."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.task.images import find_images, pin


@rule(
    "latest-tag",
    "SL302",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    aliases=["DL3006", "DL3007"],
    refute="the reference names a build stage or an image that this task builds itself",
    fix="safe",
)
def latest_tag(task: Task) -> Iterator[Finding]:
    for image in find_images(task):
        reference = image.reference
        if reference.floating:
            state = "is at `latest`" if reference.tag else "has no tag, which means `latest`"
            yield Finding.at(
                image.span,
                f"`{reference.text}` {state}: whatever is newest on the day of the build",
                help="name a version and pin it by digest, as `name:version@sha256:…`",
                fix=pin(task, image),
            )
