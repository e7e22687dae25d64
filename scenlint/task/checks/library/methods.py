"""Methods of paths, files and of whatever the agent made, as a followed verifier calls them."""

from __future__ import annotations

from dataclasses import replace

from scenlint.source.pyfold import combine, join_paths, parent_path
from scenlint.source.pyvalue import HOLE, UNKNOWN, Map, PathText, Ref, Seq, Value, join, known, texts, unknown
from scenlint.task.checks.facts import Judged
from scenlint.task.checks.library import assertions, containers, files, servers
from scenlint.task.checks.library.base import Call
from scenlint.task.checks.library.containers import TESTS, TEXT, WITHIN
from scenlint.task.checks.library.sql import conditions
from scenlint.task.checks.scope import Instance

# Methods that hand on data without judging them.
_GETTERS = frozenset([
    "read", "readline", "readlines", "json", "fetchall", "fetchone", "fetchmany", "cursor", "tolist", "to_dict", "copy",
    "get_json", "getvalue", "read_text", "read_bytes", "getroot", "find", "findall", "iter", "findtext", "group",
    "groups", "groupdict", "sheet_by_index", "iter_rows", "to_list", "astype", "dropna", "head", "tail", "communicate",
    "recv", "readexactly", "get_text", "select", "select_one", "find_all", "first", "one", "scalar", "scalars",
    "mappings",
])  # fmt: skip
_QUIET = frozenset(["kill", "terminate", "close", "append", "add", "send", "sendall", "sendline", "commit", "flush"])
_HTTP = frozenset(["get", "post", "put", "delete", "patch", "head", "request", "open"])


def call(this: Call, value: Value) -> Value:
    """`value.name(…)`."""
    if value.shape == "pattern":
        return _other(this, value)
    option = value.options[0] if value.options else None
    found: Value | None = None
    if isinstance(option, PathText):
        found = _path(this, value)
    elif isinstance(option, files.File):
        return _file(this, value, option)
    elif isinstance(option, Seq):
        found = containers.of_seq(this, value, option)
    elif isinstance(option, Map):
        found = containers.of_map(this, value, option)
    elif isinstance(option, Instance):
        found = _case(this)
    if found is None and isinstance(option, str | bytes):
        found = containers.of_text(this, value)
    if found is not None:
        return found
    return _produced(this, value) if this.flow.produced(value) else _other(this, value)


def _case(this: Call) -> Value | None:
    """Methods that an object of ours inherits from unittest."""
    if this.name.startswith("assert"):
        return assertions.assertion(this, this.name)
    if this.name == "fail":
        this.flow.fail(this.node, this.env, "fail", "AssertionError")
    return known(None) if this.name in ("fail", "skipTest") else None


# -- what the agent made
def _produced(this: Call, value: Value) -> Value:
    flow, name = this.flow, this.name
    here = unknown(value, *this.values)
    if name == "get" and this.args:
        out = flow.item(replace(value, options=(), open=True), this.first, this.node, this.env, default=True)
        return join([out, *this.args[1:]]).since(out.data, out.why)
    if name in TESTS:
        return flow.compare(name, value, this.first, this.node, this.env)
    if name in WITHIN and this.args:
        test = flow.compare("in", this.first, value, this.node, this.env)
        if name.endswith("index"):
            this.may_raise("ValueError", value)
        return unknown(value).since(0, test.all_why)
    if name in ("match", "search", "fullmatch"):
        test = flow.compare("matches", this.first, value, this.node, this.env)
        return replace(here.since(0, test.all_why), shape="found")
    if name == "raise_for_status":
        this.may_raise("HTTPError", value.since(0, this.fact(Judged(this.span), basis=value.all_data)))
        return known(None)
    if name in TEXT:
        return unknown(value, *this.args, shape="lines" if name in ("split", "rsplit", "splitlines") else "text")
    if name == "json":
        this.may_raise("ValueError", value)
        return unknown(value, shape="json")
    if name in ("items", "keys", "values", "iterrows", "itertuples"):
        return unknown(value, shape=value.shape or "json")
    if name in ("execute", "query", "read_sql"):
        query = next((t for a in this.args[:1] for t in texts(a)), "")
        return unknown(value, *this.args, shape="rows").since(0, conditions(this, query))
    if name in _GETTERS:
        shape = value.shape if value.shape in ("json", "rows", "text") else "text" if name.startswith("read") else ""
        return unknown(value, *this.args, shape=shape)
    if value.shape == "agent":
        from scenlint.task.checks import library

        return library.opaque(flow, value, this.args, this.kwargs, this.node, this.env)
    if name in ("wait", "poll"):
        return unknown(value, shape="code" if value.shape == "process" else "")
    if name == "connect" and value.shape == "reply":
        return servers.reply(this)
    return known(None) if name in _QUIET else replace(here, shape="opaque")


