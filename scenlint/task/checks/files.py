"""Files and folders that a followed verifier touches."""

from __future__ import annotations

import ast
import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import (
    HOLE,
    UNKNOWN,
    PathText,
    Seq,
    Value,
    combine,
    join_paths,
    known,
    normal,
    parent_path,
    texts,
    unknown,
)
from scenlint.task.checks.facts import Asked, Output, Source
from scenlint.task.checks.model import Access, How

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

TEMP = f"/tmp/{HOLE}tmp"  # any temporary file's path
SOLUTION = f"/solution/{HOLE}"  # the submission of a DeepGym task, whose path only the judge knows
WORKSPACE = "/\ue002"  # the folder that the agent worked in, where the harness names it only when it runs


@dataclass(frozen=True, eq=False)
class File:
    """An open file."""

    path: Value
    mode: str
    data: int


def temporary() -> Value:
    return known(PathText(TEMP))


def is_own(flow: Flow, path: Value) -> bool:
    """Whether a path leads into the verifier's own folder, wherever it may lead."""
    found = texts(path)
    return bool(found) and not path.open and all(flow.setup.own(normal(t)) for t in found)


def touch(flow: Flow, path: Value, how: str, node: ast.AST, env: Env) -> int:
    """The facts of a path being touched: an access for each path that it may be, unless it is the verifier's own."""
    bits = path.all_data & flow.facts.produced & 0
    span = env.module.span(node)
    for option in path.options:
        if isinstance(option, File):
            bits |= option.data
    found = [t for t in texts(path) if t]
    for text in found:
        if TEMP in text:
            bits |= flow.temp
        elif text == SOLUTION:
            bits |= path.all_data
        elif text == ":memory:":
            continue
        elif text.strip(HOLE) == "":
            if not is_own(flow, path):
                bits |= flow.facts.add(Source("file", "", span), produced=True)
        elif not text.startswith(("http://", "https://")):
            clean = _clean(flow, text)
            if not clean.startswith("/") and not text.startswith((WORKSPACE, HOLE)):
                moved = f"{normal(text)}\n{clean}".replace(HOLE, "*")
                flow.note("moved", node, env, moved) if flow.cwd else flow.note("relative", node, env, clean)
            if flow.setup.hidden(clean):
                continue
            if flow.setup.own(clean) or (how != "write" and clean in flow.written):
                bits |= flow.temp if clean in flow.written else 0
                continue
            if how == "write":
                flow.written.add(clean)
            bits |= flow.facts.add(Access(clean, How(how), span), produced=how != "write")
    return bits


def _clean(flow: Flow, text: str) -> str:
    """A path as a check states it: relative to the workspace, or joined to the folder that was changed to."""
    if text.startswith(WORKSPACE):
        return normal(text[len(WORKSPACE) :].lstrip("/")).replace(HOLE, "*") or "."
    return normal(posixpath.join(flow.cwd, text.replace(HOLE, "*")))


def read(flow: Flow, path: Value, node: ast.AST, env: Env, shape: str = "text") -> Value:
    """What is read from a file."""
    bits = touch(flow, path, "read", node, env)
    if bits & flow.facts.produced:
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
    return Value((), True, bits, path.all_why, shape)


def write(flow: Flow, path: Value, value: Value, node: ast.AST, env: Env) -> Value:
    """Something written to a file."""
    to = next((o.path for o in path.options if isinstance(o, File)), path)
    if any(TEMP in t for t in texts(to)):
        flow.temp |= value.all_data
    else:
        touch(flow, to, "write", node, env)
    flow.outputs.append(Output("write", value, flow.place(node, env), flow.why(), flow.stack(), to))
    return UNKNOWN


def opened(flow: Flow, value: Value, node: ast.AST, env: Env) -> Value:
    """What an argument that may be an open file, a path or plain data stands for."""
    for option in value.options:
        if isinstance(option, PathText):
            return read(flow, value, node, env)
    return value


def ask(flow: Flow, path: Value, node: ast.AST, env: Env, how: str = "exists") -> Value:
    """Whether something is there."""
    bits = touch(flow, path, how, node, env)
    why = flow.facts.add(Asked(env.module.span(node)), basis=bits) if bits & flow.facts.produced else 0
    return Value((), True, bits, why, "judged")


def listing(flow: Flow, folder: Value, pattern: Value | None, node: ast.AST, env: Env) -> Value:
    """The paths in a folder: any number of them."""
    bits = touch(flow, folder, "list", node, env)
    paths = folder if pattern is None else join_paths([folder, pattern])
    item = combine(lambda o: PathText(str(o).replace("*", HOLE)) if isinstance(o, str) else NotImplemented, paths)
    if not bits & flow.facts.produced or item.open:
        return Value((), True, bits, 0, "listing")
    return known(Seq("list", [item.since(bits)], True, bits, 0, True), data=bits)


