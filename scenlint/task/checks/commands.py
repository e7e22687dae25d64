"""Programs that a followed verifier starts, servers and databases that it asks: their replies are the agent's making."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from scenlint.source.pyvalue import HOLE, UNKNOWN, PathText, Seq, Value, known, normal, texts, unknown
from scenlint.task.checks import files
from scenlint.task.checks.facts import Judged, Source
from scenlint.task.checks.model import Access, How

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

_RUN = {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"}
_SYSTEM = re.compile(r"/(?:usr/|bin/|sbin/|dev/|proc/|sys/|lib)")
# Programs that carry a question elsewhere: that they ran says nothing about the work.
_CARRIERS = frozenset(
    [
        "docker",
        "podman",
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "curl",
        "wget",
        "kubectl",
        "redis-cli",
        "mongo",
        "mongosh",
        "ssh",
        "sudo",
        "env",
        "timeout",
        "bash",
        "sh",
    ]
)
_PRESENCE = frozenset(["test", "[", "ls", "stat", "which", "command"])
_INTERPRETERS = re.compile(r"(?:.*/)?(?:python[\d.]*|node|ruby|perl|bash|sh|java|php|Rscript|deno|bun|lua|go|dotnet)$")
# Programs that start another one with fewer rights.
_APART = re.compile(
    r"(?:.*/)?(?:su|runuser|setpriv|gosu|su-exec|bwrap|firejail|nsjail|unshare|docker|podman|chroot|sandbox-exec)"
)
# Programs that run code of the folder they are started in.
_RUNS_CODE = re.compile(r"(?:.*/)?(?:python[\d.]*|node|npm|npx|yarn|pnpm|bun|deno|make|pytest|cargo|go|ruby|bash|sh|mvn|gradle)")
_ASSIGNS = re.compile(r"^\w+=")


def call(flow: Flow, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value | None:
    """Processes, HTTP and databases by dotted name; None for others."""
    root, _, last = name.rpartition(".")
    if root == "subprocess" and last in _RUN:
        return _process(flow, last, args, kwargs, node, env)
    if name in ("os.system", "os.popen", "pexpect.spawn", "pexpect.run", "asyncio.create_subprocess_exec",
                "asyncio.create_subprocess_shell"):  # fmt: skip
        return _process(flow, last, args, kwargs, node, env)
    if root in ("requests", "httpx") and last in (
        "get",
        "post",
        "put",
        "delete",
        "patch",
        "head",
        "request",
        "options",
    ):
        return reply(flow, args, kwargs, node, env)
    if name in ("urllib.request.urlopen", "urllib.request.urlretrieve", "socket.create_connection"):
        return reply(flow, args, kwargs, node, env)
    if name in ("requests.Session", "requests.session", "httpx.Client", "aiohttp.ClientSession"):
        return Value(shape="http")
    if name in ("urllib.request.Request", "requests.Request"):
        return unknown(*args, shape="request") if not args or not args[0].options else args[0]
    if name in ("http.client.HTTPConnection", "http.client.HTTPSConnection", "socket.socket"):
        return reply(flow, args, kwargs, node, env)
    if last == "connect" and root.split(".")[0] in (
        "sqlite3", "psycopg2", "psycopg", "pymysql", "MySQLdb", "mysql", "duckdb", "asyncpg", "aiosqlite",
    ):  # fmt: skip
        bits = (
            files.touch(flow, args[0], "read", node, env) if args and root in ("sqlite3", "duckdb", "aiosqlite") else 0
        )
        bits |= flow.facts.add(Source("database", "", env.module.span(node)), produced=True)
        _where(flow, args, kwargs, node, env)
        flow.fail(node, env, "implicit", "OSError", Value(data=bits))
        return Value((), True, bits, 0, "rows")
    if last in ("Redis", "StrictRedis", "MongoClient", "create_engine", "from_url"):
        _where(flow, args, kwargs, node, env)
        bits = flow.facts.add(Source("database", "", env.module.span(node)), produced=True)
        return Value((), True, bits, 0, "rows")
    return None


def reply(flow: Flow, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    """An answer from a server."""
    asked = [*args[:2], *filter(None, [kwargs.get("url")])]
    urls = next(([*texts(a), *([HOLE] if a.open else [])] for a in asked if any("/" in t for t in texts(a))), [])
    if not urls:
        urls = [f"//{address}" for a in asked[:2] for address in _address(a, asked)][:1]
    url = urls[0] if urls else ""
    if urls:
        flow.note("endpoint", node, env, "\n".join(urls))
    bit = flow.facts.add(Source("http", url.replace(HOLE, "*"), env.module.span(node)), produced=True)
    flow.fail(node, env, "implicit", "OSError", Value(data=bit))
    return unknown(*args, *kwargs.values(), shape="reply").since(bit)


def _where(flow: Flow, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> None:
    """Note the address of a database, given as host and port, as a URL or as `host=… port=…`."""
    place = [kwargs[k] for k in ("host", "port") if k in kwargs]
    if len(place) == 2:
        flow.note("endpoint", node, env, f"//{':'.join(map(_only, place))}")
        return
    for value in [*args[:1], *filter(None, [kwargs.get("dsn"), kwargs.get("url"), kwargs.get("conninfo")])]:
        text = _only(value)
        parts = dict(re.findall(r"\b(host|port)=(\S+)", text))
        if "host" in parts:
            flow.note("endpoint", node, env, f"//{parts['host']}:{parts.get('port', HOLE)}")
        elif "://" in text:
            flow.note("endpoint", node, env, text)


def _address(value: Value, asked: list[Value]) -> list[str]:
    """`("localhost", 8080)`, given as a pair or as two arguments, as host:port."""
    pairs = [o.items for o in value.options if isinstance(o, Seq) and len(o.items) == 2]
    pairs = pairs or ([asked[:2]] if len(asked) == 2 and value is asked[0] else [])
    return [":".join(_only(v) for v in pair) for pair in pairs]


def _only(value: Value) -> str:
    """The one text or number that a value is, or a hole."""
    found = [str(o) for o in value.options if isinstance(o, str | int)]
    return found[0] if len(found) == 1 and not value.open else HOLE


def words(value: Value) -> list[str]:
    """The words of a command, holes where they are unknown."""
    for option in value.options:
        if isinstance(option, Seq):
            return [next(iter(texts(item)), HOLE) for item in option.items]
        if isinstance(option, str):
            try:
                return shlex.split(option, comments=True)
            except ValueError:
                return option.split()
    return []


def _process(flow: Flow, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, env: Env) -> Value:
    command = args[0] if args else kwargs.get("args", UNKNOWN)
    if name in ("create_subprocess_exec",):
        command = known(Seq("list", list(args)))
    found = words(command)
    span = env.module.span(node)
    shown = " ".join(found).replace(HOLE, "*")
    at = _container(found)
    items = next((o.items for o in command.options if isinstance(o, Seq)), None)
    if at is not None and (container := _only(items[at]) if items and at < len(items) else found[at]):
        flow.note("endpoint", node, env, f"container {container.split(':')[0]}")
    bits = flow.facts.add(Source("command", shown[:200], span), produced=True)
    for word in found:
        if word.startswith(("http://", "https://")):
            flow.note("endpoint", node, env, word)
    for path, how in paths(found, command):
        bits |= files.touch(flow, known(PathText(path)), how, node, env)
    for value in (command, *([kwargs["input"]] if "input" in kwargs else [])):
        bits |= value.all_data
    for option in command.options:
        if isinstance(option, Seq):
            for item in option.items:
                bits |= item.all_data
    inside = any(t.startswith(files.WORKSPACE) for t in texts(kwargs.get("cwd", known())))
    if (
        any(isinstance(f, Access) and f.how is How.RUN for f in flow.facts.of(bits))
        or any(isinstance(f, Source) and f.kind == "solution" for f in flow.facts.of(bits))
        or (inside and found and _RUNS_CODE.fullmatch(found[0]))
    ):
        apart = "user" if "user" in kwargs else next((w for w in found if _APART.fullmatch(w)), "")
        flow.note("starts", node, env, apart)
    flow.temp |= bits
    data, why = sql(flow, [known(shown)] if "SELECT" in shown.upper() else [], node, env)
    kind = _kind(found)
    if name in ("check_call", "check_output") or ("check" in kwargs and kwargs["check"].options == (True,)):
        fact = flow.facts.add(Judged(span)) if kind == "process" else 0
        flow.fail(node, env, "implicit", "CalledProcessError", Value(data=bits, why=fact))
    elif "timeout" in kwargs or (found and found[0].startswith(("/", "./", HOLE)) and not _SYSTEM.match(found[0])):
        flow.fail(node, env, "implicit", "TimeoutExpired", Value(data=bits))
    out = Value((), True, bits | data, command.all_why | why, kind)
    if name in ("check_output", "getoutput"):
        return replace(out, shape="text")
    return (
        replace(out, shape={"process": "code"}.get(kind, "neutral"))
        if name in ("system", "call", "check_call")
        else out
    )


def _container(found: list[str]) -> int | None:
    """Which word of a docker command names the container."""
    if not found or found[0].rsplit("/", 1)[-1] not in ("docker", "podman") or len(found) < 3:
        return None
    if found[1] == "cp":
        return next((n for n, w in enumerate(found) if n > 1 and ":" in w), None)
    if found[1] not in ("exec", "logs", "inspect", "top", "port", "restart", "stop", "start"):
        return None
    at = 2
    while at < len(found) and found[at].startswith("-"):
        at += 2 if found[at] in ("-u", "--user", "-e", "--env", "-w", "--workdir", "-f", "--format", "--tail") else 1
    return at if at < len(found) else None


def _kind(found: list[str]) -> str:
    """What a command's success says: that the agent's program works, that something is there, or nothing."""
    rest = [w for w in found if not _ASSIGNS.match(w)]
    while rest:
        head = rest[0].rsplit("/", 1)[-1]
        if head in _PRESENCE:
            return "process-presence"
        if head not in _CARRIERS or (
            head in ("bash", "sh") and not any(w.startswith("-") and "c" in w for w in rest[1:2])
        ):
            break
        if head in ("docker", "podman") and any(w in _PRESENCE for w in rest[1:8]):
            return "process-presence"
        if head not in ("sudo", "env", "timeout"):
            return "process-neutral" if head not in ("bash", "sh") else "process"
        rest = rest[1:]
    return "process" if rest and rest[0] != HOLE else "process-neutral" if not rest else "process"


def paths(found: list[str], command: Value) -> list[tuple[str, str]]:
    """The paths in a command's words, and what is done with them."""
    typed = {
        str(o)
        for opt in command.options
        if isinstance(opt, Seq)
        for i in opt.items
        for o in i.options
        if isinstance(o, PathText)
    }
    out: list[tuple[str, str]] = []
    program = True
    carried = bool(found) and found[0].rsplit("/", 1)[-1] in ("docker", "podman", "kubectl", "ssh")
    for n, word in enumerate(found):
        before = found[n - 1] if n else ""
        if word in ("&&", "||", ";", "|"):
            program = True
            continue
        is_path = word in typed or (re.match(r"(?:/|\./|\.\./|~/)[\w.\ue000]", word) and not _SYSTEM.match(word))
        scripted = bool(_INTERPRETERS.match(before)) or (
            before.startswith("-") and n > 1 and bool(_INTERPRETERS.match(found[n - 2]))
        )
        if not is_path and scripted and re.fullmatch(r"[\w./-]+\.(?:py|js|mjs|ts|sh|rb|pl|php|R|jar|lua|go)", word):
            is_path = True
        if is_path and not carried and len(word) < 200 and "\n" not in word and not re.search(r"[$`(){}<>|;*]", word):
            written = before in ("-o", ">", ">>", "--output", "--out", "2>")
            out.append((normal(word), "write" if written else "run" if program or scripted else "read"))
        if not word.startswith("-") and not _ASSIGNS.match(word) and word not in _CARRIERS:
            program = False
    return out


