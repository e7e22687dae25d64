"""What calls of Python's own functions and of common libraries mean for a verifier that is followed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
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
    join,
    join_paths,
    known,
    plain,
    replace_shape,
    text_of,
    texts,
    truth,
    unknown,
)
from scenlint.task.checks import commands, files, methods
from scenlint.task.checks.facts import Asked, Judged, Output, Source
from scenlint.task.checks.iteration import maybe
from scenlint.task.checks.model import Key, Name

if TYPE_CHECKING:
    from scenlint.task.checks.flow import Flow
    from scenlint.task.checks.scope import Env

Args = list[Value]
Kwargs = dict[str, Value]


@dataclass(frozen=True, eq=False)
class Method:
    """A method of a value, not yet called."""

    value: Value
    name: str


def call(flow: Flow, name: str, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    """A call of something that is not the verifier's own, by its dotted name."""
    last = name.rsplit(".", 1)[-1]
    if name in flow.setup.helpers:
        return flow.setup.helpers[name](flow, args, kwargs, node, env)
    simple = _FUNCTIONS.get(name)
    if simple is not None:
        return simple(flow, args, kwargs, node, env)
    for part in (files.call, commands.call):
        found = part(flow, name, args, kwargs, node, env)
        if found is not None:
            return found
    if last.startswith(("assert_", "assert")) or name in ("jsonschema.validate", "validate_call"):
        return assertion(flow, last, args, kwargs, node, env)
    pure = _PURE.get(name)
    if pure is not None:
        return combine(lambda *a: pure(*(plain(x) for x in a)), *args) if args else unknown()
    if name in _MATCHERS:
        return matched(flow, name, args, node, env)
    return opaque(flow, known(Ref(name)), args, kwargs, node, env)


