"""Programs that a followed verifier starts: what they are given, and what their success and their output say."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from scenlint.source.pyfold import normal
from scenlint.source.pyvalue import HOLE, PathText, Seq, Value, known, texts
from scenlint.source.regex import regex
from scenlint.task.checks.facts import Judged, Source
from scenlint.task.checks.library import files
from scenlint.task.checks.library.base import Call, means
from scenlint.task.checks.library.servers import only
from scenlint.task.checks.library.sql import conditions
from scenlint.task.checks.model import Access, How

_SYSTEM = regex(r"/(?:usr/|bin/|sbin/|dev/|proc/|sys/|lib)")
# Programs that carry a question elsewhere: that they ran says nothing about the work.
_CARRIERS = frozenset([
    "docker", "podman", "psql", "mysql", "mariadb", "sqlite3", "curl", "wget", "kubectl", "redis-cli", "mongo",
    "mongosh", "ssh", "sudo", "env", "timeout", "bash", "sh",
])  # fmt: skip
_PRESENCE = frozenset(["test", "[", "ls", "stat", "which", "command"])
_INTERPRETERS = regex(r"(?:.*/)?(?:python[\d.]*|node|ruby|perl|bash|sh|java|php|Rscript|deno|bun|lua|go|dotnet)$")
# Programs that start another one with fewer rights.
_APART = regex(r"(?:.*/)?(?:su|runuser|setpriv|gosu|su-exec|bwrap|firejail|nsjail|unshare|docker|podman|chroot)")
# Programs that run code of the folder they are started in.
_RUNS_CODE = regex(r"(?:.*/)?(?:python[\d.]*|node|npm|npx|yarn|pnpm|bun|deno|make|pytest|cargo|go|ruby|bash|sh|mvn)")
_ASSIGNS = regex(r"^\w+=")
_SCRIPT = regex(r"[\w./-]+\.(?:py|js|mjs|ts|sh|rb|pl|php|R|jar|lua|go)")


@means("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen")
@means("subprocess.getoutput", "subprocess.getstatusoutput", "os.system", "os.popen", "pexpect.spawn", "pexpect.run")
@means("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell")
def _process(call: Call) -> Value:
    flow, name = call.flow, call.name.rsplit(".", 1)[-1]
    command = known(Seq("list", list(call.args))) if name == "create_subprocess_exec" else call.arg(0, "args")
    found = words(command)
    shown = " ".join(found).replace(HOLE, "*")
    _note_endpoints(call, found, command)
    bits = call.fact(Source("command", shown[:200], call.span), produced=True)
    for path, how in paths(found, command):
        bits |= files.touch(call, known(PathText(path)), how)
    for value in [command, *_items(command), *filter(None, [call.kwargs.get("input")])]:
        bits |= value.all_data
    if _runs_submission(call, found, bits):
        call.note("starts", "user" if "user" in call.kwargs else next((w for w in found if _APART.fullmatch(w)), ""))
    flow.temp |= bits
    why = conditions(call, shown) | command.all_why
    kind = _kind(found)
    if name in ("check_call", "check_output") or call.kwargs.get("check", known()).options == (True,):
        call.may_raise(
            "CalledProcessError", Value(data=bits, why=call.fact(Judged(call.span)) if kind == "process" else 0)
        )
    elif "timeout" in call.kwargs or (found and found[0].startswith(("/", "./", HOLE)) and not _SYSTEM.match(found[0])):
        call.may_raise("TimeoutExpired", Value(data=bits))
    out = Value((), True, bits, why, kind)
    if name in ("check_output", "getoutput"):
        return replace(out, shape="text")
    if name in ("system", "call", "check_call"):
        return replace(out, shape="code" if kind == "process" else "neutral")
    return out


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


def _items(command: Value) -> list[Value]:
    return next((o.items for o in command.options if isinstance(o, Seq)), [])


def _note_endpoints(call: Call, found: list[str], command: Value) -> None:
    """Note the container that a docker command goes to, and URLs."""
    for word in found:
        if word.startswith(("http://", "https://")):
            call.note("endpoint", word)
    at = _container(found)
    items = _items(command)
    if at is not None and (name := only(items[at]) if at < len(items) else found[at]):
        call.note("endpoint", f"container {name.split(':')[0]}")


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


def _runs_submission(call: Call, found: list[str], bits: int) -> bool:
    """Whether a command starts the agent's code: by a path, or in the folder that the agent worked in."""
    facts = list(call.flow.facts.of(bits))
    if any(isinstance(f, Access) and f.how is How.RUN for f in facts):
        return True
    if any(isinstance(f, Source) and f.kind == "solution" for f in facts):
        return True
    inside = any(t.startswith(files.WORKSPACE) for t in texts(call.kwargs.get("cwd", known())))
    return inside and bool(found) and _RUNS_CODE.fullmatch(found[0]) is not None


def _kind(found: list[str]) -> str:
    """What a command's success says: that the agent's program works, that something is there, or nothing."""
    rest = [w for w in found if not _ASSIGNS.match(w)]
    while rest:
        head = rest[0].rsplit("/", 1)[-1]
        if head in _PRESENCE:
            return "process-presence"
        shell = head in ("bash", "sh")
        if head not in _CARRIERS or shell:
            return "process"
        if head in ("docker", "podman") and any(w in _PRESENCE for w in rest[1:8]):
            return "process-presence"
        if head not in ("sudo", "env", "timeout"):
            return "process-neutral"
        rest = rest[1:]
    return "process-neutral" if found else "process"


def paths(found: list[str], command: Value) -> list[tuple[str, str]]:
    """The paths in a command's words, and what is done with them."""
    typed = {str(o) for item in _items(command) for o in item.options if isinstance(o, PathText)}
    out: list[tuple[str, str]] = []
    program = True
    carried = bool(found) and found[0].rsplit("/", 1)[-1] in ("docker", "podman", "kubectl", "ssh")
    for n, word in enumerate(found):
        before = found[n - 1] if n else ""
        if word in ("&&", "||", ";", "|"):
            program = True
            continue
        scripted = bool(_INTERPRETERS.match(before))
        scripted |= before.startswith("-") and n > 1 and bool(_INTERPRETERS.match(found[n - 2]))
        shaped = re.match(rf"(?:/|\./|\.\./|~/)[\w.{HOLE}]", word) and not _SYSTEM.match(word)
        is_path = word in typed or bool(shaped) or bool(scripted and _SCRIPT.fullmatch(word))
        if is_path and not carried and len(word) < 200 and not re.search(r"[$`(){}<>|;*\n]", word):
            written = before in ("-o", ">", ">>", "--output", "--out", "2>")
            out.append((normal(word), "write" if written else "run" if program or scripted else "read"))
        if not word.startswith("-") and not _ASSIGNS.match(word) and word not in _CARRIERS:
            program = False
    return out


@means("shutil.which")
def _which(call: Call) -> Value:
    shown = ", ".join(texts(call.first)).replace(HOLE, "*")
    return Value((), True, call.fact(Source("command", shown, call.span), produced=True))
