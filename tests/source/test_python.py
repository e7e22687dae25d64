"""Python as a tree with positions, and values put together without running anything."""

import ast
from pathlib import Path

import pytest

from scenlint.source.pyfold import binary, join_paths, percent, subscript, text_of
from scenlint.source.python import parse
from scenlint.source.pyvalue import HOLE, UNKNOWN, Map, PathText, Seq, constants, join, known, truth
from scenlint.source.text import Fragment, Source


def module(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return parse(Fragment.of(Source(Path("verify.py"), data), "python"))


def node(tree: ast.AST, kind: type, number: int = 0) -> ast.AST:
    return [n for n in ast.walk(tree) if isinstance(n, kind)][number]


@pytest.mark.parametrize(
    "text",
    [
        "x = 'é' + call(1)\n",
        "\ufeffx = 'é' + call(1)\n",
        "# 🚢\r\nx = '漢字' + call(1)\r\n",
        "def f():\n\tx = '🚢'; call(1)\n",
    ],
)
def test_a_nodes_span_is_exact_whatever_the_encoding(text):
    found = module(text)
    assert found.span(node(found.tree, ast.Call)).text == "call(1)"


def test_spans_inside_an_embedded_fragment_lead_back_to_the_file():
    source = Source(Path("check.sh"), b"python3 -c 'assert x == 42'\n")
    start = source.text.index("assert")
    found = parse(Fragment.of(source, "python", start, start + len("assert x == 42")))
    span = found.span(node(found.tree, ast.Compare))
    assert (span.text, span.column) == ("x == 42", start + len("assert ") + 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\ndef f(:\n    pass\n", 2), ("x = (1\n", 1), ("print 'x'\n", 1), ("x = 'a\n", 1), ("\tx = 1\n  y\n", 1)],
)
def test_a_syntax_fault_has_its_place(text, line):
    found = module(text)
    assert found.fault is not None
    assert found.fault.span.line == line
    assert found.tree.body == []


def test_grammar_of_a_later_python_is_told_apart():
    fault = module('name = f"{row["name"]}"\n').fault
    assert fault is None or fault.newer


@pytest.mark.parametrize(
    "text", ["x = " + "(" * 5000 + ")" * 5000, "x = " + "-" * 200_000 + "1", "x = 1\0", "a" + ".b" * 50_000]
)
def test_text_that_no_parser_takes_is_a_fault_or_a_tree_but_never_a_crash(text):
    found = module(text)
    assert found.fault is not None or found.tree.body


def test_bytes_that_are_no_text_keep_the_columns():
    found = module(b"x = '\xff\xfe' + call(1)\n")
    assert found.span(node(found.tree, ast.Call)).text == "call(1)"


def test_names_are_given_in_full():
    found = module(
        "import os.path as p, numpy as np\nfrom subprocess import run as go\np.join()\ngo()\nnp.linalg.norm()\n"
    )
    called = [found.dotted(n.func) for n in found.calls()]
    assert called == ["os.path.join", "subprocess.run", "numpy.linalg.norm"]
    assert len(list(found.calls("subprocess.run"))) == 1


def test_functions_inside_if_and_try_belong_to_the_module():
    found = module(
        "if 1:\n    def a(): pass\ntry:\n    def b(): pass\nexcept E:\n    def c(): pass\ndef d():\n    def e(): pass\n"
    )
    assert list(found.functions) == ["a", "b", "c", "d"]


def test_docstrings_are_cleaned_and_placed():
    found = module('def f():\n    """First.\n\n    Second.\n    """\n')
    text, span = found.docstring(found.functions["f"])
    assert text == "First.\n\nSecond."
    assert span.line == 2
    assert found.docstring(found.tree) is None


def test_the_head_of_a_function_is_its_signature():
    found = module("@mark\ndef f(\n    a,\n) -> int:\n    return 1\n")
    assert found.head(found.functions["f"]).text == "def f(\n    a,\n) -> int:"


# ---------------------------------------------------------------- values


def test_texts_are_put_together_with_holes_for_what_is_unknown():
    assert text_of([known("http://"), UNKNOWN, known(":"), known(80)]).options == (f"http://{HOLE}:80",)
    assert text_of([known("a", "b"), known(1)]).options == ("a1", "b1")


def test_paths_join_as_the_system_does():
    assert join_paths([known("/app"), known("out"), known("../x.json")]).options == ("/app/x.json",)
    assert join_paths([known("/app"), known("/etc/x")]).options == ("/etc/x",)
    joined = binary(ast.Div(), known(PathText("/app")), UNKNOWN)
    assert joined.options == (f"/app/{HOLE}",)


def test_operators_fold_and_give_up_quietly():
    assert binary(ast.Mult(), known(6), known(7)).options == (42,)
    assert binary(ast.Add(), known("a"), known(1)).open
    assert binary(ast.Div(), known(1), known(0)).open
    assert binary(ast.Pow(), known(10), known(10**9)).open
    assert binary(ast.Mult(), known("x"), known(10**9)).open


def test_percent_fills_what_is_known():
    assert percent("%s:%d", Seq("tuple", [known("host"), UNKNOWN])) == f"host:{HOLE}"


def test_subscripts_reach_into_literals():
    table = known(Map({"a": known(1), "b": known(2)}))
    assert subscript(table, known("a")).options == (1,)
    assert set(subscript(table, UNKNOWN).options) == {1, 2}
    assert subscript(known(Seq("list", [known(1), known(2)])), known(-1)).options == (2,)


def test_the_set_of_values_is_bounded():
    many = join(known(n) for n in range(100))
    assert many.open
    assert len(many.options) < 20


def test_a_value_is_true_false_or_open():
    assert truth(known("x", "y")) is True
    assert truth(known("")) is False
    assert truth(known("x", "")) is None
    assert truth(known(Seq("list", [known(1)], maybe=True))) is None
    assert truth(UNKNOWN) is None


def test_plain_objects_are_whole_or_nothing():
    assert constants(known(Seq("tuple", [known(1), known(Map({"a": known(2)}))]))) == [(1, {"a": 2})]
    assert constants(known(Seq("list", [UNKNOWN]))) == []
    assert constants(known(f"/app/{HOLE}")) == []


def test_nodes_of_some_kinds_come_in_the_order_of_all():
    parsed = module("x = f(1)\nif x:\n    y = g(x)[0]\n")
    assert parsed.of(ast.Call) == [n for n in parsed.nodes if isinstance(n, ast.Call)]
    assert parsed.of(ast.Call, ast.Assign) == [n for n in parsed.nodes if isinstance(n, ast.Call | ast.Assign)]


def test_walking_finds_what_ast_finds_but_the_marks_for_load_and_store():
    parsed = module(
        "def f(a, *b, c=1, **d):\n    return [x for x in a if x not in b] + [f'{c!r:>{d}}', lambda: (yield)]\n"
    )
    assert parsed.nodes == [n for n in ast.walk(parsed.tree) if not isinstance(n, ast.expr_context)]
