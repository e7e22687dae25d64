"""Whether the value of an environment variable that a Python program reads can reach the program's result."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from scenlint.source.environ import EnvRead, env_reads
from scenlint.source.literals import target
from scenlint.source.liveness import is_live
from scenlint.source.python import PyModule, walk


def live_code(module: PyModule) -> Callable[[ast.AST], bool]:
    """`is_live`, for a program whose functions that only fetch a variable count as no action."""
    return is_live(module, frozenset(env_reads(module).helpers))


def is_used(module: PyModule, read: EnvRead) -> bool:
    """Whether something is done with a variable's value besides asking whether it is set."""
    live = live_code(module)
    if not live(read.node):
        return False
    if sum(other.node is read.node for other in env_reads(module).reads) < 2:
        return True
    # One expression reads many variables: into a dictionary, most often, whose entries are then taken out one by one.
    tables = set(_tables(module, read.node))
    keys: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.Name) and node.id in tables and isinstance(node.ctx, ast.Load) and live(node):
            key = _key(module, node)
            if key is None:
                return True
            keys.add(key)
    return not tables or read.name in keys


def _tables(module: PyModule, node: ast.expr) -> Iterator[str]:
    """The dictionaries that an expression in a loop or a comprehension fills."""
    for up in module.parents(node):
        if isinstance(up, ast.DictComp):
            outer = module.parent(up)
            name = target(outer) if outer is not None else None
            yield from [name] if name else []
        elif isinstance(up, ast.For):
            for n in walk(up):
                if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name):
                    yield n.value.id


def _key(module: PyModule, table: ast.Name) -> str | None:
    """The constant key that is taken out at this place; "" where nothing is; None where anything may be."""
    up = module.parent(table)
    if isinstance(up, ast.Subscript) and up.value is table:
        if isinstance(up.ctx, ast.Store):
            return ""
        return up.slice.value if isinstance(up.slice, ast.Constant) and isinstance(up.slice.value, str) else None
    if isinstance(up, ast.For) and up.iter is table:
        return ""  # its keys alone
    call = module.parent(up) if isinstance(up, ast.Attribute) and up.attr == "get" else None
    first = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
