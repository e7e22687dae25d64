"""Edits of Python text: a keyword, a wrapper, a docstring; imports by libcst, which is loaded for them only."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence

from scenlint.source.python import Function, PyModule
from scenlint.source.text import Edit, TextIndex

Piece = tuple[int, int, str]  # start and end in the fragment's text, and what goes there

_SPACE = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def set_keyword(module: PyModule, call: ast.Call, name: str, value: str) -> list[Edit | None]:
    """Give a call a keyword argument; one that is there gets the value."""
    given = next((k for k in call.keywords if k.arg == name), None)
    if given is not None:
        return replace(module, given.value, value)
    piece = _behind_arguments(module, call, f"{name}={value}")
    return _edits(module, [piece] if piece else [])


def wrap(module: PyModule, node: ast.AST, before: str, after: str) -> list[Edit | None]:
    """Put text around an expression."""
    start, end = module.bounds(node)
    return _edits(module, [(start, start, before), (end, end, after)])


def replace(module: PyModule, node: ast.AST, text: str) -> list[Edit | None]:
    """Put other text in the place of an expression."""
    return _edits(module, [(*module.bounds(node), text)])


def add_docstring(module: PyModule, function: Function, text: str) -> list[Edit | None]:
    """Make a docstring the first statement of a function whose body begins on a line of its own."""
    first = function.body[0]
    line = getattr(first, "decorator_list", None)
    start = module.bounds(line[0])[0] - 1 if line else module.bounds(first)[0]
    code = module.fragment.text
    begin = max(code.rfind("\n", 0, start), code.rfind("\r", 0, start)) + 1
    indent = code[begin:start]
    if indent.strip() or begin <= module.bounds(function)[0]:
        return [None]
    return _edits(module, [(start, start, f'"""{text}"""\n{indent}')])


def behind_imports(module: PyModule, statement: str) -> list[Edit | None]:
    """Put a statement `name.…` behind the last of the imports at the top level, if these bind the name."""
    top = [n for n in module.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    code = module.fragment.text
    bound = {alias.asname or alias.name.partition(".")[0] for n in top for alias in n.names}
    if statement.partition(".")[0] not in bound:
        return [None]
    end = module.bounds(top[-1])[1]
    rest = code[end:].partition("\n")[0].partition("#")[0]
    at = end + len(code[end:].partition("\n")[0].rstrip("\r"))
    return [None] if rest.strip() else _edits(module, [(at, at, f"\n\n{statement}")])


def local_name(module: PyModule, wanted: str) -> tuple[str, tuple[str, ...]]:
    """What a module is called in this text, and what has to be imported for that."""
    known = next((local for local, name in module.imports.items() if name == wanted), None)
    return (known, ()) if known else (wanted, (wanted,))


def with_imports(text: str, modules: Sequence[str]) -> str | None:
    """The text with `import …` of each module that it does not import yet; None where libcst cannot read it."""
    import libcst
    from libcst.codemod import CodemodContext
    from libcst.codemod.visitors import AddImportsVisitor

    context = CodemodContext()
    for name in modules:
        AddImportsVisitor.add_needed_import(context, name)
    try:
        return AddImportsVisitor(context).transform_module(libcst.parse_module(text)).code
    except (libcst.ParserSyntaxError, ValueError, RecursionError):  # among them bytes that were no text
        return None


def _edits(module: PyModule, pieces: Sequence[Piece]) -> list[Edit | None]:
    """The edits of the file; [None] where there are none, or code inside another file would be no Python any more."""
    fragment = module.fragment
    if len(fragment.text) != len(fragment.source.text):  # a whole file is parsed again before it is written
        text = fragment.text
        for start, end, new in sorted(pieces, reverse=True):
            text = text[:start] + new + text[end:]
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return [None]
    return [fragment.edit(*piece) for piece in pieces] or [None]


def _behind_arguments(module: PyModule, call: ast.Call, text: str) -> Piece | None:
    """Where one more argument goes: behind the last one, on a line of its own where they all have one."""
    if len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp) and not call.keywords:
        return None
    start, end = module.bounds(call)
    code = module.fragment.text[start:end]
    index = TextIndex(code)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code, newline="").readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return None
    solid = [t for t in tokens if t.type not in _SPACE]
    last, closing = solid[-2:] if len(solid) > 1 else (None, None)
    if last is None or closing is None or closing.string != ")":
        return None
    behind = start + index.offset(last.end[0], last.end[1] + 1)
    if last.string == "(":
        return behind, behind, text
    if last.string != ",":
        return behind, behind, f", {text}"
    if closing.start[0] == last.end[0]:
        return behind, behind, f" {text}"
    # Behind the comment that may follow the last argument.
    line = index.line_text(last.end[0])
    at = start + index.offset(last.end[0]) + len(line)
    whole = module.fragment.index.line_text(module.fragment.index.position(behind)[0])
    return at, at, f"\n{whole[: len(whole) - len(whole.lstrip())]}{text},"