def _other(this: Call, value: Value) -> Value:
    """Methods of a library's objects: sessions that ask over HTTP, patterns, and what cannot be seen through."""
    here = unknown(value, *this.values)
    roots = {o.name.split(".")[0] for o in value.options if isinstance(o, Ref)} | {value.shape}
    if this.name in _HTTP and roots & {"http", "requests", "httpx", "aiohttp"}:
        return servers.reply(this)
    if this.name in ("match", "search", "fullmatch", "findall", "finditer") and this.flow.produced(this.first):
        test = this.flow.compare("matches", this.first, value, this.node, this.env)
        shape = "selected" if this.name.startswith("find") else "found"
        return replace(unknown(this.first).since(0, test.all_why), shape=shape)
    if this.flow.produced(here):
        return replace(here, shape="opaque")
    return replace(here, shape="text" if this.name in TEXT else "")


# -- paths and files
def path_field(value: Value, name: str) -> Value | None:
    """`.name`, `.parent` and the like of a path."""
    functions = {
        "name": lambda p: str(p).rsplit("/", 1)[-1],
        "stem": lambda p: str(p).rsplit("/", 1)[-1].rsplit(".", 1)[0],
        "suffix": lambda p: "." + str(p).rsplit(".", 1)[1] if "." in str(p).rsplit("/", 1)[-1] else "",
        "parent": lambda p: PathText(parent_path(str(p))),
        "parents": lambda p: known(Seq("tuple", [known(PathText(parent_path(str(p), n))) for n in range(1, 8)])),
    }
    return combine(functions[name], value) if name in functions else None


def _path(this: Call, value: Value) -> Value | None:
    name = this.name
    if name in ("exists", "is_file", "is_dir", "is_symlink"):
        return files.ask(this, value)
    if name in ("read_text", "read_bytes"):
        return files.read(this, value)
    if name in ("stat", "lstat"):
        return files.stat(this, value)
    if name in ("iterdir", "glob", "rglob"):
        return files.listing(this, value, this.first if this.args else known(HOLE))
    if name == "open":
        return files.open_file(this, value, this.arg(0, "mode"))
    if name in ("write_text", "write_bytes"):
        return files.write(this, value, this.first)
    if name == "joinpath":
        return join_paths([value, *this.args])
    if name in ("resolve", "absolute", "expanduser", "as_posix"):
        return value
    if name in ("with_suffix", "with_name") and this.args:
        return combine(lambda p, s: PathText(_with(str(p), str(s), name)), value, this.first)
    if name in ("mkdir", "unlink", "touch", "chmod", "rmdir"):
        return known(None)
    return unknown(value, shape="text") if name == "relative_to" else None


def _with(path: str, part: str, name: str) -> str:
    head, _, last = path.rpartition("/")
    last = last.rsplit(".", 1)[0] + part if name == "with_suffix" else part
    return f"{head}/{last}" if head else last


def _file(this: Call, value: Value, option: files.File) -> Value:
    if this.name in ("write", "writelines"):
        return files.write(this, value, this.first)
    if this.name in ("readlines", "read", "readline"):
        temporary = any(files.TEMP in t for t in texts(option.path))
        bits = option.data | (this.flow.temp if temporary else 0)
        return Value((), True, bits, value.why, "lines" if this.name == "readlines" else "text")
    return UNKNOWN if this.name == "__enter__" else known(None)
