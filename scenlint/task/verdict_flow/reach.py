"""How the agent gets its hands on a verdict that a shell script comes to."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.source.text import Span
from scenlint.task.verdict_flow.shell import Flow, short

_READERS = frozenset("cat head tail cp mv install jq yq grep awk sed cut".split())  # noqa: SIM905
_JUDGING = regex(r"(?i)(?:.*[_-])?(?:tests?|checks?|verif\w*|grad\w+|judge|score|eval\w*)(?:[_-].*)?\.\w+")
_SEARCHERS = ("grep", "egrep", "fgrep", "rg")
_SUCCESS = regex(r"(?i)\b(?:all )?(?:tests? )?(?:pass(?:ed)?|success(?:ful)?|ok)\b")


@dataclass(frozen=True)
class Reach:
    """Where the verdict is within the agent's reach, why, and what to do; `program`: the agent's program behind it."""

    span: Span
    why: str
    help: str
    program: Span | None = None


def taken_over(flow: Flow) -> Iterator[Reach]:
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
            yield Reach(
                reader.span,
                f"the reward is read from `{files[0]}`, which the agent can write",
                "compute it from the agent's work in a script of the verifier's own",
            )


def believed(flow: Flow) -> Iterator[Reach]:
    """A verdict by the word of success in what the agent's own program prints."""
    for command in _in_order(flow.checks):
        word = next((w.pattern for w in command.arguments if not w.is_option), "")
        if command.tool not in _SEARCHERS or not _SUCCESS.search(word) or not flow.hangs_on(command):
            continue
        for source in _read_by(command):
            path = source.script_word.pattern if source.script_word is not None else ""
            if path and flow.setting.is_work(path) and posixpath.basename(path) not in flow.setting.given:
                yield Reach(
                    command.span,
                    f"the verdict hangs on the word `{word}` in what the agent's own program prints",
                    "check what the program did, or what it prints for inputs of the verifier's own",
                    source.span,
                )


def own_judge(flow: Flow, brief: str) -> Iterator[Reach]:
    """A check that runs a judging script which lies in the agent's own folder."""
    deciding = [c for c in flow.checks if flow.hangs_on(c)]
    read = {source for c in deciding for source in _read_by(c)}
    for command in _in_order(flow.checks):
        path = command.script_word.pattern if command.script_word is not None else ""
        name = posixpath.basename(path)
        theirs = name in flow.setting.given and name not in flow.setting.own and _JUDGING.fullmatch(name)
        if theirs and flow.setting.is_work(path) and name not in brief and (command in deciding or command in read):
            yield Reach(
                command.span,
                f"the verdict is that of `{short(command)}`, and `{name}` lies where the agent works",
                "keep the script in the verifier's folder, out of the agent's reach",
            )


def _in_order(commands: set[Command]) -> list[Command]:
    return sorted(commands, key=lambda c: c.start)


def _read_by(check: Command) -> Iterator[Command]:
    """The commands whose output a check reads: through a pipe, from a file, or from a variable."""
    stages = check.pipeline.items[: check.position] if check.pipeline is not None else []
    earlier = [c for c in check.script.commands if c.start < check.start]
    words = [*check.arguments, *(w for s in stages if isinstance(s, Command) for w in s.arguments)]
    yield from (stage for stage in stages if isinstance(stage, Command))
    for command in earlier:
        targets = {r.target.pattern for r in command.redirects if r.writes and r.target is not None}
        if targets & {w.pattern for w in words}:
            yield command
    names = {name for word in words for name in word.variables}
    for command in earlier:
        for assignment in command.assignments:
            if assignment.name in names and assignment.substitution is not None:
                yield from assignment.substitution.commands
