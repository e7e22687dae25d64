"""Servers and databases that a followed verifier asks: their replies are of the agent's making."""

from __future__ import annotations

import re

from scenlint.source.pyvalue import HOLE, Seq, Value, texts, unknown
from scenlint.task.checks.facts import Source
from scenlint.task.checks.library import files
from scenlint.task.checks.library.base import Call, means

_VERBS = ("get", "post", "put", "delete", "patch", "head", "request", "options")
_DATABASES = ("sqlite3", "psycopg2", "psycopg", "pymysql", "MySQLdb", "mysql", "duckdb", "asyncpg", "aiosqlite")
_CLIENTS = ("Redis", "StrictRedis", "MongoClient", "create_engine", "from_url")


@means("urllib.request.urlopen", "urllib.request.urlretrieve", "socket.create_connection", "socket.socket")
@means("http.client.HTTPConnection", "http.client.HTTPSConnection")
@means(*(f"{module}.{verb}" for module in ("requests", "httpx") for verb in _VERBS))
def reply(call: Call) -> Value:
    """An answer from a server."""
    asked = [*call.args[:2], *filter(None, [call.kwargs.get("url")])]
    urls = next(([*texts(a), *([HOLE] if a.open else [])] for a in asked if any("/" in t for t in texts(a))), [])
    if not urls:
        urls = [f"//{address}" for a in asked[:2] for address in _address(a, asked)][:1]
    if urls:
        call.note("endpoint", "\n".join(urls))
    shown = urls[0].replace(HOLE, "*") if urls else ""
    bit = call.fact(Source("http", shown, call.span), produced=True)
    call.may_raise("OSError", Value(data=bit))
    return unknown(*call.values, shape="reply").since(bit)


@means("requests.Session", "requests.session", "httpx.Client", "aiohttp.ClientSession")
def _session(call: Call) -> Value:
    return Value(shape="http")


@means("urllib.request.Request", "requests.Request")
def _request(call: Call) -> Value:
    return call.first if call.first.options else unknown(*call.args, shape="request")


def guess(call: Call) -> Value | None:
    """A connection to a database, by what its function is called; None for anything else."""
    root, _, last = call.name.rpartition(".")
    root = root.split(".")[0]
    connects = last == "connect" and root in _DATABASES
    if not connects and last not in _CLIENTS:
        return None
    local = connects and call.args and root in ("sqlite3", "duckdb", "aiosqlite")
    bits = files.touch(call, call.first, "read") if local else 0
    bits |= call.fact(Source("database", "", call.span), produced=True)
    _where(call)
    call.may_raise("OSError", Value(data=bits))
    return Value((), True, bits, 0, "rows")


def _where(call: Call) -> None:
    """Note the address of a database, given as host and port, as a URL or as `host=… port=…`."""
    place = [call.kwargs[k] for k in ("host", "port") if k in call.kwargs]
    if len(place) == 2:
        call.note("endpoint", f"//{':'.join(map(only, place))}")
        return
    for value in [*call.args[:1], *(call.kwargs[k] for k in ("dsn", "url", "conninfo") if k in call.kwargs)]:
        text = only(value)
        parts = dict(re.findall(r"\b(host|port)=(\S+)", text))
        if "host" in parts:
            call.note("endpoint", f"//{parts['host']}:{parts.get('port', HOLE)}")
        elif "://" in text:
            call.note("endpoint", text)


def _address(value: Value, asked: list[Value]) -> list[str]:
    """`("localhost", 8080)`, given as a pair or as two arguments, as host:port."""
    pairs = [o.items for o in value.options if isinstance(o, Seq) and len(o.items) == 2]
    pairs = pairs or ([asked[:2]] if len(asked) == 2 and value is asked[0] else [])
    return [":".join(only(v) for v in pair) for pair in pairs]


def only(value: Value) -> str:
    """The one text or number that a value is, or a hole."""
    found = [str(o) for o in value.options if isinstance(o, str | int)]
    return found[0] if len(found) == 1 and not value.open else HOLE
