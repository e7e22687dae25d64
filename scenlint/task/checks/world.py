"""What a task tells the follower of its verifier: where files lie, whose they are, which modules the agent writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import PathText, known
from scenlint.task.checks.program import LIBRARIES, Setup, modules
from scenlint.task.checks.runner import home
from scenlint.task.model import Contract, Isolation

if TYPE_CHECKING:
    from scenlint.task.model import Task, Verifier

_STDLIB_LIKE = re.compile(r"_.*|__.*")


def setup(task: Task, verifier: Verifier) -> Setup:
    """The world of a task's verifier."""
    folder = PurePosixPath(task.folder.as_posix())
    mine = verifier.mount.rstrip("/") + "/" if verifier.mount else "/verifier/"
    hidden = tuple({str(PurePosixPath(p).parent) + "/" for p in verifier.verdict_paths} | {"/logs/", "/dev/", "/proc/"})
    out = Setup(modules(verifier.files, lambda f: home(verifier, f, folder)))
    out.own = lambda path: path.startswith((mine, "/verifier/")) or path + "/" in (mine, "/verifier/")
    out.hidden = lambda path: path.startswith(hidden)
    out.agents = _agent_names(task)
    out.environment = {
        k: known(v.value) for k, v in verifier.env.items() if isinstance(v.value, str) and "$" not in v.value
    }
    if verifier.mount:
        for name in ("TEST_DIR", "TESTS_DIR", "T_BENCH_TEST_DIR"):
            out.environment.setdefault(name, known(verifier.mount))
    if verifier.contract is Contract.EXIT_STATUS and verifier.isolation is Isolation.HOST:
        out.environment["WAZA_WORKSPACE_DIR"] = known(PathText("."))
    return out


def _agent_names(task: Task) -> Callable[[str], bool]:

    texts = [b.prose.text for b in task.briefs]
    names = set(task.environment.files) if task.environment else set()
    shipped = {PurePosixPath(n).stem for n in names if n.endswith(".py")}
    shipped |= {part for n in names if n.endswith(".py") for part in PurePosixPath(n).parts[:-1]}

    def agents(name: str) -> bool:
        if name in sys.stdlib_module_names or name in LIBRARIES or not name.isidentifier():
            return False
        if name in shipped:
            return True
        word = re.compile(rf"(?<![\w.]){re.escape(name)}(?:\.py\b|\b(?!\.\w))")
        return any(word.search(t) for t in texts)

    return agents
