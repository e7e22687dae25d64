"""Python text as a syntax tree with parents, names and exact spans; what cannot be parsed says where it stops."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, overload

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span

Function = ast.FunctionDef | ast.AsyncFunctionDef
N = TypeVar("N", bound=ast.AST)
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True)
class SyntaxFault:
    """Why the text is no Python, and where."""

    message: str
    span: Span
    newer: bool = False  # it may be right in a later version of Python than the one at hand


_DEEPEST = 300  # nodes inside each other; whoever walks a tree recursively can rely on it
# Grammar that came after the oldest Python that runs this: nested quotes in f-strings, type parameters and statements.
_NEWER = regex(r"^\s*type \w+\b|^\s*(?:async )?(?:def|class) \w+\[|\bf[\"']|\btemplate\b|\bt[\"']")


def syntax_tree(text: str) -> ast.Module:
    """The syntax tree of a text, without warnings. SyntaxError, and nothing else, where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as exc:
            raise SyntaxError(str(exc) or "it is nested too deeply to be parsed") from None


def parse(fragment: Fragment) -> PyModule:
    """The fragment as a module; parsed once. Never raises: see `PyModule.fault`."""
    return fragment.memo("python", lambda: PyModule(fragment))


class PyModule:
    """A parsed Python text. Where it has a fault, `tree` is empty."""

    def __init__(self, fragment: Fragment) -> None:
        self.fragment = fragment
        self.fault: SyntaxFault | None = None
        self.tree = ast.Module(body=[], type_ignores=[])
        # Every node, breadth first, and what it stands in: walking a tree costs more than all that is asked of it.
        self.nodes: list[ast.AST] = [self.tree]
        self._parents: dict[ast.AST, ast.AST] = {}
        self._kinds: dict[tuple[type, ...], list[Any]] = {}
        # An undecodable byte is one byte for the parser's columns too.
        text = re.sub("[\ud800-\udfff]", "?", fragment.text)
        try:
            tree = syntax_tree(text)
            nodes, parents = _laid_out(tree)
            self.tree, self.nodes, self._parents = tree, nodes, parents
        except SyntaxError as exc:
            at = fragment.index.offset(exc.lineno or 1, exc.offset or 1)
            newer = "f-string" in exc.msg or bool(_NEWER.search(fragment.index.line_text(exc.lineno or 1)))
            self.fault = SyntaxFault(exc.msg, fragment.span(at, min(at + 1, len(fragment.text))), newer)
        except RecursionError:
            self.fault = SyntaxFault("it is nested too deeply to be parsed", fragment.span(0, 0))

    @overload
    def of(self, kind: type[N], /) -> Sequence[N]: ...

    @overload
    def of(self, *kinds: type[ast.AST]) -> Sequence[Any]: ...

    def of(self, *kinds: type[ast.AST]) -> Sequence[Any]:
        """Every node of some kinds, in the order of `nodes`."""
        if kinds not in self._kinds:
            self._kinds[kinds] = [node for node in self.nodes if type(node) in kinds]
        return self._kinds[kinds]

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        """The calls by dotted name, in the order of `nodes`."""
        out: dict[str, list[ast.Call]] = {}
        for node in self.of(ast.Call):
            out.setdefault(self.dotted(node.func), []).append(node)
        return out

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        up = self._parents.get(node)
        while up is not None:
            yield up
            up = self._parents.get(up)

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return next((p for p in self.parents(node) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef)), None)

    def span(self, node: ast.AST) -> Span:
        """Where a node stands in the file."""
        return self.fragment.span(*self.bounds(node))

    def bounds(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands in the fragment's text."""
        start = self._offset(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        end_line = getattr(node, "end_lineno", None)
        return start, start if end_line is None else self._offset(end_line, getattr(node, "end_col_offset", 0))

    def head(self, node: Function | ast.ClassDef) -> Span:
        """The line that opens a definition, without its body."""
        whole = self.span(node)
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.body[0].lineno, node.body[0].col_offset)
        return Span(whole.source, whole.start, whole.start + len(self.fragment.text[start:end].rstrip()))

    def _offset(self, line: int, utf8_column: int) -> int:
        index = self.fragment.index
        if self.fragment.text.isascii():
            return min(index.starts[line - 1] + utf8_column, len(index.text))
        start = index.offset(line)
        return index.char(min(index.byte(start) + utf8_column, len(index.utf8)))

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions at module level, also those inside `if` and `try`; the last of one name counts."""
        return {n.name: n for n in _top(self.tree.body) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {n.name: n for n in _top(self.tree.body) if isinstance(n, ast.ClassDef)}

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local name -> dotted name it stands for, over the whole text (`import numpy as np`: np -> numpy)."""
        out: dict[str, str] = {}
        for node in self.of(ast.Import, ast.ImportFrom):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.split(".")[0]
                    out[alias.asname or root] = alias.name if alias.asname else root
            else:
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    out[alias.asname or alias.name] = f"{base}.{alias.name}" if base.strip(".") else base + alias.name
        return out

    @cached_property
    def subscripts(self) -> frozenset[str]:
        """Every constant that something is subscripted or `.get` with."""
        out = set()
        for node in self.of(ast.Subscript, ast.Call):
            key: ast.AST | None = None
            if isinstance(node, ast.Subscript):
                key = node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                key = node.args[0] if node.args else None
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                out.add(key.value)
        return frozenset(out)

    def dotted(self, node: ast.AST | None) -> str:
        """The full dotted name of an expression, import aliases undone ("subprocess.run"); "" where it is none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """The calls of given dotted names; of every name where none is given."""
        for name in names or self._calls:
            yield from self._calls.get(name, ())

    def docstring(self, node: ast.AST) -> tuple[str, Span] | None:
        """A definition's or the module's docstring, cleaned of indentation, and the span of the literal."""
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
            return None
        first = body[0].value
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            return None
        import inspect

        return inspect.cleandoc(first.value), self.span(first)


def _laid_out(tree: ast.AST) -> tuple[list[ast.AST], dict[ast.AST, ast.AST]]:
    """The nodes of a tree, breadth first, and their parents; RecursionError where they are nested too deeply."""
    nodes, parents = list[ast.AST](), dict[ast.AST, ast.AST]()
    level, depth = [tree], 0
    while level:
        depth += 1
        nodes += level
        below: list[ast.AST] = []
        for node in level:
            children = _children(node)
            parents.update(dict.fromkeys(children, node))
            below += children
        level = below
    if depth > _DEEPEST:
        raise RecursionError
    return nodes, parents


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, breadth first: `ast.walk`, but quicker and without the marks for load and store."""
    found = [node]
    for node in found:  # which grows meanwhile
        found += _children(node)
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    out = []
    kind: type = type(node)
    for name in _parts(kind):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            out.append(part)
        elif isinstance(part, list):
            out += [p for p in part if isinstance(p, ast.AST)]
    return out


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node in which others may stand."""
    plain = ("ctx", "id", "attr", "arg", "module", "level", "kind", "type_comment", "conversion", "asname", "is_async")
    return () if kind is ast.Constant else tuple(f for f in kind._fields if f not in plain)


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _top(node.body)
            yield from _top(node.orelse)
        elif isinstance(node, ast.Try):
            yield from _top(node.body)
            for handler in node.handlers:
                yield from _top(handler.body)
            yield from _top(node.orelse)
            yield from _top(node.finalbody)