def opaque(flow: Flow, target: Value, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    """A call that cannot be seen through: its result may rest on all that went into it."""
    out = unknown(target, *args, *kwargs.values())
    if target.shape == "agent":
        for name in kwargs:
            at = next((k for k in getattr(node, "keywords", []) if k.arg == name), node)
            flow.facts.add(Name(name, "argument", env.module.span(at)))
        flow.fail(node, env, "implicit", "Exception", target)
        return replace(out, shape="agent" if not args and not kwargs else "")
    for value in (*args, *kwargs.values()):
        for option in value.options:
            if type(option).__name__ == "Func" and option.node not in [f.func.node for f in flow.frames if f.func]:
                inner = flow.enter(option, [], {}, node, env)  # a callback: it may be called
                out = out.since(inner.all_data, inner.all_why)
    out = out.since(files.guess(flow, target, args, kwargs, node, env))
    if flow.produced(out) or target.options:
        flow.fail(node, env, "implicit", "Exception", out)
    return replace(out, shape="opaque") if flow.produced(out) else out


def method(flow: Flow, option: Method, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return methods.call(flow, option.value, option.name, args, kwargs, node, env)


def constant(flow: Flow, name: str) -> Value:
    """An attribute of a library."""
    if name in _CONSTANTS:
        return known(_CONSTANTS[name])
    return known(Ref(name))


def field(flow: Flow, value: Value, name: str, node: ast.AST, env: Env) -> Value:
    """An attribute of a value that is no object of ours."""
    option = value.options[0] if value.options else None
    if isinstance(option, PathText):
        found = methods.path_field(value, name)
        if found is not None:
            return found
    if type(option).__name__ == "File" and name == "name":
        return option.path  # type: ignore[union-attr, no-any-return]
    up = env.module.parent(node)
    if isinstance(up, ast.Call) and up.func is node:
        if value.shape == "agent":
            bit = flow.facts.add(Name(name, "attribute", env.module.span(node)))
            return value.since(bit)
        return Value((Method(value, name),), False, value.data, value.why)
    if value.shape == "agent":
        bit = flow.facts.add(Name(name, "attribute", env.module.span(node)))
        flow.fail(node, env, "implicit", "AttributeError", value)
        return value.since(bit)
    shape = _FIELDS.get((value.shape, name), _FIELDS.get(("", name), ""))
    if value.shape == "process-neutral":
        shape = {"returncode": "neutral", "stdout": "text", "stderr": "text"}.get(name, "")
    if value.shape == "process-presence":
        shape = {"returncode": "presence", "stdout": "text", "stderr": "text"}.get(name, "")
    return unknown(value, shape=shape)


_FIELDS = {
    ("process", "returncode"): "code", ("process", "stdout"): "text", ("process", "stderr"): "text",
    ("reply", "status_code"): "status", ("reply", "status"): "status", ("reply", "ok"): "status",
    ("reply", "text"): "text", ("reply", "content"): "text",
    ("", "st_size"): "extent", ("", "columns"): "rows", ("", "size"): "size", ("", "stdout"): "text", ("", "stderr"): "text",
    ("json", "columns"): "rows",
}  # fmt: skip
_CONSTANTS: dict[str, Any] = {
    "os.sep": "/", "os.linesep": "\n", "os.pathsep": ":", "os.devnull": "/dev/null", "os.curdir": ".", "os.pardir": "..",
    "sys.executable": "python3", "sys.platform": "linux", "math.pi": 3.141592653589793, "math.e": 2.718281828459045,
    "typing.TYPE_CHECKING": False, "TYPE_CHECKING": False,
    "string.ascii_lowercase": "abcdefghijklmnopqrstuvwxyz", "string.ascii_uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "string.digits": "0123456789", "math.inf": float("inf"),
}  # fmt: skip
_PURE: dict[str, Callable[..., Any]] = {
    "int": int, "float": float, "str": str, "bytes": bytes, "round": round, "abs": abs, "min": min, "max": max, "ord": ord,
    "chr": chr, "hex": hex, "repr": repr, "divmod": divmod, "complex": complex, "hash": lambda x: NotImplemented,
    "len": len, "sum": sum,
}  # fmt: skip
_MATCHERS = {f"re.{n}" for n in ("match", "search", "fullmatch", "findall", "finditer", "split", "sub")} | {
    "fnmatch.fnmatch"
}


# -- builtins
def _len(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    value = args[0] if args else UNKNOWN
    sizes: list[int] = []
    for option in value.options:
        if isinstance(option, Seq | Map) and not option.more and not getattr(option, "maybe", False):
            sizes.append(len(option.items))
        elif isinstance(option, str | bytes) and HOLE not in str(option):
            sizes.append(len(option))
    base = unknown(value, shape="extent" if value.shape == "text" else "size")
    if value.open or len(sizes) < len(value.options) or not sizes:
        return base
    return replace(base, options=tuple(dict.fromkeys(sizes)), open=False)


def _collection(kind: str) -> Callable[..., Value]:
    def make(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
        if kind == "dict":
            given = args[0] if args else known(Map(dict(kwargs)))
            return given if given.options else unknown(given, shape=given.shape)
        if not args:
            return known(Seq(kind))
        value = args[0]
        if not any(isinstance(o, Seq | Map) for o in value.options):
            return unknown(value, shape=value.shape)
        items, more = flow.elements(value)
        return known(Seq(kind, items, more, value.all_data, value.all_why, maybe(value)))

    return make


def _truths(every: bool) -> Callable[..., Value]:
    def judge(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
        value = args[0] if args else UNKNOWN
        items, more = flow.elements(value)
        decided = [flow.decide(i, node, env) for i in items or ([flow.element_of(value)] if more else [])]
        out = replace(unknown(value, *decided), shape="judged")
        found = [truth(d) for d in decided]
        if maybe(value) and not every:
            asked = flow.facts.add(Asked(env.module.span(node)), basis=out.data) if flow.produced(out) and not out.why else 0
            return out.since(0, asked)
        if every is False and True in found and not out.why:
            return replace(out, options=(True,), open=False)
        if not more and None not in found and not out.why:
            return replace(out, options=(all(found) if every else any(found),), open=False)
        return out

    return judge


def _bool(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    value = flow.decide(args[0], node, env) if args else known(False)
    decided = truth(value)
    return unknown(value, shape="judged") if decided is None else replace(value, options=(decided,), open=False)


def _isinstance(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    out = unknown(*args[:1], shape="judged")
    if args and flow.produced(args[0]):
        containers = {o.name for a in args[1:2] for o in a.options if isinstance(o, Ref)} <= {"dict", "list", "str", "bytes"}
        if containers and not any(isinstance(f, Key) for f in flow.facts.of(args[0].all_data)):
            return out.since(0, flow.facts.add(Asked(env.module.span(node)), basis=out.data))
        return out.since(0, flow.facts.add(Judged(env.module.span(node)), basis=out.data))
    return out


def _hasattr(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    out = unknown(*args, shape="judged")
    if not args or not flow.produced(args[0]):
        return out
    if len(args) > 1 and args[0].shape == "agent":
        for option in args[1].options:
            if isinstance(option, str):
                at = args[1].origin.span if hasattr(args[1].origin, "span") else env.module.span(node)
                flow.facts.add(Name(option, "attribute", at))
    return out.since(0, flow.facts.add(Asked(env.module.span(node)), basis=out.data))


def _getattr(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    found = [
        flow.attribute(args[0], option, node, env)
        for option in (args[1].options if len(args) > 1 else ())
        if isinstance(option, str) and HOLE not in option
    ]
    out = join(found) if found else unknown(*args, shape=args[0].shape if args else "")
    return join([out, args[2]]) if len(args) > 2 else out


def _enumerate(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    value = args[0] if args else UNKNOWN
    items, more = flow.elements(value)
    begin = (args[1:] or [kwargs.get("start", known(0))])[0].options
    first = begin[0] if begin and isinstance(begin[0], int) else 0
    pairs = [known(Seq("tuple", [known(first + n), item])) for n, item in enumerate(items)]
    if not pairs and more:
        pairs = [known(Seq("tuple", [UNKNOWN, flow.element_of(value)]))]
    return known(Seq("list", pairs, more, value.all_data, value.all_why, maybe(value)))


def _zip(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    columns = [flow.elements(a) for a in args]
    sizes = [len(items) for items, more in columns if items or not more]
    count = min(sizes, default=1)
    rows = [
        known(Seq("tuple", [items[n] if n < len(items) else flow.element_of(a) for (items, _), a in zip(columns, args, strict=True)]))
        for n in range(count)
    ]  # fmt: skip
    out = unknown(*args)
    return known(Seq("list", rows, any(more for _, more in columns), out.data, out.why, any(map(maybe, args))))


def _range(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    bounds = [
        a.options[0] if len(a.options) == 1 and not a.open and isinstance(a.options[0], int) else None for a in args
    ]
    if bounds and None not in bounds and len(range(*bounds)) <= 40:  # type: ignore[arg-type]
        return known(Seq("list", [known(n) for n in range(*bounds)]))  # type: ignore[arg-type]
    return unknown(*args)


def _sorted(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    value = args[0] if args else UNKNOWN
    key = kwargs.get("key")
    if value.options and all(isinstance(o, Seq) and not o.more for o in value.options) and key is None:
        try:
            seqs = [replace(o, kind="list", items=sorted(o.items, key=lambda v: v.options[0])) for o in value.options]
            return replace(value, options=tuple(seqs))
        except (TypeError, IndexError):
            pass
    items, more = flow.elements(value)
    if key is not None and (items or more):
        flow.apply(key, [items[0] if items else flow.element_of(value)], {}, node, env)
    if not items:
        return unknown(value, shape=value.shape)
    return known(Seq("list", items, more, value.all_data, value.all_why, maybe(value)))


def _map(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    if len(args) < 2:
        return UNKNOWN
    items, more = flow.elements(args[1])
    out = [flow.apply(args[0], [i], {}, node, env) for i in items or ([flow.element_of(args[1])] if more else [])]
    base = unknown(args[1], *out)
    return known(Seq("list", out, more, base.data, base.why, maybe(args[1])))


def _sum(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return unknown(*args, shape="count")


def _first(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    """`next(...)`, `min(...)`, `max(...)` over an iterable."""
    if not args:
        return UNKNOWN
    items, more = flow.elements(args[0])
    out = [
        *items,
        *([flow.element_of(args[0])] if more and not items else []),
        *args[1:],
        *filter(None, [kwargs.get("default")]),
    ]
    return join(out).since(args[0].all_data, args[0].all_why)


def _extreme(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return _first(flow, args, kwargs, node, env) if len(args) == 1 else unknown(*args, shape="")


def _number(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    value = args[0] if args else known(0)
    function: Callable[[Any], Any] = (
        float if isinstance(node, ast.Call) and env.module.dotted(node.func) == "float" else int
    )
    out = combine(lambda o: function(plain(o)), value)
    if flow.produced(value):
        flow.fail(node, env, "implicit", "ValueError", value)
    return replace_shape(out, value.shape if value.shape in ("size", "count") else "")


def _str(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    if not args:
        return known("")
    value = args[0]
    out = text_of([value]) if value.options and not value.open else unknown(value, shape="text")
    return replace(out, origin=value.origin)


def _print(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    parts: list[Value] = []
    for n, arg in enumerate(args):
        parts += [known(" "), arg] if n else [arg]
    value = text_of(parts) if len(parts) != 1 else parts[0]
    flow.outputs.append(Output("print", value, flow.place(node, env), flow.why(), flow.stack(), kwargs.get("file")))
    return known(None)


def _stream(name: str, flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    to = known(Ref(name))
    value = args[0] if args else UNKNOWN
    flow.outputs.append(Output("print", value, flow.place(node, env), flow.why(), flow.stack(), to))
    return known(None)


def _exit(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    flow.exit(args[0] if args else known(None), node, env)
    return known(None)


def _fail(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    flow.fail(node, env, "fail", "Failed")
    return known(None)


def _skip(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    flow.outputs.append(Output("exit", known(None), flow.place(node, env), flow.why(), flow.stack()))
    return known(None)


def _approx(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    limit = next(
        (kwargs[k].options[0] for k in ("rel", "abs", "rel_tol", "abs_tol") if k in kwargs and kwargs[k].options), ""
    )
    return replace(args[0], shape=f"approx:{limit}") if args else UNKNOWN


def _close(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    limits = [o for k in ("rtol", "atol", "rel_tol", "abs_tol") if k in kwargs for o in kwargs[k].options]
    numbers = [float(o) for o in limits if isinstance(o, int | float)]
    if len(args) < 2:
        return unknown(*args, shape="judged")
    return flow.compare("==", args[0], args[1], node, env, tolerance=max(numbers, default=1e-5))


def _getenv(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    default = args[1] if len(args) > 1 else kwargs.get("default")
    return flow.variable(args[0], default, node, env) if args else UNKNOWN


def _stdin(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    bit = flow.facts.add(Source("stdin", "", env.module.span(node)), produced=True)
    return Value((), True, bit, 0, "text")


def _parse(shape: str, error: str) -> Callable[..., Value]:
    def parse(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
        value = files.opened(flow, args[0], node, env) if args else UNKNOWN
        if flow.produced(value):
            flow.fail(node, env, "implicit", error, value)
        return unknown(value, shape=shape)

    return parse


def _dump(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    target = args[1] if len(args) > 1 else UNKNOWN
    return files.write(flow, target, args[0] if args else UNKNOWN, node, env)


def _deepcopy(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return args[0] if args else UNKNOWN


def _cast(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return args[1] if len(args) > 1 else UNKNOWN


def _open_module(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    """importlib and runpy: the agent's file becomes a module of the verifier's process."""
    last = args[-1] if args else UNKNOWN
    bits = files.touch(flow, last, "run", node, env) if args else 0
    names = [o for o in (args[0].options if args else ()) if isinstance(o, str)]
    roots = {n.split(".")[0] for n in names}
    theirs = any(flow.setup.agents(r) or (flow.foreign and flow.setup.strangers(r)) for r in roots)
    if not bits and len(args) == 1 and names and not theirs:
        return unknown(*args)
    if bits & flow.facts.produced or not files.is_own(flow, last):
        flow.note("loads", node, env)
        bits |= flow.facts.add(Source("import", ", ".join(names), env.module.span(node)), produced=True)
        flow.fail(node, env, "implicit", "Exception", Value(data=bits))
        return Value((), True, bits, 0, "agent")
    return unknown(*args)


def _exec(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    if args and flow.produced(args[0]):
        flow.note("loads", node, env)
        flow.fail(node, env, "implicit", "Exception", args[0])
        for value in args[1:2]:
            for option in value.options:
                if isinstance(option, Map):
                    option.more = True
                    option.data |= args[0].all_data
    return unknown(*args, shape="opaque")


def _solution(shape: str) -> Callable[..., Value]:
    """The helpers of `deepgym_solution`: the submission runs elsewhere, what it returns comes back as data."""

    def helper(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
        bit = flow.facts.add(Source("solution", "", env.module.span(node)), produced=True)
        flow.fail(node, env, "implicit", "SolutionError", Value(data=bit))
        return Value((), True, bit, 0, shape)

    return helper


def _search_path(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    flow.foreign |= bool(args) and any(t and not flow.setup.own(t) for t in texts(args[-1]) if HOLE not in t)
    return known(None)


def _same_module(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return args[0] if args else UNKNOWN


def _partial(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    out: list[Value] = []
    for option in args[0].options if args else ():
        if type(option).__name__ == "Func" and option.bound is None and len(args) == 2:
            out.append(known(replace(option, bound=args[1])))
    return join(out) if out else (args[0] if args else UNKNOWN)


def _join_path(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    out = join_paths(args) if args else UNKNOWN
    return replace(out, origin=tuple(a.origin for a in args if a.origin is not None))


def _path(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return _join_path(flow, args, kwargs, node, env) if args else known(PathText("."))


def _compiled(flow: Flow, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    return replace(args[0], shape="pattern") if args else UNKNOWN


def matched(flow: Flow, name: str, args: Args, node: ast.AST, env: Env) -> Value:
    """A regular expression held against produced text: a test by itself."""
    out = unknown(*args)
    if len(args) < 2:
        return out
    subject = args[-1] if name in ("re.sub",) else args[1]
    pattern = args[0]
    if name == "fnmatch.fnmatch":
        subject, pattern = args[0], args[1]
    if not flow.produced(subject):
        return out
    test = flow.compare("matches", subject, pattern, node, env)
    if name in ("re.split", "re.sub"):
        return unknown(subject, shape="text")
    return replace(unknown(subject).since(0, test.all_why), shape="selected" if "find" in name else "found")


def assertion(flow: Flow, name: str, args: Args, kwargs: Kwargs, node: ast.AST, env: Env) -> Value:
    """`assertEqual(a, b)`, `assert_allclose(a, b)` and their kin."""
    op = _ASSERTIONS.get(name)
    if op in ("true", "false") and args:
        value = flow.decide(args[0], node, env)
        if truth(value) is not (op == "true"):
            flow.fail(node, env, "assert", "AssertionError", value)
        return known(None)
    if op in ("is none", "is not none") and args:
        value = flow.compare("is" if op == "is none" else "is not", args[0], known(None), node, env)
    elif op is not None and len(args) > 1:
        left, right = (args[1], args[0]) if op == "matches" and name.startswith("assertRegexp") else (args[0], args[1])
        close = any(k in name.lower() for k in ("close", "almost"))
        value = flow.compare(op, left, right, node, env, tolerance=1e-7 if close else None)
    else:
        value = unknown(*args, *kwargs.values())
        value = value.since(0, flow.facts.add(Judged(env.module.span(node)), basis=value.data))
    if truth(value) is not True:
        flow.fail(node, env, "assert", "AssertionError", value)
    return known(None)


_ASSERTIONS = {
    "assertTrue": "true", "assertFalse": "false", "assertIsNone": "is none", "assertIsNotNone": "is not none",
    "assertEqual": "==", "assertEquals": "==", "assertNotEqual": "!=", "assertIs": "is", "assertIsNot": "is not",
    "assertIn": "in", "assertNotIn": "not in", "assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<",
    "assertLessEqual": "<=", "assertAlmostEqual": "==", "assertListEqual": "==", "assertDictEqual": "==",
    "assertSequenceEqual": "==", "assertCountEqual": "==", "assertSetEqual": "==", "assertMultiLineEqual": "==",
    "assertRegex": "matches", "assertTupleEqual": "==",
    "assert_allclose": "==", "assert_array_equal": "==", "assert_equal": "==", "assert_almost_equal": "==",
    "assert_array_almost_equal": "==", "assert_frame_equal": "==", "assert_series_equal": "==",
}  # fmt: skip
_NUMPY_CLOSE = [f"{m}.{f}" for m in ("numpy", "math", "torch") for f in ("allclose", "isclose", "array_equal")]
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "len": _len, "all": _truths(True), "any": _truths(False), "bool": _bool, "isinstance": _isinstance,
    "hasattr": _hasattr, "callable": _hasattr, "getattr": _getattr, "enumerate": _enumerate, "zip": _zip, "range": _range,
    "sorted": _sorted, "map": _map, "sum": _sum, "next": _first, "iter": _deepcopy, "min": _extreme, "max": _extreme,
    "int": _number, "float": _number, "str": _str, "print": _print, "sys.stdout.write": partial(_stream, "sys.stdout"), "sys.stderr.write": partial(_stream, "sys.stderr"), "input": _stdin, "reversed": _deepcopy,
    "list": _collection("list"), "tuple": _collection("tuple"), "set": _collection("set"), "frozenset": _collection("set"),
    "dict": _collection("dict"), "collections.OrderedDict": _collection("dict"), "collections.deque": _collection("list"),
    "exit": _exit, "quit": _exit, "sys.exit": _exit, "os._exit": _exit, "os.abort": _fail,
    "pytest.fail": _fail, "pytest.exit": _fail, "pytest.skip": _skip, "pytest.xfail": _skip, "pytest.approx": _approx,
    "os.getenv": _getenv, "os.environ.get": _getenv, "re.compile": _compiled, "json.loads": _parse("json", "ValueError"),
    "json.load": _parse("json", "ValueError"), "yaml.safe_load": _parse("json", "YAMLError"),
    "yaml.load": _parse("json", "YAMLError"), "toml.loads": _parse("json", "ValueError"),
    "toml.load": _parse("json", "ValueError"), "tomllib.loads": _parse("json", "ValueError"),
    "tomllib.load": _parse("json", "ValueError"), "csv.DictReader": _parse("rows", "csvError"),
    "csv.reader": _parse("rows", "csvError"), "xml.etree.ElementTree.fromstring": _parse("", "ParseError"),
    "io.StringIO": _deepcopy, "io.BytesIO": _deepcopy, "io.TextIOWrapper": _deepcopy, "json.dump": _dump,
    "copy.deepcopy": _deepcopy, "copy.copy": _deepcopy, "typing.cast": _cast, "cast": _cast, "functools.partial": _partial,
    "importlib.util.spec_from_file_location": _open_module, "importlib.machinery.SourceFileLoader": _open_module,
    "importlib.import_module": _open_module, "__import__": _open_module, "runpy.run_path": _open_module,
    "deepgym_solution.load_solution": _solution("agent"), "deepgym_solution.load_files": _solution("agent"),
    "deepgym_solution.run_solution": _solution("process"), "deepgym_solution.read_output": _solution("text"),
    "deepgym_solution.read_output_bytes": _solution("text"), "deepgym_solution.solution_source": _solution("text"),
    "deepgym_solution.solution_namespace": _solution("json"), "sys.path.insert": _search_path, "sys.path.append": _search_path, "exec": _exec, "eval": _exec,
    "ctypes.CDLL": _open_module, "ctypes.cdll.LoadLibrary": _open_module, "ctypes.PyDLL": _open_module,
    "importlib.util.module_from_spec": _same_module, "runpy.run_module": _open_module,
    "os.path.join": _join_path, "pathlib.Path": _path, "pathlib.PurePath": _path, "pathlib.PurePosixPath": _path,
    "pathlib.PosixPath": _path, "os.fspath": _str,
    **dict.fromkeys(_NUMPY_CLOSE, _close),
}  # fmt: skip
