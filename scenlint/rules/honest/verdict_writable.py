"""The agent can write the verdict, or what the verdict is read from."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile, shell
from scenlint.source.shell import Command
from scenlint.source.text import Span
from scenlint.task.model import Contract, Isolation, Place
from scenlint.task.verdict_flow import Flow, flows, short

_OPEN_MODE = re.compile(r"[0-7]*[0-7][0-7][2367]|(?:u?g?[oa]|ugo|)\+[rxXst]*w[rwxXst]*|[oa]=r?w[xX]?|ugo=r?w[xX]?")
_READERS = frozenset("cat head tail cp mv install jq yq grep awk sed cut".split())  # noqa: SIM905
_JUDGING = re.compile(r"(?i)(?:.*[_-])?(?:tests?|checks?|verif\w*|grad\w+|judge|score|eval\w*)(?:[_-].*)?\.\w+")
_SUCCESS = re.compile(r"(?i)\b(?:all )?(?:tests? )?(?:pass(?:ed)?|success(?:ful)?|ok)\b")


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
    for flow in flows(task):
        if flow.complete:
            yield from _taken_over(task, flow)
            yield from _believed(flow)
            yield from _own_judge(task, flow)
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


def _taken_over(task: Task, flow: Flow) -> Iterator[Finding]:
    """A reward that is read from a file of the agent's."""
    seen = set()
    for end in flow.ends:
        value = flow.verdict(end)
        reader = value.maker or value.source if value is not None and value.text is None else None
        if not isinstance(reader, Command) or reader.program not in _READERS or reader in seen:
            continue
        seen.add(reader)
        files = [w.pattern for w in reader.arguments if "/" in w.pattern and flow.setting.is_work(w.pattern)]
        files = files[:-1] if reader.program in ("cp", "mv", "install") and len(files) > 1 else files
        earlier = [c for c in reader.script.commands if c.start < reader.start]
        own = any(
            f in w.pattern
            for f in files
            for c in earlier
            for w in (*c.argv, *(r.target for r in c.redirects if r.target))
        )
        if files and not own:
            yield Finding.at(
                reader.span,
                f"the reward is read from `{files[0]}`, which the agent can write",
                help="compute it from the agent's work in a script of the verifier's own",
            )


def _believed(flow: Flow) -> Iterator[Finding]:
    """A verdict by the word of success in what the agent's own program prints."""
    for command in flow.checks:
        stages = command.pipeline.items if command.pipeline is not None else []
        word = next((w.pattern for w in command.arguments if not w.is_option), "")
        if command.tool not in ("grep", "egrep", "fgrep", "rg") or len(stages) < 2 or not _SUCCESS.search(word):
            continue
        first = stages[0]
        path = first.script_word if isinstance(first, Command) else None
        if path is not None and flow.setting.is_work(path.pattern) and flow.hangs_on(command):
            yield Finding.at(
                command.span,
                f"the verdict hangs on the word `{word}` in what the agent's own program prints",
                help="check what the program did, or what it prints for inputs of the verifier's own",
                related=[related(first.span, "the agent's program")],
            )


def _own_judge(task: Task, flow: Flow) -> Iterator[Finding]:
    """A check that runs a judging script which lies in the agent's own folder."""
    shipped = {posixpath.basename(p) for p in task.environment.files} if task.environment else set()
    brief = " ".join(b.prose.text for b in task.briefs)
    for command in sorted(flow.checks, key=lambda c: c.start):
        path = command.script_word.pattern if command.script_word is not None else ""
        name = posixpath.basename(path)
        theirs = name in shipped and name not in flow.setting.own and _JUDGING.fullmatch(name)
        if theirs and flow.setting.is_work(path) and name not in brief and flow.hangs_on(command):
            yield Finding.at(
                command.span,
                f"the verdict is that of `{short(command)}`, and `{name}` lies where the agent works",
                help="keep the script in the verifier's folder, out of the agent's reach",
            )


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
