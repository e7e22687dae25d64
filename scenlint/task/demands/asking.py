"""How a verifier asks for a file: whether it needs it, needs each of several, or has chosen the place itself."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from scenlint.source import shell
from scenlint.source.pyfold import normal
from scenlint.source.python import PyModule, walk
from scenlint.task.checks.model import Access, Check, Dialect, How
from scenlint.task.demands.base import Ground
from scenlint.task.model import Task
from scenlint.task.stance import Stance, locate, stance

_TEMPORARY = ("/tmp/", "/var/tmp/")
_COMMANDS = ("subprocess.", "os.system", "os.popen")


def needed(task: Task, check: Check, access: Access) -> bool:
    """Whether the check fails without the file: "if it is there, look at it" is no demand."""
    if check.node is None:
        return True
    asked = [a for a in check.accesses if a.path == access.path and a.how is How.EXISTS]
    stances = {_stance(*f) if (f := locate(task, check, a.span)) else Stance.OPEN for a in asked}
    if access.how is How.EXISTS:
        opened = any(a.path == access.path and a.how is not How.EXISTS for a in check.accesses)
        return Stance.WANTED in stances or (check.existence_only and not opened and Stance.EITHER not in stances)
    return (not asked or Stance.WANTED in stances) and not _argument(task, check, access)


def _stance(module: PyModule, node: ast.AST) -> Stance:
    """Like `stance`; going on with nothing (`read() if there else ""`, `return None`) also leads to a failure later."""
    found = stance(module, node)
    up = module.parent(node)
    if found is Stance.OPEN and isinstance(up, ast.IfExp) and _nothing(up.orelse):
        return Stance.WANTED
    if found is Stance.OPEN and isinstance(up, ast.UnaryOp):
        branch = module.parent(up)
        last = branch.body[-1] if isinstance(branch, ast.If) and branch.test is up else None
        if isinstance(last, ast.Return) and last.value is not None and _nothing(last.value):
            return Stance.WANTED
    return found


def _nothing(node: ast.expr) -> bool:
    """None, "", [], {}: what stands for a file that is not there."""
    empty = isinstance(node, ast.List | ast.Tuple | ast.Dict) and not next(ast.iter_child_nodes(node), None)
    return empty or (isinstance(node, ast.Constant) and not node.value)


def each(task: Task, check: Check, access: Access) -> bool:
    """Whether a place of the code that touches several paths wants every one of them, not the first that is there."""
    found = locate(task, check, access.span)
    if found is None:
        return check.dialect is not Dialect.TEST
    module, node = found
    for up in module.parents(node):
        if isinstance(up, ast.Call) and isinstance(up.func, ast.Name) and up.func.id in ("any", "next"):
            return False
        if isinstance(up, ast.If) and access.how is How.EXISTS and any(isinstance(s, ast.Break) for s in up.body):
            return False
        if isinstance(up, ast.stmt):
            break
    name = _variable(node)
    scope = module.function_of(node) or module.tree
    kept = [s for s in walk(scope) if isinstance(s, ast.Assign) and any(_is(t, name) for t in s.targets)]
    return len(kept) < 2 and (access.how is not How.EXISTS or stance(module, node) is Stance.WANTED)


def _variable(node: ast.AST) -> str:
    """The variable that holds the path: in `open(p)`, `p.read_text()`, `os.path.exists(p)`."""
    holders = [*node.args[:1], getattr(node.func, "value", None)] if isinstance(node, ast.Call) else []
    return next((h.id for h in holders if isinstance(h, ast.Name) and h.id != "os"), "")


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _argument(task: Task, check: Check, access: Access) -> bool:
    """Whether a path is an argument of a program that the verifier starts: its own choice."""
    found = locate(task, check, access.span) if access.how is How.READ else None
    if found is None or not isinstance(found[1], ast.Call):
        return False
    called = found[0].dotted(found[1].func)
    temporary = access.path.startswith(_TEMPORARY)  # `connect` makes the database where there is none
    return called.startswith(_COMMANDS) or (temporary and called.endswith(".connect"))


def chosen(ground: Ground) -> frozenset[str]:
    """Paths of the verifier's own choice: what its scripts write, what it names when it starts the agent's programs."""
    return ground.task.memo("chosen paths", lambda: frozenset([*_written(ground.task), *_handed_over(ground)]))


def _written(task: Task) -> Iterator[str]:
    for fragment in task.verifier.code("shell") if task.verifier else ():
        for command in shell.parse(fragment).deep():
            yield from (normal(r.target.pattern) for r in command.redirects if r.writes and r.target)
            words = [normal(w.pattern) for w in command.arguments if not w.is_option]
            if command.program in ("cp", "mv", "install", "ln") and len(words) > 1:
                yield words[-1]
                yield from (posixpath.join(words[-1], posixpath.basename(w)) for w in words[:-1])
            elif command.program in ("mkdir", "touch", "tee", "tar", "unzip", "wget", "curl", "git"):
                yield from words


def _handed_over(ground: Ground) -> Iterator[str]:
    for check, _ in ground.checks():
        started = {(a.span.start, a.span.end) for a in check.accesses if a.how is How.RUN}
        given: set[str] = set()
        for access in check.accesses:
            beside = access.how is How.READ and (access.span.start, access.span.end) in started
            temporary = access.path.startswith(_TEMPORARY) and _argument(ground.task, check, access)
            if beside or temporary or _passed_on(ground, check, access):
                given.add(access.path)
        # A program may be started in another folder than the one that the verifier looks from.
        names = {posixpath.basename(p) for p in given if not p.startswith("/")}
        yield from given
        yield from (a.path for a in check.accesses if posixpath.basename(a.path) in names)


def _passed_on(ground: Ground, check: Check, access: Access) -> bool:
    """Whether the variable with the path is also an argument of one of the agent's functions."""
    found = locate(ground.task, check, access.span) if check.names and access.how is not How.RUN else None
    name = _variable(found[1]) if found else ""
    if not found or not name:
        return False
    module, node = found
    theirs = {n.name.split(".")[0] for n in check.names}
    calls = (c for c in walk(module.function_of(node) or module.tree) if isinstance(c, ast.Call))
    given = (n for call in calls if _root(call.func) in theirs for argument in call.args for n in walk(argument))
    return any(_is(n, name) for n in given)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
