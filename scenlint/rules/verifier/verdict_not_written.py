"""There is a way through the verifier on which no verdict is written, and the agent's work leads there."""

import posixpath
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.shell import Command
from scenlint.task.model import Contract
from scenlint.task.verdict_flow import Flow, flows, short
from scenlint.task.verdict_flow.points import Points, early_exits, points, site
from scenlint.task.verdict_flow.values import State


@rule(
    "verdict-not-written",
    "SL506",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    refute="the way cannot be taken, or something that is not at hand writes the verdict",
)
def verdict_not_written(task: Task) -> Iterator[Finding]:
    for flow in flows(task):
        if flow.script.text.startswith("#!") and flow.script.source.text.partition("\n")[0].endswith("\r"):
            yield Finding.at(
                flow.script.source.lines(1),
                "the script has Windows line ends: its first line names a program that does not exist",
                help="convert it to Unix line ends",
            )
            continue
        seen: set[object] = set()
        for end, other in flow.missing:
            finding, key = _never(flow, end) if other is None else _sometimes(flow, end, other)
            if key not in seen:
                seen.add(key)
                yield finding
    for found in points(task):
        yield from _point_lines(found)


def _point_lines(found: Points) -> Iterator[Finding]:
    if found.silent:
        yield Finding.at(
            found.program.entry.module.fragment.source.lines(1),
            "the verifier prints no check line, so every run ends as ERROR",
            help="print `[PASS] (Npt) label` or `[FAIL] (Npt) label` to stderr for every check",
        )
    for place, line in early_exits(found):
        yield Finding.at(
            place.span,
            "this ends the run behind a check line and before the SCORE line: the harness scores by the lines so far",
            help="print the checks that remain as failed, and the SCORE line, before it",
            related=[related(site(line), "a check that has been printed by then")],
        )


def _never(flow: Flow, end: State) -> tuple[Finding, object]:
    if flow.contract is Contract.TEST_SUMMARY:
        message = "the script prints no short test summary, which is where the harness finds the results"
        help = "end it with `pytest … -rA`"
        return Finding.at(flow.script.source.lines(1), message, help=help), None
    names = " or ".join(f"`{path}`" for path in flow.setting.verdicts)
    near = next((p for p in end.files if _resembles(p)), None)
    place = end.files[near].source if near is not None else None
    if near is not None and place is not None:
        message = f"the verdict goes to `{near}`, which the harness does not read"
        return Finding.at(place.span, message, help=f"write it to {names}"), place
    first = flow.script.source.lines(1)
    help = "write the reward on every path: 1 where the checks succeed, 0 where they fail"
    return Finding.at(first, f"the script never writes {names}", help=help), None


def _resembles(path: str) -> bool:
    name = posixpath.basename(path)
    return path.startswith("/") and any(word in name for word in ("reward", "score", "verdict", "result"))


def _sometimes(flow: Flow, end: State, other: State) -> tuple[Finding, object]:
    written = flow.verdict(other)
    source = written.source if written is not None else None
    there = [related(source.span, "the verdict that another way comes to")] if source is not None else []
    if end.crash is not None:
        message = "where this fails, the program breaks off before it writes the verdict"
        help = "catch it and write the reward 0, or write 0 before the program is started"
        return Finding.at(end.crash.span, message, help=help, related=there), end.crash
    by = end.ended_by
    what = "the test summary is printed" if flow.contract is Contract.TEST_SUMMARY else "a verdict is written"
    if flow.contract is Contract.TEST_SUMMARY and by is None and isinstance(source, Command):
        message = "when every test passes this prints no short test summary, and the harness finds no results"
        return Finding.at(source.span, message, help="add `-rA`, which names the passed tests too"), source
    if isinstance(by, Command) and by.program in ("exit", "return"):
        message = f"`{short(by)}` ends the script before {what}"
        return Finding.at(by.span, message, help="write the reward 0 before it", related=there), by
    if by is not None:
        message = f"`set -e` ends the script here when `{short(by)}` fails, before {what}"
        help = "test it with `if`, or write the reward in a trap on EXIT"
        return Finding.at(by.span, message, help=help, related=there), by
    place = source.span if source is not None else flow.script.source.lines(1)
    message = "a verdict is written only where the checks succeed; a failed trial leaves none"
    return Finding.at(place, message, help="write the reward 0 on the other branch"), source
