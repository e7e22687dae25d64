"""The outputs with a line per finding or rule: concise, GitHub commands, statistics."""

from textwrap import dedent

import pytest

from scenlint.report import render
from scenlint.task.finding import Severity


def test_concise_is_one_line_each(desk):
    desk.add(desk.span("a b/f.py", "日 x = 1\n", "x"), "first\nsecond", help="unseen")
    desk.add(desk.root / "a", "`task.toml` is missing", rule="missing-file", code="SL101", severity=Severity.WARNING)
    assert render(desk.report, "concise") == dedent("""\
        a:1:1: W SL101 missing-file `task.toml` is missing
        a b/f.py:1:3: E SL301 unpinned-image first second
        1 task checked: 1 error, 1 warning
        """)


def test_github_escapes_orders_and_places(desk, monkeypatch):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    desk.add(desk.span("a/f,1:2%", "x y\nz\n", "y"), "100% of\r\nthis", help="do, that: now", severity=Severity.INFO)
    desk.add(desk.span("b", "x y\nz\n", "y\nz"), severity=Severity.ERROR)
    desk.add(desk.root / "c", severity=Severity.WARNING)
    title = "title=SL301 unpinned-image"
    assert render(desk.report, "github").splitlines() == [
        f"::error file=b,line=1,endLine=2,{title}::is wrong",
        f"::warning file=c,{title}::is wrong",
        f"::notice file=a/f%2C1%3A2%25,line=1,endLine=1,col=3,endColumn=4,{title}::"
        "100%25 of%0D%0Athis%0Ahelp: do, that: now",
        "1 task checked: 1 error, 1 warning, 1 info",
    ]


def test_github_paths_count_from_the_checkout(desk, monkeypatch):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(desk.root.parent))
    desk.add(desk.span("f", "x", "x"))
    assert f"file={desk.root.name}/f,line=1" in render(desk.report, "github")


def test_statistics_count_findings_and_tasks_per_rule(desk):
    for task in ("a", "a", "b"):
        desk.add(desk.root / task, task=task)
    desk.add(desk.root, rule="missing-file", code="SL101", severity=Severity.WARNING)
    expected = dedent("""\
        findings  tasks  severity  code   rule
               3      2  error     SL301  unpinned-image
               1      1  warning   SL101  missing-file

        1 task checked: 3 errors, 1 warning
        """)
    assert render(desk.report, "statistics") == expected
    assert render(desk.report, "text", statistics=True) == expected
    assert render(desk.report, "json", statistics=True) == render(desk.report, "json")


def test_statistics_of_a_clean_run_is_the_last_line(desk):
    assert render(desk.report, "statistics") == "1 task checked: no findings\n"


def test_unknown_format_names_the_known_ones(desk):
    with pytest.raises(ValueError, match="unknown output format `html`; known: text, concise"):
        render(desk.report, "html")
