"""A declared site that the list of applications does not have."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, NotAssessableError, Role, Severity, Task, rule
from scenlint.source.edit import respelled
from scenlint.task.suggest import closest


@rule(
    "unknown-site",
    "SL107",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.SITES},
    formats={"saas-bench"},  # only its tasks declare applications
    refute="the suite is run with another list of applications, which has this name",
    fix="unsafe",
)
def unknown_site(task: Task) -> Iterator[Finding]:
    if all(site.known is None for site in task.sites):
        raise NotAssessableError("no apps.yaml was found in or above the task's folder, nor is one configured")
    for site in task.sites:
        if site.known is False:
            near = closest(site.name, site.candidates)
            yield Finding.at(
                site.span or task.folder,
                f"apps.yaml has no application `{site.name}`: the harness skips it with a warning, "
                "and the verifier gets none of its variables",
                help=f"did you mean `{near[0]}`?" if near else f"the list has: {', '.join(sorted(site.candidates))}",
                fix=Fix.of(f"name `{near[0]}`", respelled(site.span, site.name, near[0]), safe=False) if near else None,
            )
