"""A line that is meant as a check or SCORE line, but that SaaS-Bench's harness will not read as one."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.pyvalue import HOLE
from scenlint.source.secrets import cut
from scenlint.task.protocol_fixes import mended
from scenlint.task.verdict_flow.points import points, site


@rule(
    "malformed-protocol-line",
    "SL510",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"saas-bench"},
    refute="the harness's pattern matches the line that is really printed",
    fix="unsafe",
)
def malformed_protocol_line(task: Task) -> Iterator[Finding]:
    for found in points(task):
        seen = set()
        for line, why in found.broken:
            place = line.output.place.span
            if (place, why) in seen:
                continue
            seen.add((place, why))
            shown = " ".join(line.text.replace(HOLE, "…").split())
            stated = site(line)
            yield Finding.at(
                place,
                f"this line {why}: `{cut(shown, 70)}`",
                help="to stderr: `[PASS] (Npt) label  (detail)`, N a whole number, two spaces before the detail",
                related=[related(stated, "stated here")] if stated != place else [],
                fix=mended(line.output.place, why),
            )
