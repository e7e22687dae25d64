"""The agent can write the verdict, or what the verdict is read from."""

import posixpath
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile, shell
from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.source.text import Span
from scenlint.task.model import Contract, Isolation, Place
from scenlint.task.verdict_flow import flows
from scenlint.task.verdict_flow.reach import believed, own_judge, taken_over

_OPEN_MODE = regex(r"[0-7]*[0-7][0-7][2367]|(?:u?g?[oa]|ugo|)\+[rxXst]*w[rwxXst]*|[oa]=r?w[xX]?|ugo=r?w[xX]?")


@rule(
    "verdict-writable",
    "SL404",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="the agent cannot reach the place, or the harness wipes it after the agent has gone",
)
def verdict_writable(task: Task) -> Iterator[Finding]:
    yield from _image(task)
    brief = " ".join(b.prose.text for b in task.briefs)
    for flow in flows(task):
        if flow.complete:
            for reach in (*taken_over(flow), *believed(flow), *own_judge(flow, brief)):
                there = [related(reach.program, "the agent's program")] if reach.program else []
                yield Finding.at(reach.span, reach.why, help=reach.help, related=there)
    yield from _same_shell(task)


def _image(task: Task) -> Iterator[Finding]:
    """What the agent's image does to the place of the verdict."""
    verifier = task.verifier
    if verifier is None or verifier.isolation is not Isolation.SHARED or task.environment is None:
        return
    verdicts = verifier.verdict_paths
    folders = {posixpath.dirname(v) for v in verdicts}
    for build in task.environment.builds:
        if build.place is not Place.AGENT or not verdicts:
            continue
        stage = dockerfile.parse(build.fragment).final(build.target)
        for instruction in stage.history if stage else []:
            target = instruction.destination if instruction.keyword in ("COPY", "ADD") else None
            if target is not None and _lands_on(target, [w.text or "" for w in instruction.sources], verdicts):
                yield _finding(instruction.span, "the image already holds a verdict")
            for script in instruction.scripts:
                for command in shell.parse(script).deep():
                    if why := _opens(command, folders, verdicts):
                        yield _finding(command.span, why)


def _finding(span: Span, message: str) -> Finding:
    return Finding.at(span, message, help="leave the verdict's folder to the harness, which makes it when it grades")


def _lands_on(target: str, sources: list[str], verdicts: tuple[str, ...]) -> bool:
    return target in verdicts or any(posixpath.join(target, posixpath.basename(s)) in verdicts for s in sources)


def _opens(command: Command, folders: set[str], verdicts: tuple[str, ...]) -> str | None:
    words = [w.pattern for w in command.arguments if not w.is_option]
    above = {f for folder in folders for f in (folder, posixpath.dirname(folder))} - {"/"}
    if any(r.writes and r.target is not None and r.target.pattern in verdicts for r in command.redirects):
        return "the image already holds a verdict"
    if command.program in ("touch", "tee") and any(w in verdicts for w in words):
        return "the image already holds a verdict"
    paths = {w.rstrip("/") for w in words[1:]}
    if command.program == "chmod" and words and _OPEN_MODE.fullmatch(words[0]) and paths & (above | set(verdicts)):
        return "everybody can write where the verdict is read"
    if (
        command.program == "chown"
        and words
        and not words[0].startswith(("root", "0"))
        and paths & (above | set(verdicts))
    ):
        return f"`{words[0]}` owns the place where the verdict is read"
    return None


def _same_shell(task: Task) -> Iterator[Finding]:
    """Legacy Terminal-Bench: the tests' output is read off the terminal that the agent has used."""
    verifier = task.verifier
    data = task.metadata.data if task.metadata else None
    if verifier is None or verifier.contract is not Contract.TEST_SUMMARY or data is None:
        return
    if data.get("run_tests_in_same_shell") is True:
        yield Finding.at(
            data.span("run_tests_in_same_shell"),
            "the tests run in the agent's own shell: its aliases, functions and output are part of what is graded",
            help="set `run_tests_in_same_shell: false`",
        )
