"""The upstream fix is one URL or one Git object away from the agent."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile, gitdir
from scenlint.source.dockerfile import Instruction, Stage
from scenlint.source.regex import regex
from scenlint.source.shell import Command, parse
from scenlint.source.text import Span
from scenlint.task.context import Context
from scenlint.task.fetches import read_fetches
from scenlint.task.installs import arguments
from scenlint.task.model import Place
from scenlint.task.runs import oracle_runs

_CHANGE = regex(
    r"https?://(?:www\.)?(?:github|gitlab|bitbucket)\.\w+/[\w.-]+/[\w.-]+/(?:-/)?(?:issues|pulls?|merge_requests|commits?)/\w+"
)
# Where a link leads to the change itself: words before it that call it so, none that blame it or only refer to it.
_CALLED_FIX = regex(
    r"\b(?:patch(?:es)?|PR|pull[- ]requests?|fix(?:es)?|solv\w+|resolv\w+|clos(?:e|es|ing)|implement(?:s|ed|ing)?|"
    r"backport\w*|apply|port|solution)\b[^.\n]*\Z",
    re.I,
)
_BLAMED = regex(
    r"\b(?:introduc|caus|reason|due|bisect|regress|broke|since|posted|reported|discuss|comment|similar|because|result|"
    r"chang|original|relat|recent|mention|added|see\b|after)\w*[^.\n]*\Z",
    re.I,
)
_FIX = regex(
    r"\bfix|\bbug|vulnerab|\bCVE|regress|broken|fails?\b|failing|incorrect|\bissue|crash|wrong|restore|implement|"
    r"\badd (?:an? |the )?(?:support|option|method|function|flag|feature)",
    re.I,
)
_GIT = regex(
    r"\bgit\b|\bcommits?\b|\bbranch|\bhistory\b|\bmerge\b|rebase",
    re.I,
    words=("git", "commit", "branch", "history", "merge", "rebase"),
)
# What leaves nothing behind of what came later.
_CLEANED = regex(
    r"\brm\s+-\w*r\w*\s[^\n;&|]*\.git(?![\w-])|\bgit\s+gc\b[^\n;&|]*--prune|-name\s+\W*\.git\b|filter-repo|--orphan|\bgit\s+init\b",
    words=("git", "filter-repo", "--orphan"),
)


@rule(
    "fetchable-answer",
    "SL410",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    needs={Role.ENVIRONMENT},
    aliases=["git-history-exposed"],
    refute="the objects of later commits are gone from the image, or upstream never solved what the task asks for",
)
def fetchable_answer(task: Task) -> Iterator[Finding]:
    environment = task.environment
    if environment is None:
        return
    brief = "\n".join(b.prose.text for b in task.briefs)
    for build in environment.builds:
        stage = dockerfile.parse(build.fragment, build.arguments).final(build.target)
        if build.place is Place.AGENT and stage is not None:
            yield from _cloned(stage, brief)
    if not _GIT.search(brief):
        yield from _shipped(task)
    if not (environment.network and environment.network.value is False):
        yield from _linked(task)


def _cloned(stage: Stage, brief: str) -> Iterator[Finding]:
    """A clone of the project at hand that keeps the commits behind the one that the task starts from."""
    steps = [(step, command) for step in stage.history for s in step.scripts for command in parse(s).deep()]
    for number, (step, command) in enumerate(steps):
        if command.program not in ("git", None):
            continue
        clone = next((f for f in read_fetches(arguments(command, step.variables)) if f.tool == "git clone"), None)
        later = steps[number + 1 :]
        if clone is None or not clone.public or not _is_subject(step, command, stage, clone.what, brief):
            continue
        if _CLEANED.search("\n".join(s.span.text for s in stage.history if s.span.start >= step.span.start)):
            continue
        shallow = any(w.pattern.startswith("--depth") for w in command.arguments)
        patched = next((c for _, c in later if c.program == "patch" or _is_git(c, "apply")), None)
        moved = next((c for _, c in later if _is_git(c, "checkout", "reset", "switch")), None)
        if patched is not None:
            yield _finding(
                clone.span, "the image keeps `.git`, where `git diff` undoes the patch that makes the task", patched
            )
        elif moved is not None and not shallow and _FIX.search(brief):
            yield _finding(
                clone.span, "the image keeps `.git` with the commits that came after the one checked out", moved
            )


def _finding(span: Span, message: str, by: Command) -> Finding:
    return Finding.at(
        span,
        f"{message}, so the fix is there to be read",
        help="delete `.git`, or make a fresh repository of the files with `git init` and one commit",
        related=[related(by.span, "the task starts from here")],
    )


def _is_git(command: Command, *verbs: str) -> bool:
    words = [w.pattern for w in command.arguments if not w.is_option]
    return command.program == "git" and any(v in words[:2] for v in verbs)


def _is_subject(step: Instruction, command: Command, stage: Stage, url: str, brief: str) -> bool:
    """Whether the task is about the cloned project: the agent works in it, or the brief speaks of its folder."""
    words = [w.pattern for w in command.arguments if not w.is_option]
    repository = posixpath.basename(url.rstrip("/")).removesuffix(".git")
    target = words[-1] if words and "/" + words[-1] != "/" + url and "://" not in words[-1] else repository
    place = posixpath.normpath(posixpath.join(step.workdir or "/", target))
    name = posixpath.basename(place)
    inside = f"{(stage.workdir or '/').rstrip('/')}/".startswith(f"{place.rstrip('/')}/") or name == posixpath.basename(
        stage.workdir or ""
    )
    folded = brief.casefold()
    return inside or any(
        re.search(rf"(?<![\w-])/?{re.escape(n)}(?![\w-])", brief, re.I)
        for n in {repository, name}
        if len(n) > 2 and n.casefold() in folded
    )


def _shipped(task: Task) -> Iterator[Finding]:
    """A Git folder among the task's files whose refs lead to more commits than the one at hand."""
    given = set(task.visible.image.files)
    for folder in sorted(d for d in task.files.directories if posixpath.basename(d) == ".git"):
        around = posixpath.dirname(folder)
        contexts = [Context(task.files, b.context or "") for b in task.environment.builds] if task.environment else []
        reaches = any(path.startswith(f"{around}/" if around else "") for path in given)
        if not reaches or any(c.ignores(folder) for c in contexts):
            continue
        refs = gitdir.refs(task.folder / folder)
        others = sorted(name for name, commit in refs.items() if commit != refs["HEAD"])
        if others:
            yield Finding.at(
                task.folder / folder / "HEAD",
                f"the agent gets `{folder}`, whose `{others[0]}` leads to another commit than the one at hand",
                help="make a fresh repository of the files, or leave `.git` out with .dockerignore",
            )


