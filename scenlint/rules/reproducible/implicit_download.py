"""A build tool that fetches what it misses runs at grading without being told to stay offline."""

import re
from collections.abc import Iterator, Mapping

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source import dockerfile
from scenlint.source.shell import Command
from scenlint.task.image_build import plain_base
from scenlint.task.model import Place
from scenlint.task.runs import Run, build_runs, verifier_runs

# Tool -> (sub-commands that resolve dependencies, words that keep it offline, how to keep it offline).
# Go without modules (before 1.11, or in GOPATH) fetches nothing.
_GOPATH = r"GO111MODULE=\"?off|\bgo-?1\.\d\b|go1\.10|/src/(?:github\.com|go\w+\.org)/"
_GO_OFFLINE = rf"-mod=vendor|GOPROXY=\"?off|GOFLAGS=\S*vendor|{_GOPATH}"
_GO = ("build|test|run|vet|install|generate|list", _GO_OFFLINE, "`GOFLAGS=-mod=vendor`")
_CARGO = ("build|test|run|check|clippy|bench|nextest", r"--offline|--frozen|CARGO_NET_OFFLINE=", "`--offline`")
_MAVEN = (r"[a-z:-]+", r"(?<!\S)-o(?!\S)|--offline", "`--offline`")
_GRADLE = (r"[A-Za-z:-]+", "--offline", "`--offline`")
_NPX = (r"[\w@/.-]+", "--no-install|--offline|--no(?!\\S)", "`--no-install`")
_DOTNET = ("build|test|run|publish|restore", "--no-restore", "`--no-restore`")
_TOOLS: Mapping[str, tuple[str, str, str]] = {
    "go": _GO, "cargo": _CARGO, "mvn": _MAVEN, "mvnw": _MAVEN, "gradle": _GRADLE, "gradlew": _GRADLE, "npx": _NPX,
    "dotnet": _DOTNET,
}  # fmt: skip
_SAME = {
    "mvnw": "mvn",
    "gradlew": "gradle",
    **dict.fromkeys(("npx", "yarn", "pnpm"), "npm"),
}  # what fills the cache that the tool uses


@rule(
    "implicit-download",
    "SL316",
    severity=Severity.INFO,
    confidence=Confidence.LOW,
    kind=Kind.CLAIM,
    needs={Role.VERIFIER},
    refute="grading gives the same verdict with the network off",
)
def implicit_download(task: Task) -> Iterator[Finding]:
    environment = task.environment
    if environment is None or (environment.network and environment.network.value is False) or not _bare(task):
        return
    warmed = {_base(r.command) for r in build_runs(task) if _base(r.command)}
    for run in verifier_runs(task):
        tool = run.command.program or ""
        if tool not in _TOOLS or _base(run.command) in warmed or not _fetches(task, run, tool):
            continue
        line = " ".join(w.raw for w in run.command.words[:2])
        yield Finding.at(
            run.command.span,
            f"`{line}` fetches whatever dependency is missing, and no build step has fetched them",
            help=f"fetch them while the image is built, and give {_TOOLS[tool][2]} here",
        )
        return


def _fetches(task: Task, run: Run, tool: str) -> bool:
    verbs, offline, _ = _TOOLS[tool]
    words = [w.pattern for w in run.command.words[1:]]
    verb = next((w for w in words if not w.startswith(("-", "+"))), "")
    settings = [b.fragment.text for b in task.environment.builds] if task.environment else []
    return bool(re.fullmatch(verbs, verb)) and not any(
        re.search(offline, t) for t in (" ".join(words), run.script.text, *settings)
    )


def _base(command: Command) -> str:
    return _SAME.get(command.program or "", command.program or "")


def _bare(task: Task) -> bool:
    """Whether the image starts from one of a language or a system, which brings no dependencies of the task's."""
    builds = [b for b in task.environment.builds if b.place is Place.AGENT] if task.environment else []
    bases = [s.root.base.text for b in builds if (s := dockerfile.parse(b.fragment, b.arguments).final(b.target))]
    return bool(bases) and all(base and plain_base(base) for base in bases)
