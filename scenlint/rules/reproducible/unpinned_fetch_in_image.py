"""A build step that fetches something which no version, commit or checksum fixes."""

import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source import dockerfile, shell
from scenlint.source.regex import regex
from scenlint.source.shell import Command, language_of
from scenlint.task.fetches import Fetch
from scenlint.task.hosts import host_of, is_near
from scenlint.task.installs.model import UNKNOWN, Arg, parse_options, ref_problem, url_problem
from scenlint.task.runs import Run, build_runs

_CHECKS = regex(r"(?:sha\d*|md5|b2)sum|shasum|gpg2?|gpgv|cosign|minisign|signify")
_KEY = regex(r"\.(?:asc|gpg|key|pub|sig|sha\d*|md5|list|repo)$|[./-]key\b", re.I)
_COMMIT = regex(r"[0-9a-f]{40}")
_EXACT = regex(r"v?\d+\.\d+(?:\.\d+)+|(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])")


@rule(
    "unpinned-fetch-in-image",
    "SL306",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    kind=Kind.FACT,
    needs={Role.ENVIRONMENT},
    refute="the address serves the same bytes for ever, or a later step checks what came",
)
def unpinned_fetch_in_image(task: Task) -> Iterator[Finding]:
    yield from _added(task)
    runs = list(build_runs(task))
    found: dict[object, list[tuple[Fetch, str, str]]] = {}
    for run in runs:
        for fetch in run.fetches:
            if fetch.public and (problem := _problem(fetch, run, runs)):
                # One RUN that clones ten repositories is one thing to mend.
                step = run.instruction.span if run.instruction and fetch.tool == "git clone" else fetch.span
                found.setdefault(step, []).append((fetch, *problem))
    for (fetch, why, help), *others in found.values():
        more = f" (and so do {len(others)} more)" if others else ""
        yield Finding.at(
            fetch.span,
            f"`{fetch.tool} {fetch.what}` {why}{more}",
            help=help,
            related=[related(other.span, f"`{other.tool} {other.what}` {reason}") for other, reason, _ in others[:5]],
        )


def _added(task: Task) -> Iterator[Finding]:
    for build in task.environment.builds if task.environment else []:
        parsed = dockerfile.parse(build.fragment, build.arguments)
        for step in (i for stage in parsed.used(build.target) for i in stage.instructions if i.keyword == "ADD"):
            for source in step.sources:
                address, _, ref = (source.text or "").partition("#")
                if is_near(host_of(address)) or step.flag("checksum"):
                    continue
                if address.endswith(".git") or address.startswith("git@"):
                    why = ref_problem(ref.partition(":")[0])
                else:
                    why = "is taken as it comes: ADD checks no checksum unless it is told one"
                if why:
                    yield Finding.at(source.span, f"`{address}` {why}", help="give `--checksum=sha256:…`, or a commit")


def _problem(fetch: Fetch, run: Run, runs: list[Run]) -> tuple[str, str] | None:
    """What leaves open what is fetched, and what to do."""
    if fetch.tool == "git clone":
        if _checked_out(run, runs) or (fetch.ref and not ref_problem(fetch.ref)):
            return None
        why = ref_problem(fetch.ref) if fetch.ref else "takes the newest commit of the default branch"
        return why, "check out a commit right after it, and remove the `.git` folder if later commits give answers away"
    if fetch.tool not in ("curl", "wget", "aria2c") or _KEY.search(fetch.what) or fetch.what.endswith("…"):
        return None
    if reader := _interpreter(run.command):
        pinned = _EXACT.search(fetch.what) or any(_EXACT.search(w.pattern) for w in reader.arguments)
        if pinned:
            return None
        return (
            f"is run by `{reader.program}` unseen: whatever the address serves on the day of the build",
            "download a fixed version, check its checksum, then run it; or install the tool from a pinned package",
        )
    if _verified(run) or not (why := url_problem(fetch.what)):
        return None
    return why, "fetch a fixed version and check it with `sha256sum -c`, or ship the file in the environment"


def _interpreter(command: Command) -> Command | None:
    """What runs the output of a download: the pipe's end, or the shell around the substitution."""
    last = command.pipeline.items[-1] if command.pipeline else None
    if isinstance(last, Command) and language_of(last.program) in ("shell", "python", "perl", "javascript"):
        # `| python3 -m json.tool` and `| bash script.sh` read it as data.
        as_data = last.inline or last.script_word or any(w.pattern == "-m" for w in last.arguments)
        return None if as_data else last
    if command.in_substitution:
        outer = next((a for a in command.ancestors() if isinstance(a, Command)), None)
        return outer if outer is not None and outer.program in ("sh", "bash", "zsh", "eval", "source", ".") else None
    return None


def _checked_out(run: Run, runs: list[Run]) -> bool:
    """Whether later commands of the stage fix the commit: before the next clone, or as often as there are clones."""
    stage = run.instruction.stage if run.instruction else None
    clones, moves = 1, 0
    at = next(n for n, other in enumerate(runs) if other is run)
    for other in runs[at + 1 :]:
        if other.instruction is None or other.instruction.stage is not stage:
            continue
        clones += any(f.tool == "git clone" for f in other.fetches)
        moves += other.memo("fixes commit", lambda run=other: _fixes_commit(run.arguments))  # type: ignore[misc]
        if moves >= clones:
            return True
    return False


def _fixes_commit(args: list[Arg]) -> bool:
    """Whether a command goes to a commit or tag, or compares HEAD with one."""
    words = [a.text for a in args]
    if any(len(w) == 40 and _COMMIT.fullmatch(w) for w in words):
        return True
    verb = next((n for n, w in enumerate(words) if w in ("checkout", "reset", "switch", "fetch")), None)
    if verb is None or "git" not in words[:verb] or "--" in words:
        return False
    if words[0] == "xargs":
        return True  # what the pipe before it picks, as `git rev-list --before=…` does
    named = [
        a.text for a in parse_options(args[verb + 1 :], "-b -B -c -C --depth").rest if a.text not in (".", "origin")
    ]
    return any(UNKNOWN in ref or not ref_problem(ref) for ref in named[:2])


def _verified(run: Run) -> bool:
    """Whether the RUN checks a checksum or a signature."""
    scripts = run.instruction.scripts if run.instruction else [run.script]
    commands = (c for s in scripts if s.language == "shell" for c in shell.parse(s).deep())
    return any(c.program and _CHECKS.fullmatch(c.program) for c in commands)
