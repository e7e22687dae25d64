"""Assertions that are calls (unittest, numpy.testing), comparisons within a tolerance, and regular expressions."""

from __future__ import annotations

from dataclasses import replace

from scenlint.source.pyvalue import UNKNOWN, Value, known, truth, unknown
from scenlint.task.checks.facts import Judged
from scenlint.task.checks.library.base import Call, means

_CLOSE = [f"{m}.{f}" for m in ("numpy", "math", "torch") for f in ("allclose", "isclose", "array_equal")]
_TOLERANCES = ("rtol", "atol", "rel_tol", "abs_tol", "rel", "abs", "delta")
_OPERATORS = {
    "assertTrue": "true", "assertFalse": "false", "assertIsNone": "is none", "assertIsNotNone": "is not none",
    "assertEqual": "==", "assertEquals": "==", "assertNotEqual": "!=", "assertIs": "is", "assertIsNot": "is not",
    "assertIn": "in", "assertNotIn": "not in", "assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<",
    "assertLessEqual": "<=", "assertAlmostEqual": "==", "assertListEqual": "==", "assertDictEqual": "==",
    "assertSequenceEqual": "==", "assertCountEqual": "==", "assertSetEqual": "==", "assertMultiLineEqual": "==",
    "assertRegex": "matches", "assertTupleEqual": "==",
    "assert_allclose": "==", "assert_array_equal": "==", "assert_equal": "==", "assert_almost_equal": "==",
    "assert_array_almost_equal": "==", "assert_frame_equal": "==", "assert_series_equal": "==",
}  # fmt: skip


def assertion(call: Call, name: str) -> Value:
    """`assertEqual(a, b)`, `assert_allclose(a, b)` and their kin."""
    flow, node, env = call.flow, call.node, call.env
    op = _OPERATORS.get(name)
    if op in ("true", "false") and call.args:
        value = flow.decide(call.first, node, env)
        if truth(value) is not (op == "true"):
            flow.fail(node, env, "assert", "AssertionError", value)
        return known(None)
    if op in ("is none", "is not none") and call.args:
        value = flow.compare(op.removesuffix(" none"), call.first, known(None), node, env)
    elif op is not None and len(call.args) > 1:
        close = "close" in name.lower() or "almost" in name.lower()
        value = flow.compare(
            op, call.args[0], call.args[1], node, env, tolerance=_tolerance(call, 1e-7) if close else None
        )
    else:
        value = unknown(*call.values)
        value = value.since(0, call.fact(Judged(call.span), basis=value.data))
    if truth(value) is not True:
        flow.fail(node, env, "assert", "AssertionError", value)
    return known(None)


def _tolerance(call: Call, default: float) -> float:
    found = [o for k in _TOLERANCES if k in call.kwargs for o in call.kwargs[k].options if isinstance(o, int | float)]
    return max(map(float, found), default=default)


@means("pytest.approx")
def _approx(call: Call) -> Value:
    return replace(call.first, shape=f"approx:{_tolerance(call, 1e-6)}") if call.args else UNKNOWN


@means(*_CLOSE)
def _close(call: Call) -> Value:
    if len(call.args) < 2:
        return unknown(*call.args, shape="judged")
    tolerance = None if call.name.endswith("array_equal") else _tolerance(call, 1e-5)
    return call.flow.compare("==", call.args[0], call.args[1], call.node, call.env, tolerance=tolerance)


@means("re.compile")
def _compiled(call: Call) -> Value:
    """A pattern stays the text it was compiled from."""
    return replace(call.first, shape="pattern")


@means("re.match", "re.search", "re.fullmatch", "re.findall", "re.finditer", "re.split", "re.sub", "fnmatch.fnmatch")
def _matched(call: Call) -> Value:
    """A regular expression held against produced text: a test by itself."""
    if len(call.args) < 2:
        return unknown(*call.args)
    pattern, subject = call.args[0], call.args[-1] if call.name == "re.sub" else call.args[1]
    if call.name == "fnmatch.fnmatch":
        pattern, subject = subject, pattern
    if not call.flow.produced(subject):
        return unknown(*call.args)
    if call.name in ("re.split", "re.sub"):
        return unknown(subject, shape="lines" if call.name == "re.split" else "text")
    test = call.flow.compare("matches", subject, pattern, call.node, call.env)
    return replace(unknown(subject).since(0, test.all_why), shape="selected" if "find" in call.name else "found")