_COLUMN = re.compile(r"""["`\[]?(\w+)["`\]]?\s*(=|<>|!=|<=|>=|<|>|\bI?LIKE\b|\bIN\b|~\*?)\s*(.{0,40})""", re.IGNORECASE)
_IDENTITY = re.compile(
    r"(?:.*_)?(?:id|uuid|name|title|label|slug|key|path|email|username|login|deleted\w*|deletedat|type|schema|displayname|subject)",
    re.IGNORECASE,
)


def sql(flow: Flow, args: list[Value], node: ast.AST, env: Env) -> tuple[int, int]:
    """What a query asks for: tables and columns as keys, conditions beyond the choice of a record as tests."""
    data = why = 0
    span = env.module.span(node)
    for text in (t for a in args[:1] for t in texts(a)):
        clean = text.replace(HOLE, "*")
        if not re.search(r"\bselect\b", clean, re.IGNORECASE):
            continue
        where = re.split(r"\bwhere\b", clean, maxsplit=1, flags=re.IGNORECASE)
        for column, _, other in _COLUMN.findall(where[1]) if len(where) > 1 else []:
            if not _IDENTITY.fullmatch(column) and not re.match(r"[\"`]?\w+[\"`]?\.[\"`]?\w+", other):
                why |= flow.facts.add(Judged(span))
        if re.search(r"\b(?:having|case\s+when)\b", clean, re.IGNORECASE):
            why |= flow.facts.add(Judged(span))
    return data, why
