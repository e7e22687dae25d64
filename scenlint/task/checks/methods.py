"""Methods of texts, paths, containers, files and of whatever the agent made, as a followed verifier calls them."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scenlint.source.pyvalue import (
    HOLE,
    UNKNOWN,
    Map,
    PathText,
    Ref,
    Seq,
    Value,
    combine,
    is_scalar,
    join,
    join_paths,
    known,
    parent_path,
    plain,
    text_of,
    texts,
    unknown,
)
from scenlint.task.checks import commands, files

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

Args = list[Value]
_TEXT = frozenset(
    [
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "casefold",
        "replace",
        "split",
        "rsplit",
        "splitlines",
        "join",
        "format",
        "zfill",
        "encode",
        "decode",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "expandtabs",
        "ljust",
        "rjust",
        "center",
        "translate",
        "swapcase",
        "hex",
    ]
)
_TESTS = frozenset(
    [
        "startswith",
        "endswith",
        "isdigit",
        "isalpha",
        "isalnum",
        "isupper",
        "islower",
        "isnumeric",
        "isidentifier",
        "isspace",
    ]
)
_WITHIN = frozenset(["find", "rfind", "index", "rindex", "count"])
_GETTERS = frozenset(
    [
        "read",
        "readline",
        "readlines",
        "json",
        "items",
        "keys",
        "values",
        "fetchall",
        "fetchone",
        "fetchmany",
        "cursor",
        "execute",
        "tolist",
        "to_dict",
        "copy",
        "get_json",
        "getvalue",
        "read_text",
        "read_bytes",
        "getroot",
        "find",
        "findall",
        "iter",
        "findtext",
        "group",
        "groups",
        "groupdict",
        "sheet_by_index",
        "active",
        "rows",
        "iter_rows",
        "to_list",
        "astype",
        "dropna",
        "head",
        "tail",
        "communicate",
        "stdout",
        "stderr",
        "recv",
        "readexactly",
        "get_text",
        "select",
        "select_one",
        "find_all",
        "query",
        "all",
        "first",
        "one",
        "scalar",
        "scalars",
        "mappings",
        "commit",
        "close",
    ]
)


def call(flow: Flow, value: Value, name: str, args: Args, kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    """`value.name(args)`."""
    if value.shape == "pattern":
        return _produced(flow, value, name, args, kwargs, node, env)
    option = value.options[0] if value.options else None
    if isinstance(option, PathText) and (found := _path(flow, value, name, args, kwargs, node, env)) is not None:
        return found
    if type(option).__name__ == "File":
        return _file(flow, value, name, args, node, env)
    if isinstance(option, Seq) and (found := _seq(flow, value, option, name, args)) is not None:
        return found
    if isinstance(option, Map) and (found := _map(flow, value, option, name, args, kwargs, node, env)) is not None:
        return found
    if isinstance(option, str | bytes) and (found := _text(flow, value, name, args, kwargs)) is not None:
        return found
    if type(option).__name__ == "Instance":
        from scenlint.task.checks import library

        if name.startswith("assert"):
            return library.assertion(flow, name, args, kwargs, node, env)
        if name in ("fail", "skipTest"):
            flow.fail(node, env, "fail", "AssertionError") if name == "fail" else None
            return known(None)
        if name == "subTest":
            return UNKNOWN
    return _produced(flow, value, name, args, kwargs, node, env)


# -- what the agent made
def _produced(
    flow: Flow, value: Value, name: str, args: Args, kwargs: dict[str, Value], node: ast.AST, env: Env
) -> Value:
    here = unknown(value, *args, *kwargs.values())
    if not flow.produced(value):
        handled = _client(flow, value, name, args, kwargs, node, env)
        if handled is not None:
            return handled
        return (
            replace(here, shape="opaque")
            if flow.produced(here)
            else replace(here, shape="text" if name in _TEXT else "")
        )
    if name == "get" and args:
        out = flow.item(replace(value, options=(), open=True), args[0], node, env, default=True)
        return join([out, *args[1:]]).since(out.data, out.why)
    if name in _TESTS:
        return flow.compare(name, value, args[0] if args else UNKNOWN, node, env)
    if name in _WITHIN and args:
        test = flow.compare("in", args[0], value, node, env)
        if name.endswith("index"):
            flow.fail(node, env, "implicit", "ValueError", value)
        return replace(unknown(value).since(0, test.all_why), shape="")
    if name in ("match", "search", "fullmatch"):
        test = flow.compare("matches", args[0] if args else UNKNOWN, value, node, env)
        return replace(here.since(0, test.all_why), shape="found")
    if name == "raise_for_status":
        bit = flow.facts.add(_judged(node, env))
        flow.fail(node, env, "implicit", "HTTPError", value.since(0, bit))
        return known(None)
    if name in _TEXT:
        shape = "lines" if name in ("split", "rsplit", "splitlines") else "text"
        return unknown(value, *args, shape=shape)
    if name == "json":
        flow.fail(node, env, "implicit", "ValueError", value)
        return unknown(value, shape="json")
    if name in ("items", "keys", "values", "iterrows", "itertuples"):
        return unknown(value, shape=value.shape or "json")
    if name in ("execute", "query", "read_sql"):
        return unknown(value, *args, shape="rows").since(*commands.sql(flow, args, node, env))
    if name in _GETTERS:
        shape = value.shape if value.shape in ("json", "rows", "text") else "text" if name.startswith("read") else ""
        return unknown(value, *args, shape=shape)
    if value.shape == "agent":
        from scenlint.task.checks import library

        return library.opaque(flow, value, args, kwargs, node, env)
    if name in ("wait", "poll"):
        return unknown(value, shape="code" if value.shape == "process" else "")
    if name == "connect" and value.shape == "reply":
        return commands.reply(flow, args, kwargs, node, env)
    if name in ("kill", "terminate", "close", "append", "add", "send", "sendall", "sendline", "commit", "flush"):
        return known(None)
    return replace(here, shape="opaque")


def _judged(node: ast.AST, env: Env) -> Any:
    from scenlint.task.checks.facts import Judged

    return Judged(env.module.span(node))


def _client(
    flow: Flow, value: Value, name: str, args: Args, kwargs: dict[str, Value], node: ast.AST, env: Env
) -> Value | None:
    """Methods of objects of a library: sessions that ask over HTTP, patterns, loaders of modules."""
    roots = {o.name.split(".")[0] for o in value.options if isinstance(o, Ref)} or {value.shape}
    if name in ("get", "post", "put", "delete", "patch", "head", "request", "open") and any(
        r in ("http", "requests", "httpx", "aiohttp") for r in roots
    ):
        return commands.reply(flow, args, kwargs, node, env)
    if name in ("match", "search", "fullmatch", "findall", "finditer") and args and flow.produced(args[0]):
        test = flow.compare("matches", args[0], value, node, env)
        return replace(
            unknown(args[0]).since(0, test.all_why), shape="selected" if name.startswith("find") else "found"
        )
    return None


# -- paths
def path_field(value: Value, name: str) -> Value | None:
    """`.name`, `.parent` and the like of a path."""
    functions = {
        "name": lambda p: str(p).rsplit("/", 1)[-1],
        "stem": lambda p: str(p).rsplit("/", 1)[-1].rsplit(".", 1)[0],
        "suffix": lambda p: "." + str(p).rsplit(".", 1)[1] if "." in str(p).rsplit("/", 1)[-1] else "",
        "parent": lambda p: PathText(parent_path(str(p))),
    }
    if name == "parents":
        return combine(
            lambda p: known(Seq("tuple", [known(PathText(parent_path(str(p), n))) for n in range(1, 8)])), value
        )
    return combine(functions[name], value) if name in functions else None


def _path(
    flow: Flow, value: Value, name: str, args: Args, kwargs: dict[str, Value], node: ast.AST, env: Env
) -> Value | None:
    if name in ("exists", "is_file", "is_dir", "is_symlink"):
        return files.ask(flow, value, node, env)
    if name in ("read_text", "read_bytes"):
        return files.read(flow, value, node, env)
    if name in ("stat", "lstat"):
        bits = files.touch(flow, value, "exists", node, env)
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
        return Value((), True, bits, 0, "")
    if name in ("iterdir", "glob", "rglob"):
        return files.listing(flow, value, args[0] if args else known(HOLE), node, env)
    if name == "open":
        return files.call(flow, "open", [value, *args], kwargs, node, env)
    if name in ("write_text", "write_bytes"):
        return files.write(flow, value, args[0] if args else UNKNOWN, node, env)
    if name in ("joinpath",):
        return join_paths([value, *args])
    if name in ("resolve", "absolute", "expanduser", "as_posix"):
        return value
    if name in ("with_suffix", "with_name") and args:
        return combine(lambda p, s: PathText(_with(str(p), str(s), name)), value, args[0])
    if name in ("mkdir", "unlink", "touch", "chmod", "rmdir"):
        return known(None)
    if name == "relative_to":
        return unknown(value, shape="text")
    return None


def _with(path: str, part: str, name: str) -> str:
    head, _, last = path.rpartition("/")
    last = last.rsplit(".", 1)[0] + part if name == "with_suffix" else part
    return f"{head}/{last}" if head else last


def _file(flow: Flow, value: Value, name: str, args: Args, node: ast.AST, env: Env) -> Value:
    option = value.options[0]
    if name in ("write", "writelines"):
        return files.write(flow, value, args[0] if args else UNKNOWN, node, env)
    if name in ("readlines", "read", "readline"):
        bits = option.data | (flow.temp if any(files.TEMP in t for t in texts(option.path)) else 0)
        return Value((), True, bits, value.why, "lines" if name == "readlines" else "text")
    return known(None)


# -- containers of the verifier's own
def _seq(flow: Flow, value: Value, option: Seq, name: str, args: Args) -> Value | None:
    if name in ("append", "add", "insert", "appendleft") and args:
        for each in value.options:
            if isinstance(each, Seq):
                each.maybe = (each.maybe or not each.items) and bool(flow.uncertain)
                item = args[-1].since(0, flow.ctx)
                if len(each.items) < 300:
                    each.items.append(item)
                each.more |= flow.repeats > 0
                each.data |= item.all_data
                each.why |= item.all_why | flow.why()
        return known(None)
    if name in ("extend", "update") and args:
        items, more = flow.elements(args[0])
        for each in value.options:
            if isinstance(each, Seq):
                each.maybe = (each.maybe or not each.items) and (bool(flow.uncertain) or more)
                each.items += [i.since(0, flow.ctx) for i in items][: 300 - len(each.items)]
                each.more |= more
                each.data |= args[0].all_data
                each.why |= args[0].all_why | flow.why()
        return known(None)
    if name in ("pop", "popleft"):
        return join(option.items).since(option.data, option.why) if option.items else UNKNOWN
    if name in ("copy", "difference", "union", "intersection", "symmetric_difference", "issubset", "issuperset"):
        if name == "copy":
            return known(replace(option, items=list(option.items)))
        return unknown(value, *args, shape="")
    if name in ("index", "count"):
        return unknown(value, *args, shape="size" if name == "count" else "")
    if name in ("sort", "reverse", "clear", "remove", "discard"):
        option.maybe |= name in ("clear", "remove", "discard")
        return known(None)
    return None


def _map(
    flow: Flow, value: Value, option: Map, name: str, args: Args, kwargs: dict[str, Value], node: ast.AST, env: Env
) -> Value | None:
    if name in ("get", "pop", "setdefault") and args:
        found = [
            each.items[k]
            for each in value.options
            if isinstance(each, Map)
            for k in args[0].options
            if is_scalar(k) and k in each.items
        ]
        default = args[1] if len(args) > 1 else known(None)
        certain = found and not option.more and not args[0].open and len(found) >= len(args[0].options)
        if option.more and flow.produced(value):
            found.append(flow.item(unknown(value, shape=value.shape), args[0], node, env, default=True))
        elif option.more or (args[0].open and not found):
            found += option.items.values() if args[0].open else [UNKNOWN]
        out = join(found if certain else [*found, default])
        return out.since(value.data | args[0].data, value.why | args[0].why)
    if name == "items":
        pairs = [known(Seq("tuple", [known(k), v])) for k, v in option.items.items()]
        return known(Seq("list", pairs, option.more, option.data, option.why))
    if name == "keys":
        return known(Seq("list", [known(k) for k in option.items], option.more, option.data, option.why))
    if name == "values":
        return known(Seq("list", list(option.items.values()), option.more, option.data, option.why))
    if name == "update":
        given = [*args, *([known(Map(dict(kwargs)))] if kwargs else [])]
        for other in given:
            for each in other.options:
                if isinstance(each, Map):
                    option.items.update(each.items)
                    option.more |= each.more
            option.more |= other.open
            option.data |= other.all_data
            option.why |= other.all_why | flow.ctx
        return known(None)
    if name == "copy":
        return known(Map(dict(option.items), option.more, option.data, option.why))
    return None


# -- texts
def _text(flow: Flow, value: Value, name: str, args: Args, kwargs: dict[str, Value]) -> Value | None:
    if any(flow.produced(a) for a in args) and name not in ("join", "format"):
        return None
    if name == "join" and args:
        items, more = flow.elements(args[0])
        parts: list[Value] = []
        for n, item in enumerate(items):
            parts += [value, item] if n else [item]
        if more and not items:
            return unknown(value, args[0], shape="text")
        out = text_of(parts) if not more else unknown(value, args[0], shape="text")
        origins = tuple(i.origin for i in items if i.origin is not None)
        return replace(out.since(args[0].all_data, args[0].all_why), origin=origins)
    if name == "format":
        return combine(lambda o: _formatted(o, args, kwargs), value).since(unknown(*args, *kwargs.values()).data)
    if name in _TEXT or name in _TESTS or name in _WITHIN:
        out = combine(lambda o, *rest: _plain_method(o, name, [plain(r) for r in rest]), value, *args)
        return replace(out, origin=value.origin)
    return None


def _plain_method(option: Any, name: str, args: list[Any]) -> Any:
    if HOLE in str(option) and name not in ("strip", "lower", "upper", "rstrip", "lstrip", "replace"):
        return NotImplemented
    result = getattr(option, name)(*args)
    if isinstance(result, list | tuple):
        return known(Seq("list", [known(r) for r in result[:100]], len(result) > 100))
    return result


def _formatted(template: Any, args: Args, kwargs: dict[str, Value]) -> Any:
    names = {str(n): v for n, v in enumerate(args)} | kwargs
    count = iter(range(len(args)))

    def fill(match: re.Match[str]) -> str:
        name = match[1] or str(next(count, ""))
        value = names.get(name, UNKNOWN)
        shown = [str(o) for o in value.options if is_scalar(o)]
        return shown[0] if len(shown) == 1 and not value.open else HOLE

    return re.sub(r"\{(\w*)(?:[:!][^{}]*)?\}", fill, str(template))
