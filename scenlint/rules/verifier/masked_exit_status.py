"""An exit status decides the verdict, but it is not the check's own: a pipe or a later command has replaced it."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Fix, Kind, Role, Severity, Task, related, rule
from scenlint.source.edit_shell import insert_before, insert_behind, knows_pipefail
from scenlint.source.shell import Node, Pipeline
from scenlint.task.verdict_flow import flows, short


@rule(
    "masked-exit-status",
    "SL507",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the verdict is read from the check's report, and the status only adds to it",
    fix="unsafe",
)
def masked_exit_status(task: Task) -> Iterator[Finding]:
    for flow in flows(task):
        for use in flow.masked:
            check, by = use.mask.check, use.mask.by
            if use.mask.kind == "pipe":
                last = by.items[-1] if isinstance(by, Pipeline) else by
                yield Finding.at(
                    by.span,
                    f"the exit status of this pipeline is that of `{short(last)}`: `{short(check)}` can fail unnoticed",
                    help="put `set -o pipefail` before it, or decide by `${PIPESTATUS[0]}`",
                    related=[related(use.at.span, "decided here")] if use.at is not by else [],
                    fix=Fix.of("set pipefail before it", insert_before(by, "set -o pipefail"), safe=False)
                    if knows_pipefail(by)
                    else None,
                )
            else:
                yield Finding.at(
                    use.at.span,
                    f"the status asked for here is that of `{short(by)}`, not that of the check",
                    help="keep the check's status right behind it: `status=$?`",
                    related=[related(check.span, "the check whose status is lost")],
                    fix=_kept(check, use.at),
                )


def _kept(check: Node, use: Node) -> Fix | None:
    """The check's status in a variable behind it, and that asked for instead of `$?`."""
    name, text = "check_status", use.fragment.text
    at = text.find("$?", use.start, use.end)
    if name in text or at < 0 or "$?" in text[at + 2 : use.end] or use.fragment is not check.fragment:
        return None
    edits = insert_behind(check, f"{name}=$?"), use.fragment.edit(at, at + 2, f"${name}")
    return Fix.of("keep the check's status", *edits, safe=False)