def _open(flow: Flow, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    path = args[0] if args else kwargs.get("file", UNKNOWN)
    given = args[1] if len(args) > 1 else kwargs.get("mode")
    modes = [m for m in (given.options if given else ()) if isinstance(m, str)]
    mode = modes[0] if modes else "r"
    if mode.strip("btU+")[:1] in ("w", "a", "x"):
        return known(File(path, mode, 0))
    bits = touch(flow, path, "read", node, env)
    if bits & flow.facts.produced:
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
    return known(File(path, mode, bits), data=bits, shape="lines")


def call(flow: Flow, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value | None:
    """File functions by dotted name; None for others."""
    first = args[0] if args else UNKNOWN
    if name in ("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"):
        return _open(flow, args, kwargs, node, env)
    if name in ("os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.islink", "os.access", "os.path.lexists"):
        return ask(flow, first, node, env)
    if name in ("os.path.getsize", "os.stat", "os.lstat", "os.path.getmtime"):
        bits = touch(flow, first, "exists", node, env)
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
        return Value((), True, bits, 0, "extent" if name.endswith("getsize") else "")
    if name in ("os.listdir", "os.scandir", "os.walk"):
        return Value((), True, touch(flow, first, "list", node, env), 0, "listing")
    if name in ("glob.glob", "glob.iglob"):
        return listing(flow, first, None, node, env)
    if name in ("os.path.basename", "os.path.dirname", "os.path.abspath", "os.path.realpath", "os.path.normpath",
                "os.path.expanduser", "os.path.splitext"):  # fmt: skip
        return _path_function(name.rsplit(".", 1)[1], first)
    if name in (
        "shutil.copy",
        "shutil.copy2",
        "shutil.copyfile",
        "shutil.copytree",
        "shutil.move",
        "os.rename",
        "os.replace",
    ):
        return _copy(flow, args, node, env)
    if name in ("shutil.which",):
        bit = flow.facts.add(
            Source("command", ", ".join(texts(first)).replace(HOLE, "*"), env.module.span(node)), produced=True
        )
        return Value((), True, bit, 0, "")
    if name == "os.chdir":
        flow.cwd = posixpath.join(flow.cwd, "*" if TEMP in texts(first)[0] else texts(first)[0].replace(HOLE, "*"))
        return known(None)
    if name in ("os.remove", "os.unlink", "os.makedirs", "os.mkdir", "shutil.rmtree", "os.chmod", "os.chown"):
        return known(None)
    if name in ("tempfile.mkdtemp", "tempfile.TemporaryDirectory", "tempfile.gettempdir", "tempfile.mktemp"):
        return temporary()
    if name in ("tempfile.NamedTemporaryFile", "tempfile.TemporaryFile"):
        return known(File(temporary(), "w+", flow.temp), data=flow.temp)
    if name == "tempfile.mkstemp":
        return known(Seq("tuple", [UNKNOWN, temporary()]))
    if name in ("os.getcwd", "pathlib.Path.cwd"):
        return known(PathText("."))
    if name == "pathlib.Path.home":
        return known(PathText("/root"))
    return None


def _path_function(name: str, value: Value) -> Value:
    if name == "splitext":
        return unknown(value)
    if name == "basename":
        return combine(lambda o: str(o).rsplit("/", 1)[-1], value)
    if name == "dirname":
        return combine(lambda o: PathText(parent_path(str(o))), value)
    return combine(lambda o: PathText(normal(str(o))), value)


def _copy(flow: Flow, args: list[Value], node: ast.AST, env: Env) -> Value:
    source, target = args[0] if args else UNKNOWN, args[1] if len(args) > 1 else UNKNOWN
    bits = touch(flow, source, "read", node, env)
    if bits & flow.facts.produced:
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
    if any(TEMP in t for t in texts(target)):
        flow.temp |= bits
    else:
        touch(flow, target, "write", node, env)
    return target if target.options else temporary()


_LOADERS = (
    "load", "read", "open", "parse", "connect", "imread", "file", "workbook", "document", "image", "reader", "zipfile", "from_",
    "load_workbook", "tarfile", "archive", "dataset", "database", "h5", "wave", "presentation", "pdf",
)  # fmt: skip


def guess(flow: Flow, target: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> int:
    """Paths given to a function that cannot be seen through: it reads them if its name or the path says so."""
    name = ast.unparse(node.func).lower() if isinstance(node, ast.Call) else ""
    loads = any(word in name for word in _LOADERS)
    bits = 0
    for value in (*args, *kwargs.values()):
        for option in value.options:
            if isinstance(option, File):
                bits |= option.data
            is_path = isinstance(option, PathText) or (
                isinstance(option, str) and option.startswith("/") and "\n" not in option
            )
            if isinstance(option, str) and is_path and (loads or isinstance(option, PathText)) and len(option) < 300:
                bits |= touch(flow, replace(value, options=(option,), open=False), "read", node, env)
    return bits
