"""Commands that Python code starts, as shell text that leads back to the code."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator

from scenlint.source.python import PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.source.text import Fragment

_STARTERS = frozenset(
    {
        f"subprocess.{name}"
        for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput")
    }
    | {"os.system", "os.popen", "asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec", "pexpect.spawn"}
)
_LITERAL = regex(r"[a-zA-Z]{0,2}(?P<quote>\"\"\"|'''|\"|')")
_HINT = regex(r"subprocess|\bsystem\b|popen|pexpect")
_HOLE = "$_unknown"  # a variable that no script sets: its value is unknown


def started(fragment: Fragment) -> list[Fragment]:
    """The command lines that Python code starts, directly or through a function of its own that runs what it gets."""
    return fragment.memo("subprocesses", lambda: list(_started(parse(fragment))))


def in_containers(fragment: Fragment) -> list[Fragment]:
    """What Python code gives to a shell in another container: `docker exec NAME sh -c TEXT`, or through a function."""
    return fragment.memo("container commands", lambda: list(_in_containers(parse(fragment))))


def _in_containers(module: PyModule) -> Iterator[Fragment]:
    if "docker" not in module.fragment.text:
        return
    runners = {f.name for f in module.functions.values() if any(map(_enters, walk(f)))}
    for call in module.of(ast.Call):
        words = call.args[0].elts if call.args and isinstance(call.args[0], ast.List) else call.args
        if not any(map(_enters, call.args)) and module.dotted(call.func) not in runners:
            continue
        texts = [w.value if isinstance(w, ast.Constant) else None for w in words]
        for at in range(len(words) - 2):
            if texts[at] in ("sh", "bash", "/bin/sh", "/bin/bash") and texts[at + 1] in ("-c", "-lc"):
                yield _line(module, [words[at + 2]], quoted=False)


def _enters(node: ast.AST) -> bool:
    """`["docker", "exec", …]`"""
    words = node.elts[:2] if isinstance(node, ast.List) else []
    return [w.value for w in words if isinstance(w, ast.Constant)] == ["docker", "exec"]


def _started(module: PyModule) -> Iterator[Fragment]:
    if not _HINT.search(module.fragment.text):
        return
    runners = {n.name for n in module.nodes if isinstance(n, ast.FunctionDef) and _runs_its_first(module, n)}
    for call in module.calls():
        name = module.dotted(call.func)
        first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("args", "cmd")), None)
        if first is None or (name not in _STARTERS and name not in runners):
            continue
        if name == "asyncio.create_subprocess_exec":
            first = ast.copy_location(ast.List(elts=call.args), call)
        value = _resolved(module, first)
        if isinstance(value, ast.List | ast.Tuple):
            yield _line(module, value.elts, quoted=True)
        elif value is not None:
            yield _line(module, [value], quoted=False)


def _runs_its_first(module: PyModule, function: ast.FunctionDef) -> bool:
    names = [a.arg for a in function.args.args if a.arg != "self"][:1]
    starts = (n for n in walk(function) if isinstance(n, ast.Call) and module.dotted(n.func) in _STARTERS)
    return any(isinstance(n.args[0], ast.Name) and n.args[0].id in names for n in starts if n.args)


def _resolved(module: PyModule, node: ast.expr) -> ast.expr | None:
    """The list or text behind a name that is assigned once; a joined text is left to `_text`."""
    if isinstance(node, ast.Name):
        values = [
            n.value
            for n in module.nodes
            if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)
        ]
        return values[0] if len(values) == 1 and not isinstance(values[0], ast.Name) else None
    if isinstance(node, ast.Call) and module.dotted(node.func) == "shlex.split" and node.args:
        return _resolved(module, node.args[0])
    return node if isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple | ast.BinOp) else None


def _line(module: PyModule, words: list[ast.expr], *, quoted: bool) -> Fragment:
    text, pieces = "", list[tuple[int, int]]()
    for word in words:
        text += " " if text else ""
        for part, offset in _parts(module, word):
            known = not part.startswith(_HOLE)
            bare = not quoted or not known or shlex.quote(part) == part
            text += "" if bare else "'"
            pieces.append((len(text), offset))
            text += part if bare else part.replace("'", "'\\''") + "'"
    return module.fragment.derive(text, "shell", pieces)


def _parts(module: PyModule, node: ast.expr) -> Iterator[tuple[str, int]]:
    """The constant and unknown parts of a text, each with its offset in the code."""
    whole = module.span(node)
    begin = whole.start - module.fragment.host(0)
    if isinstance(node, ast.Constant):
        opening = _LITERAL.match(module.fragment.text, begin)
        yield str(node.value), opening.end() if opening else begin
    elif isinstance(node, ast.JoinedStr):
        opening = _LITERAL.match(module.fragment.text, begin)
        at = opening.end() if opening else begin
        for value in node.values:
            if isinstance(value, ast.Constant):
                found = module.fragment.text.find(str(value.value), at)
                at = found if found >= 0 else at
                yield str(value.value), at
                at += len(str(value.value))
            else:
                yield _HOLE, at
    elif isinstance(node, ast.BinOp):
        yield from _parts(module, node.left)
        yield from _parts(module, node.right)
    elif module.dotted(node) == "sys.executable":
        yield "python3", begin
    else:
        yield _HOLE, begin
