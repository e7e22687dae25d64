"""A declared site that no check of the verifier touches."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.environ import env_reads
from scenlint.source.environ_use import is_used, live_code
from scenlint.source.liveness import is_dynamic
from scenlint.source.python import PyModule, parse
from scenlint.source.regex import regex

_ADDRESS = regex(r"localhost|127\.0\.0\.1|\b\w+://\S*\w:\d|rollout_")


@rule(
    "site-never-verified",
    "SL110",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.SITES, Role.VERIFIER},
    formats={"saas-bench"},  # only its tasks declare applications
    refute="a check reaches the site by other means than its variables, or the agent only has to read something in it",
)
def site_never_verified(task: Task) -> Iterator[Finding]:
    variables = task.environment.variables if task.environment else None
    if variables is None or task.verifier is None:
        return
    modules = [parse(fragment) for fragment in task.verifier.code("python")]
    found = [env_reads(module) for module in modules]
    if not modules or any(reads.open for reads in found) or any(m.fault or is_dynamic(m) for m in modules):
        return  # it also reads variables whose names only a run would show
    for site in task.sites:
        own = {v.name for v in variables.given.values() if v.site == site.name}
        if not own:
            continue  # unknown-site's
        reads = [(m, r) for m, some in zip(modules, found, strict=True) for r in some.reads if r.name in own]
        if any(is_used(m, r) for m, r in reads) or any(_mentions(m, _site(site.name), own) for m in modules):
            continue
        if reads or not any(_mentions(m, _ADDRESS, own) for m in modules):  # else hard-coded-endpoint's
            yield Finding.at(
                site.span or task.folder,
                f"no check touches `{site.name}`, yet it is started for every trial",
                help="check what the brief asks for there, or take the site out of `sites`; "
                "if the agent only has to read something in it, say so in a suppression",
                related=[related(r.span, "its variable is asked for here and used in no check") for _, r in reads[:1]],
            )


def _site(name: str) -> re.Pattern[str]:
    return re.compile(r"(?<![a-z0-9])" + "[-_ ]?".join(map(re.escape, name.split("-"))), re.IGNORECASE)


def _mentions(module: PyModule, wanted: re.Pattern[str], variables: set[str]) -> bool:
    """Whether a text in code that runs shows something: the site in a container's name or a label, an address."""
    live = live_code(module)
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and live(node)
        and node.value not in variables
        and wanted.search(node.value)
        for node in module.nodes
    )