def _linked(task: Task) -> Iterator[Finding]:
    for brief in task.briefs:
        for found in _CHANGE.finditer(brief.prose.text):
            if _is_the_change(task, brief.prose.text, found):
                yield Finding.at(
                    brief.prose.span(*found.span()),
                    "the brief links to the upstream change, and the network is not switched off",
                    help="describe the problem in the brief instead, or switch the network off",
                )
                return
    for run in oracle_runs(task):
        for fetch in run.fetches:
            if _CHANGE.search(fetch.what) or re.search(r"\.(?:patch|diff)$", fetch.what):
                yield Finding.at(
                    fetch.span,
                    "the solution downloads the upstream change, and the agent can do the same",
                    help="keep the change in the solution's own files, and switch the network off",
                )
                return


def _is_the_change(task: Task, text: str, link: re.Match[str]) -> bool:
    """Whether the linked issue or change is the one that the task asks for, not one that it speaks of."""
    number = link[0].rpartition("/")[2]
    if len(number) > 2 and re.search(rf"(?<![0-9a-f]){re.escape(number)}(?![0-9a-f])", task.folder.name, re.I):
        return True
    before = text[max(0, link.start() - 150) : link.start()]
    comment = text[link.end() :].startswith("#")
    return not comment and _CALLED_FIX.search(before) is not None and not _BLAMED.search(before)
