"""A verifier that installs or fetches something while it grades."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.shell import parse
from scenlint.source.text import Span
from scenlint.task.guards import guarded_by
from scenlint.task.installs import Origin
from scenlint.task.model import Isolation
from scenlint.task.policy import Profile
from scenlint.task.runs import Run, build_runs, verifier_runs
from scenlint.task.subprocesses import in_containers


@rule(
    "download-at-grading",
    "SL305",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    aliases=["verifier-runtime-install", "verifier-network-download"],
    refute="the verifier runs to its verdict with the network off",
)
def download_at_grading(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier and verifier.isolation is Isolation.SHARED and task.policy.profile is Profile.HARBOR:
        return  # there, test tools belong into test.sh as long as it runs in the agent's container
    found: dict[object, list[tuple[Span, str]]] = {}
    for run in (*verifier_runs(task), *_in_containers(task)):
        what = _downloads(run)
        if what and not _provided(task, run):
            found.setdefault(run.script.path, []).append((run.command.span, what))
    for (span, what), *others in found.values():
        more = f", and {len(others)} more such command{'s' * (len(others) > 1)}" if others else ""
        yield Finding.at(
            span,
            f"grading downloads: {what}{more}",
            help="install what the verifier needs while its image is built, with pinned versions, and only run it here",
            related=[related(other, text) for other, text in others[:5]],
        )


def _in_containers(task: Task) -> Iterator[Run]:
    """What a verifier on the host runs in the containers of the applications."""
    for fragment in task.verifier.code("python") if task.verifier else ():
        for text in in_containers(fragment):
            yield from (Run(command, fragment) for command in parse(text).deep())


def _downloads(run: Run) -> str:
    """What a command downloads, for a message; "" where it downloads nothing."""
    for fetch in run.fetches:
        if fetch.public:
            return f"`{fetch.tool} {fetch.what}".strip() + "`"
    for install in run.installs:
        if install.fetches:
            verb = "" if " " in install.manager or install.manager == "uvx" else " install"
            name = "" if install.origin is Origin.MANIFEST else f" {install.shown}"
            return f"`{install.manager}{verb}{name}`"
    return ""


def _provided(task: Task, run: Run) -> bool:
    """Whether it only runs where a tool is missing that the build installs."""
    tool = guarded_by(run.command)
    return tool is not None and any(tool == i.name for b in build_runs(task) for i in b.installs)
