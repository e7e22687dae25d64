"""Repeated runs of the submission in a verifier's code: whether anything looks at what they return."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenlint.source import python, shell
from scenlint.source.python import PyModule, walk
from scenlint.source.text import Span
from scenlint.task.paths import find_paths

if TYPE_CHECKING:
    from scenlint.task.model import Task

_LOOPS = ast.For | ast.While | ast.AsyncFor | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
_RUNS = frozenset({"run", "call", "check_call", "check_output", "Popen", "system"})


def unread_repeats(task: Task) -> list[Span]:
    """The calls in loops whose result is dropped; [] where the result of any repeated call is kept and read."""
    brief = "\n".join(b.prose.text for b in task.briefs)
    functions = frozenset(re.findall(r"\b([A-Za-z_]\w*)\(", brief))
    files = frozenset(t.plain.rpartition("/")[2] for t in find_paths(brief))
    dropped: list[Span] = []
    for fragment in task.verifier.files if task.verifier else ():
        if fragment.language not in ("python", "shell"):
            continue
        found = _python(python.parse(fragment), functions, files) if fragment.language == "python" else None
        for span, read in found if found is not None else _shell(shell.parse(fragment), files):
            if read:
                return []
            dropped.append(span)
    return dropped


def _python(module: PyModule, functions: frozenset[str], files: frozenset[str]) -> Iterator[tuple[Span, bool]]:
    for call in module.nodes:
        if isinstance(call, ast.Call) and _runs_submission(call, functions, files):
            above = list(module.parents(call))
            repeated = any(isinstance(p, _LOOPS) for p in above) or any(_is_timer(p) for p in above)
            if repeated and not any(isinstance(p, ast.FunctionDef) and p.name in functions for p in above):
                yield module.span(call), _is_read(module, call)


def _runs_submission(call: ast.Call, functions: frozenset[str], files: frozenset[str]) -> bool:
    """A function that the brief names, or a process with a file that the brief names."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in _RUNS:
        texts = [n.value for n in walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        return any(word.rpartition("/")[2] in files for text in texts for word in text.split())
    return name in functions


def _is_timer(node: ast.AST) -> bool:
    """`timeit.timeit(lambda: f(x), …)` throws every result away."""
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "attr", getattr(func, "id", "")) in ("timeit", "repeat", "autorange")


def _is_read(module: PyModule, call: ast.Call) -> bool:
    """Whether what a call returns goes anywhere but into a name, or a list, that nobody reads."""
    node: ast.AST = call
    for above in module.parents(call):
        if isinstance(above, ast.Lambda):
            node = above
        elif isinstance(above, ast.Expr) or _is_timer(above):
            return False
        elif isinstance(above, ast.Assign):
            return any(not isinstance(t, ast.Name) or _name_is_read(module, above, t.id) for t in above.targets)
        elif isinstance(above, ast.Call) and getattr(above.func, "attr", "") == "append" and node in above.args:
            kept = above.func.value if isinstance(above.func, ast.Attribute) else None
            return not isinstance(kept, ast.Name) or _name_is_read(module, above, kept.id)
        elif isinstance(above, _LOOPS) and not isinstance(above, ast.For | ast.While | ast.AsyncFor):
            node = above
        else:
            return True
    return True


def _name_is_read(module: PyModule, at: ast.AST, name: str) -> bool:
    """Whether a name is read in its function, but for `len(name)` and `name.append(…)`."""
    scope = module.function_of(at) or module.tree
    for node in walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = module.parent(node)
            counted = isinstance(above, ast.Call) and getattr(above.func, "id", "") == "len"
            filled = isinstance(above, ast.Attribute) and above.attr in ("append", "clear")
            if not counted and not filled:
                return True
    return False


def _shell(script: shell.Script, files: frozenset[str]) -> Iterator[tuple[Span, bool]]:
    for command in script.commands:
        named = any(word.pattern.rpartition("/")[2] in files for word in command.words)
        if named and any(isinstance(above, shell.Loop) for above in command.ancestors()):
            thrown = any(r.writes and r.target and r.target.pattern == "/dev/null" for r in command.redirects)
            yield command.span, not thrown or command.in_substitution
