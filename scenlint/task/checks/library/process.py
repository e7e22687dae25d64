"""The process that a followed verifier is: what it prints, how it ends, its environment, the code it takes in."""

from __future__ import annotations

import sys
from dataclasses import replace

from scenlint.source.pyfold import join_paths, text_of
from scenlint.source.pyvalue import HOLE, UNKNOWN, Map, PathText, Ref, Value, known, texts, unknown
from scenlint.task.checks.facts import Output, Source
from scenlint.task.checks.library import files
from scenlint.task.checks.library.base import MEANINGS, Call, Meaning, means


@means("print")
def _print(call: Call) -> Value:
    parts: list[Value] = []
    for n, arg in enumerate(call.args):
        parts += [known(" "), arg] if n else [arg]
    value = text_of(parts) if len(parts) != 1 else parts[0]
    return _output(call, "print", value, call.kwargs.get("file"))


@means("sys.stdout.write", "sys.stderr.write")
def _stream(call: Call) -> Value:
    return _output(call, "print", call.first, known(Ref(call.name.removesuffix(".write"))))


@means("pytest.skip", "pytest.xfail")
def _skip(call: Call) -> Value:
    return _output(call, "exit", known(None), None)


def _output(call: Call, kind: str, value: Value, to: Value | None) -> Value:
    flow = call.flow
    flow.outputs.append(Output(kind, value, flow.place(call.node, call.env), flow.why(), flow.stack(), to))
    return known(None)


@means("exit", "quit", "sys.exit", "os._exit")
def _exit(call: Call) -> Value:
    call.flow.exit(call.first if call.args else known(None), call.node, call.env)
    return known(None)


@means("os.abort", "pytest.fail", "pytest.exit")
def _fail(call: Call) -> Value:
    call.flow.fail(call.node, call.env, "fail", "Failed")
    return known(None)


@means("os.getenv", "os.environ.get")
def _variable(call: Call) -> Value:
    default = call.arg(1, "default") if len(call.values) > 1 else None
    return call.flow.variable(call.first, default) if call.args else UNKNOWN


@means("input")
def _stdin(call: Call) -> Value:
    return Value((), True, call.fact(Source("stdin", "", call.span), produced=True), 0, "text")


@means("os.path.join")
def _join_path(call: Call) -> Value:
    out = join_paths(call.args) if call.args else UNKNOWN
    return replace(out, origin=tuple(a.origin for a in call.args if a.origin is not None))


@means("pathlib.Path", "pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PosixPath")
def _path(call: Call) -> Value:
    return _join_path(call) if call.args else known(PathText("."))


# -- data taken in
def _parse(shape: str, error: str) -> Meaning:
    def parse(call: Call) -> Value:
        value = files.opened(call, call.first)
        if call.flow.produced(value):
            call.may_raise(error, value)
        return unknown(value, shape=shape)

    return parse


MEANINGS.update(
    {
        **{
            f"{m}.{f}": _parse("json", "ValueError")
            for m in ("json", "toml", "tomllib", "tomli")
            for f in ("load", "loads")
        },
        **{f"yaml.{f}": _parse("json", "YAMLError") for f in ("safe_load", "full_load")},
        "csv.reader": _parse("rows", "csvError"),
        "csv.DictReader": _parse("rows", "csvError"),
        "xml.etree.ElementTree.fromstring": _parse("", "ParseError"),
    }
)


@means("json.dump", "yaml.dump", "yaml.safe_dump")
def _dump(call: Call) -> Value:
    return files.write(call, call.arg(1), call.first)


# -- code taken in
@means("importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader")
@means("importlib.import_module", "__import__", "runpy.run_path", "runpy.run_module")
@means("ctypes.CDLL", "ctypes.PyDLL", "ctypes.cdll.LoadLibrary")
def _load(call: Call) -> Value:
    """The agent's file becomes a part of the verifier's process."""
    flow = call.flow
    last = call.args[-1] if call.args else UNKNOWN
    names = [o for o in call.first.options if isinstance(o, str)] if call.args else []
    roots = {n.split(".")[0] for n in names}
    if len(call.args) == 1 and roots and roots <= sys.stdlib_module_names:
        return unknown(*call.args)
    bits = files.touch(call, last, "run") if call.args else 0
    theirs = any(flow.setup.agents(r) or (flow.foreign and flow.setup.strangers(r)) for r in roots)
    if not bits and len(call.args) == 1 and names and not theirs:
        return unknown(*call.args)
    if not bits & flow.facts.produced and files.is_own(flow, last):
        return unknown(*call.args)
    call.note("loads")
    bits |= call.fact(Source("import", ", ".join(names), call.span), produced=True)
    call.may_raise("Exception", Value(data=bits))
    return Value((), True, bits, 0, "agent")


@means("importlib.util.module_from_spec")
def _module(call: Call) -> Value:
    return call.first


@means("exec", "eval")
def _exec(call: Call) -> Value:
    if call.flow.produced(call.first):
        call.note("loads")
        call.may_raise("Exception", call.first)
        for option in call.arg(1).options:
            if isinstance(option, Map):
                option.more = True
                option.data |= call.first.all_data
    return unknown(*call.args, shape="opaque")


_REVIVERS = [f"{m}.{f}" for m in ("pickle", "dill", "cloudpickle", "marshal", "joblib") for f in ("load", "loads")]


@means(*_REVIVERS, "pandas.read_pickle", "jsonpickle.decode", "shelve.open", "yaml.unsafe_load")
@means("torch.load", "numpy.load")
def _revive(call: Call) -> Value:
    """Data that may bring code along, which runs as they are read."""
    value = call.first.since(files.guess(call))
    needs = {"torch.load": ("weights_only", False), "numpy.load": ("allow_pickle", True)}.get(call.name)
    if call.flow.produced(value):
        if needs is None or needs[1] in call.kwargs.get(needs[0], UNKNOWN).options:
            call.note("revives")
        call.may_raise("Exception", value)
    return unknown(value, *call.values[1:], shape="opaque")


@means("yaml.load")
def _yaml(call: Call) -> Value:
    """Safe with the loaders that are called so; the others build whatever objects the text names."""
    loaders = [o.name for o in call.arg(1, "Loader").options if isinstance(o, Ref)]
    given = len(call.args) > 1 or "Loader" in call.kwargs
    if call.flow.produced(call.first) and (not given or any(n.endswith((".Loader", ".UnsafeLoader")) for n in loaders)):
        call.note("revives")
    return _parse("json", "YAMLError")(call)


@means("sys.path.insert", "sys.path.append")
def _search_path(call: Call) -> Value:
    added = texts(call.args[-1]) if call.args else []
    call.flow.foreign |= any(t and HOLE not in t and not call.flow.setup.own(t) for t in added)
    return known(None)


# -- the submission, kept apart by DeepGym
def _solution(shape: str) -> Meaning:
    """The helpers of `deepgym_solution`: the submission runs elsewhere, what it returns comes back as data."""

    def helper(call: Call) -> Value:
        bit = call.fact(Source("solution", "", call.span), produced=True)
        call.may_raise("SolutionError", Value(data=bit))
        return Value((), True, bit, 0, shape)

    return helper


_HELPERS = {
    "load_solution": "agent",
    "load_files": "agent",
    "run_solution": "process",
    "read_output": "text",
    "read_output_bytes": "text",
    "solution_source": "text",
    "solution_namespace": "json",
}
MEANINGS.update({f"deepgym_solution.{name}": _solution(shape) for name, shape in _HELPERS.items()})
