"""A verifier that reads variables of an application which the task does not declare."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.environ import env_reads
from scenlint.source.python import parse
from scenlint.task.suggest import closest


@rule(
    "undeclared-site",
    "SL108",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.SITES, Role.VERIFIER},
    formats={"saas-bench"},  # only its tasks declare applications
    refute="the harness sets the variable for every task, or the verifier manages without it",
)
def undeclared_site(task: Task) -> Iterator[Finding]:
    variables = task.environment.variables if task.environment else None
    if variables is None or task.verifier is None:
        return
    misspelt = [site.name for site in task.sites if site.known is False]
    reported: set[str | None] = set()
    for fragment in task.verifier.code("python"):
        for read in env_reads(parse(fragment)).reads:
            variable = variables.available.get(read.name)
            if variable is None or read.fallback or variable.site in reported:
                continue
            if variable.site and closest(variable.site, misspelt):
                continue  # unknown-site says it
            reported.add(variable.site)
            yield Finding.at(
                read.span,
                f"`{read.name}` is set only for tasks that declare the site `{variable.site}`, and this one does not",
                help=f"add `{variable.site}` to `sites`, or take the check on it out of the verifier",
                related=[related(s.span, "the declared sites") for s in task.sites[:1] if s.span],
            )
