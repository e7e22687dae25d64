"""Files and folders that a followed verifier touches."""

from __future__ import annotations

import ast
import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scenlint.source.pyfold import combine, join_paths, normal, parent_path
from scenlint.source.pyvalue import HOLE, UNKNOWN, PathText, Seq, Value, known, texts, unknown
from scenlint.task.checks.facts import Asked, Output, Source
from scenlint.task.checks.library.base import Call, means
from scenlint.task.checks.model import Access, How

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow

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


def touch(call: Call, path: Value, how: str) -> int:
    """The facts of a path being touched: an access for each path that it may be, unless it is the verifier's own."""
    flow = call.flow
    bits = path.all_data
    for option in path.options:
        if isinstance(option, File):
            bits |= option.data
    for text in filter(None, texts(path)):
        if TEMP in text:
            bits |= flow.temp
        elif text == SOLUTION:
            continue
        elif text.strip(HOLE) == "":
            bits |= 0 if is_own(flow, path) else call.fact(Source("file", "", call.span), produced=True)
        elif text != ":memory:" and not text.startswith(("http://", "https://")):
            bits |= _touch(call, text, how)
    return bits


def _touch(call: Call, text: str, how: str) -> int:
    flow = call.flow
    if text.startswith(WORKSPACE):
        clean = normal(text[len(WORKSPACE) :].lstrip("/")).replace(HOLE, "*") or "."
    else:
        clean = normal(posixpath.join(flow.cwd, text.replace(HOLE, "*")))
        if not clean.startswith("/") and not text.startswith(HOLE):
            moved = f"{normal(text)}\n{clean}".replace(HOLE, "*")
            call.note("moved", moved) if flow.cwd else call.note("relative", clean)
    if flow.setup.hidden(clean) or flow.setup.own(clean):
        return 0
    if how == "write":
        flow.written.add(clean)
    elif clean in flow.written:
        return flow.temp
    return call.fact(Access(clean, How(how), call.span), produced=how != "write")


def read(call: Call, path: Value, shape: str = "text") -> Value:
    """What is read from a file."""
    bits = touch(call, path, "read")
    if bits & call.flow.facts.produced:
        call.may_raise("OSError", Value(data=bits))
    return Value((), True, bits, path.all_why, shape)


def write(call: Call, path: Value, value: Value) -> Value:
    """Something written to a file."""
    flow = call.flow
    to = next((o.path for o in path.options if isinstance(o, File)), path)
    if any(TEMP in t for t in texts(to)):
        flow.temp |= value.all_data
    else:
        touch(call, to, "write")
    flow.outputs.append(Output("write", value, flow.place(call.node, call.env), flow.why(), flow.stack(), to))
    return UNKNOWN


def opened(call: Call, value: Value) -> Value:
    """What an argument that may be an open file, a path or plain data stands for."""
    return read(call, value) if any(isinstance(o, PathText) for o in value.options) else value


def ask(call: Call, path: Value) -> Value:
    """Whether something is there."""
    bits = touch(call, path, "exists")
    why = call.fact(Asked(call.span), basis=bits) if bits & call.flow.facts.produced else 0
    return Value((), True, bits, why, "judged")


def stat(call: Call, path: Value, shape: str = "") -> Value:
    bits = touch(call, path, "exists")
    call.may_raise("OSError", Value(data=bits))
    return Value((), True, bits, 0, shape)


def listing(call: Call, folder: Value, pattern: Value | None) -> Value:
    """The paths in a folder: any number of them."""
    bits = touch(call, folder, "list")
    paths = folder if pattern is None else join_paths([folder, pattern])
    item = combine(lambda o: PathText(str(o).replace("*", HOLE)) if isinstance(o, str) else NotImplemented, paths)
    if not bits & call.flow.facts.produced or item.open:
        return Value((), True, bits, 0, "listing")
    return known(Seq("list", [item.since(bits)], True, bits, 0, True), data=bits)


def open_file(call: Call, path: Value, mode: Value) -> Value:
    modes = [m for m in mode.options if isinstance(m, str)] or ["r"]
    if modes[0].strip("btU+")[:1] in ("w", "a", "x"):
        return known(File(path, modes[0], 0))
    bits = touch(call, path, "read")
    if bits & call.flow.facts.produced:
        call.may_raise("OSError", Value(data=bits))
    return known(File(path, modes[0], bits), data=bits, shape="lines")


