"""The logins that a brief gives for its applications, and those that a Python verifier uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scenlint.source.literals import Literals, literals
from scenlint.source.python import PyModule, walk
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.model import HarnessVariables

_SECTION = regex(
    r"^[ \t]*(?:#+|\*\*|__)?[ \t]*[^\n]*(?:credential|log-?in|account|password)s?[^\n]*(?:\*\*|__|:|#)?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = regex(r"^[ \t]*(?:#+[ \t]|\*\*[^*\n]+\*\*[ \t]*:?[ \t]*$|__[^_\n]+__)", re.MULTILINE)
_LINE = regex(
    r"^[ \t]*(?:[-*+•]|\d+\.)?[ \t]*(?P<app>[^\n:→|=]+?)[ \t]*(?::|→|->|=>|–|—)[ \t]*(?P<rest>\S[^\n]*)$", re.MULTILINE
)
_ROW = regex(r"^[ \t]*\|[ \t]*(?P<app>[^|\n]+?)[ \t]*\|(?P<rest>[^\n]+)\|[ \t]*$", re.MULTILINE)
_PAIR = regex(r"(?P<user>\S+|\([^)]*\))\s+(?:/|\|)\s+(?P<password>\S+)")
_NAMED = regex(
    r"(?:user(?:name)?|login|e-?mail)[ \t]*[:=]?[ \t]*(?P<user>\S+?)[,;]?[ \t]+(?:and[ \t]+)?"
    r"(?:password|pass|pw)[ \t]*[:=]?[ \t]*(?P<password>\S+)",
    re.IGNORECASE,
)
_CODE = regex(r"(?P<user>\w*(?:code|pass\w*|pin))[ \t]*[=:][ \t]*(?P<password>\S+)", re.IGNORECASE)  # no user
_USER_KEYS = {"username", "user", "login", "login_id", "loginid", "email", "usr", "user_name", "identity", "account"}
_PASSWORD_KEYS = {"password", "passwd", "pass", "pwd", "user_password", "authcode", "access_code"}
_DATABASE = {"host", "database", "db", "dbname", "port", "dsn", "sslmode", "charset"}


@dataclass(frozen=True)
class Login:
    """`app` and `user` None: not known; `password` is never shown."""

    app: str | None
    user: str | None
    password: str
    span: Span


def told_logins(prose: Fragment, sites: Iterable[str]) -> list[Login]:
    """The logins in the brief's credentials section, each with the site it is for."""
    sites = list(sites)
    out: list[Login] = []
    for section in _SECTION.finditer(prose.text):
        after = _HEADING.search(prose.text, section.end())
        body = prose.text[section.end() : after.start() if after else len(prose.text)]
        for line in (*_LINE.finditer(body), *_ROW.finditer(body)):
            site = _site(line["app"], sites)
            pair = next((m for p in (_PAIR, _NAMED, _CODE) if (m := p.search(line["rest"]))), None)
            if site is not None and pair is not None:
                start = section.end() + line.start("rest") + pair.start()
                user = None if pair["user"].startswith("(") or pair.re.pattern == _CODE.pattern else _bare(pair["user"])
                span = prose.span(start, start + len(pair[0]))
                out.append(Login(site, user, _bare(pair["password"]), span))
    return out


def _site(name: str, sites: list[str]) -> str | None:
    """`hrms` for `Frappe-HRMS`, `roundcubemail` for `Roundcube`."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    known = {site: re.sub(r"[^a-z0-9]", "", site.lower()) for site in sites}
    fitting = [s for s, k in known.items() if k == plain] or [
        s for s, k in known.items() if len(plain) > 3 and (k in plain or plain in k)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _bare(text: str) -> str:
    return text.strip("`*\"'").rstrip(",;").strip("`*\"'")


def used_logins(module: PyModule, variables: HarnessVariables) -> Iterator[Login]:
    """The user and password pairs that the code hands to an application; those for databases are the verifier's own."""
    known = literals(module)
    for node in module.nodes:
        for user, password in _pairs(module, node):
            if password is None:
                continue
            app = _app(module, known, node, variables)
            users = [text for text, _ in _texts(known, user)] if user is not None else [None]
            for secret, place in _texts(known, password):
                yield from (Login(app, name, secret, module.span(place)) for name in users)


def _pairs(module: PyModule, node: ast.AST) -> Iterator[tuple[ast.expr | None, ast.expr | None]]:
    named: dict[str, ast.expr] = {}
    if isinstance(node, ast.Dict):
        named = {k.value.lower(): v for k, v in zip(node.keys, node.values, strict=True) if _is_text(k)}  # type: ignore[union-attr]
    elif isinstance(node, ast.Call):
        named = {k.arg.lower(): k.value for k in node.keywords if k.arg}
        auth = named.pop("auth", None)
        for pair in (auth, node if module.dotted(node.func).endswith("HTTPBasicAuth") else None):
            parts = pair.elts if isinstance(pair, ast.Tuple) else pair.args if isinstance(pair, ast.Call) else []
            if len(parts) == 2:
                yield parts[0], parts[1]
        if re.search(r"connect|engine|client", module.dotted(node.func), re.IGNORECASE):
            return
    if not named.keys() & _DATABASE:
        user = next((v for k, v in named.items() if k in _USER_KEYS), None)
        yield user, next((v for k, v in named.items() if k in _PASSWORD_KEYS), None)


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _texts(known: Literals, node: ast.expr) -> list[tuple[str, ast.expr]]:
    """The texts of an expression; the default where it is an environment variable."""
    if isinstance(node, ast.Call) and known.module.dotted(node.func) in ("os.getenv", "os.environ.get"):
        return known.texts(node.args[1]) or [] if len(node.args) > 1 else []
    if isinstance(node, ast.Name) and len(known.assigned.get(node.id, [])) == 1:
        return _texts(known, known.assigned[node.id][0]) if node is not known.assigned[node.id][0] else []
    return known.texts(node) or []


def _app(module: PyModule, known: Literals, node: ast.AST, variables: HarnessVariables) -> str | None:
    """The site whose address the call, else the function, around a login uses; the only site where there is one."""
    sites = {v.site for v in variables.given.values() if v.site}
    if len(sites) == 1:
        return next(iter(sites))
    around: list[ast.AST] = []
    around += [p for p in module.parents(node) if isinstance(p, ast.Call)][:1]
    function = module.function_of(node)
    around += [function] if function is not None else []
    for place in around:
        found = _reached(known, place, variables, 4)
        if len(found) == 1:
            return next(iter(found))
    return None


def _reached(known: Literals, node: ast.AST, variables: HarnessVariables, depth: int) -> set[str]:
    out: set[str] = set()
    for part in walk(node):
        text = part.value if isinstance(part, ast.Constant) else part.id if isinstance(part, ast.Name) else None
        variable = variables.given.get(text) if isinstance(text, str) else None
        if variable is not None and variable.site:
            out.add(variable.site)
        elif isinstance(part, ast.Name) and depth:
            for value in known.assigned.get(part.id, []):
                out |= _reached(known, value, variables, depth - 1)
    return out
