"""What a task tells the follower of its verifier: where files lie, whose they are, which modules the agent writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import PathText, known
from scenlint.source.regex import regex
from scenlint.task.checks.library.files import WORKSPACE
from scenlint.task.checks.program import LIBRARIES, Setup, modules
from scenlint.task.checks.runner import home
from scenlint.task.model import Contract, Isolation

if TYPE_CHECKING:
    from scenlint.task.model import Task, Verifier

_INSTALLS = regex(r"\b(?:pip3?|uvx?|apt(?:-get)?|conda)\b|==", words=("pip", "uv", "apt", "conda", "=="))


def setup(task: Task, verifier: Verifier) -> Setup:
    """The world of a task's verifier."""
    folder = PurePosixPath(task.folder.as_posix())
    mine = verifier.mount.rstrip("/") + "/" if verifier.mount else "/verifier/"
    hidden = tuple({str(PurePosixPath(p).parent) + "/" for p in verifier.verdict_paths} | {"/logs/", "/dev/", "/proc/"})
    out = Setup(modules(verifier.files, lambda f: home(verifier, f, folder)))
    out.own = lambda path: path.startswith((mine, "/verifier/")) or path + "/" in (mine, "/verifier/")
    out.hidden = lambda path: path.startswith(hidden)
    out.agents = _agent_names(task)
    installed = _installed(task)
    out.strangers = lambda name: _is_foreign(name) and not installed(name)
    out.environment = {
        k: known(v.value) for k, v in verifier.env.items() if isinstance(v.value, str) and "$" not in v.value
    }
    if verifier.mount:
        for name in ("TEST_DIR", "TESTS_DIR", "T_BENCH_TEST_DIR"):
            out.environment.setdefault(name, known(verifier.mount))
    if verifier.contract is Contract.EXIT_STATUS and verifier.isolation is Isolation.HOST:
        out.environment["WAZA_WORKSPACE_DIR"] = known(PathText(WORKSPACE))
    return out


def _agent_names(task: Task) -> Callable[[str], bool]:
    """Which import names are the agent's modules: shipped to it, or named in the brief as a file, folder or module."""
    texts = [b.prose.text for b in task.briefs]
    files = task.environment.files if task.environment else []
    shipped = {PurePosixPath(n).stem for n in files if n.endswith(".py")}
    shipped |= {part for n in files if n.endswith(".py") for part in PurePosixPath(n).parts[:-1]}

    def agents(name: str) -> bool:
        if not _is_foreign(name):
            return False
        word = re.escape(name)
        said = re.compile(
            rf"(?<![\w.]){word}\.py\b|(?<!etc)(?<!lib)(?<!var)(?<!share)[/`]{word}/|/(?:app|workspace|src|repo|code)/{word}\b|"
            rf"\b(?:import|from) {word}\b|(?:module|package|library)(?: is)?(?: named| called)? [`'\"]?{word}\b|"
            rf"[`'\"]{word}[`'\"]? (?:python )?(?:module|package|library)",
            re.IGNORECASE,
        )
        return name in shipped or any(said.search(t) for t in texts)

    return agents


def _installed(task: Task) -> Callable[[str], bool]:
    """Which import names some build step or script installs."""
    texts = [b.fragment.text for b in task.environment.builds] if task.environment else []
    texts += [f.text for f in task.verifier.files if f.language in ("shell", "text")] if task.verifier else []
    lines = [line for t in texts for line in t.splitlines() if _INSTALLS.search(line)]

    def installed(name: str) -> bool:
        word = re.compile(rf"(?<![\w/]){re.escape(name).replace('_', '[-_]')}(?![\w/])", re.IGNORECASE)
        return any(word.search(line) for line in lines)

    return installed


def _is_foreign(name: str) -> bool:
    return name.isidentifier() and name not in sys.stdlib_module_names and name not in LIBRARIES
