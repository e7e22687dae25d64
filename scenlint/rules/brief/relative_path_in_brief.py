"""The brief gives a deciding path relative, and nothing says relative to which folder."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.image_build import plain_base
from scenlint.task.model import Place
from scenlint.task.paths import Token

_STATED = regex(
    r"\b(?:working|current|start\w*) (?:directory|folder) (?:is|will be|set to)\b|"
    r"\b(?:cd|change) (?:in)?to [`\"']?/|工作目录",
    re.I,
)


@rule(
    "relative-path-in-brief",
    "SL218",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF, Role.ENVIRONMENT, Role.VERIFIER},
    formats={"harbor", "terminal-bench"},
    aliases=["task-absolute-path", "instruction-relative-path"],
    refute="the base image sets the working directory, and the verifier looks there",
)
def relative_path_in_brief(task: Task) -> Iterator[Finding]:
    if _knows_workdir(task) or any(_STATED.search(b.prose.text) for b in task.briefs):
        return
    opened: dict[str, Span] = {a.path: a.span for check in task.checks for a in check.accesses}
    seen: set[str] = set()
    for stated in task.visible.paths():
        said = stated.token.plain.removeprefix("./")
        places = [p for p in opened if p == said or p.endswith("/" + said)]
        if not places or said in seen or not _is_relative(stated.token) or _is_told(task, said, places):
            continue
        seen.add(said)
        yield Finding.at(
            stated.span,
            f"`{stated.text}` is relative, but neither the brief nor a WORKDIR says to which folder",
            help=f"write `{places[0]}`, or set a WORKDIR and name it" if places[0] != said else "write it absolute",
            related=[related(opened[places[0]], f"the verifier opens `{places[0]}`")],
        )


def _knows_workdir(task: Task) -> bool:
    environment = task.environment
    if environment is None or environment.workdir is not None:
        return True
    builds = [b for b in environment.builds if b.place is Place.AGENT]
    stages = [dockerfile.parse(b.fragment, b.arguments).final(b.target) for b in builds]
    # An image of somebody's own may well set one.
    return not stages or any(
        s is None or s.workdir is not None or not plain_base(s.root.base.text or "") for s in stages
    )


def _is_relative(token: Token) -> bool:
    return not token.absolute and not token.text.startswith(("~", "$", "..")) and not token.folder


def _is_told(task: Task, said: str, places: list[str]) -> bool:
    """Whether a brief names the folder as well, or there is but one such file from the beginning."""
    texts = [b.prose.text for b in task.briefs]
    folders = [posixpath.dirname(p) if p == said else p.removesuffix("/" + said) for p in places]
    return any(f and f in text for f in folders for text in texts) or any(task.visible.exists(p) for p in places)