@means("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open")
def _open(call: Call) -> Value:
    return open_file(call, call.arg(0, "file"), call.arg(1, "mode"))


@means("os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.islink", "os.path.lexists", "os.access")
def _exists(call: Call) -> Value:
    return ask(call, call.first)


@means("os.path.getsize", "os.stat", "os.lstat", "os.path.getmtime")
def _stat(call: Call) -> Value:
    return stat(call, call.first, "extent" if call.name.endswith("getsize") else "")


@means("os.listdir", "os.scandir", "os.walk")
def _list(call: Call) -> Value:
    return Value((), True, touch(call, call.first if call.args else known("."), "list"), 0, "listing")


@means("glob.glob", "glob.iglob")
def _glob(call: Call) -> Value:
    return listing(call, call.first, None)


@means("os.path.basename")
def _basename(call: Call) -> Value:
    return combine(lambda o: str(o).rsplit("/", 1)[-1], call.first)


@means("os.path.dirname")
def _dirname(call: Call) -> Value:
    return combine(lambda o: PathText(parent_path(str(o))), call.first)


@means("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "os.fspath")
def _same_path(call: Call) -> Value:
    return combine(lambda o: PathText(normal(str(o))), call.first)


@means("os.path.splitext")
def _split_path(call: Call) -> Value:
    return unknown(call.first)


@means("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move", "os.rename", "os.replace")
def _copy(call: Call) -> Value:
    source, target = call.first, call.arg(1)
    bits = touch(call, source, "read")
    if bits & call.flow.facts.produced:
        call.may_raise("OSError", Value(data=bits))
    if any(TEMP in t for t in texts(target)):
        call.flow.temp |= bits
    else:
        touch(call, target, "write")
    return target if target.options else temporary()


@means("os.chdir")
def _change_folder(call: Call) -> Value:
    to = (texts(call.first) or [HOLE])[0]
    call.flow.cwd = posixpath.join(call.flow.cwd, "*" if TEMP in to else to.replace(HOLE, "*"))
    return known(None)


@means("os.remove", "os.unlink", "os.makedirs", "os.mkdir", "shutil.rmtree", "os.chmod", "os.chown")
def _nothing(call: Call) -> Value:
    return known(None)


@means("tempfile.mkdtemp", "tempfile.TemporaryDirectory", "tempfile.gettempdir", "tempfile.mktemp")
def _temporary_folder(call: Call) -> Value:
    return temporary()


@means("tempfile.NamedTemporaryFile", "tempfile.TemporaryFile")
def _temporary_file(call: Call) -> Value:
    return known(File(temporary(), "w+", call.flow.temp), data=call.flow.temp)


@means("tempfile.mkstemp")
def _mkstemp(call: Call) -> Value:
    return known(Seq("tuple", [UNKNOWN, temporary()]))


@means("os.getcwd", "pathlib.Path.cwd")
def _here(call: Call) -> Value:
    return known(PathText("."))


@means("pathlib.Path.home")
def _home(call: Call) -> Value:
    return known(PathText("/root"))


# In the names of functions of libraries that read a file given by its path.
_LOADERS = ("load", "read", "open", "parse", "connect", "file", "workbook", "document", "image", "from_", "archive",
            "dataset", "database", "h5", "wave", "presentation", "pdf")  # fmt: skip


def guess(call: Call) -> int:
    """Paths given to a function that cannot be seen through: it reads them if its name or the path says so."""
    name = ast.unparse(call.node.func).lower() if isinstance(call.node, ast.Call) else ""
    loads = any(word in name for word in _LOADERS)
    bits = 0
    for value in call.values:
        for option in value.options:
            if isinstance(option, File):
                bits |= option.data
            typed = isinstance(option, PathText)
            shaped = isinstance(option, str) and option.startswith("/") and "\n" not in option and len(option) < 300
            if typed or (shaped and loads):
                bits |= touch(call, replace(value, options=(option,), open=False), "read")
    return bits
