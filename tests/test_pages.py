"""The rule book: every rule has a page and every page a rule, and every example on a page does what it says."""

import re
from pathlib import Path

import pytest

from scenlint.lint.registry import load_rules, page_text
from scenlint.testing import examples, run_example

BOOK = Path(__file__).parent.parent / "rules"
RULES = [rule for rule in load_rules().rules if rule.module.startswith("scenlint.")]
SECTIONS = ["What it finds", "Why it matters", "Bad", "Good", "How to fix", "When to suppress"]
CASES = [
    pytest.param(rule, example, id=f"{rule.name}: {number} {example.title}")
    for rule in RULES
    for number, example in enumerate(examples(page_text(rule)))
]


def test_every_page_belongs_to_a_rule():
    pages = {
        path.relative_to(BOOK) for path in BOOK.glob("*/*.md") if path.parent.name not in ("probes", "experiments")
    }
    assert pages == {rule.page for rule in RULES}


def test_codes_are_unique_and_follow_the_family():
    families = ["meta", "format", "brief", "reproducible", "honest", "verifier", "fair", "dynamic", "calibration"]
    assert len({rule.code for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.family == families[int(rule.code[2])], rule.code


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_page_has_its_sections_and_both_kinds_of_example(rule):
    page = page_text(rule)
    assert page.splitlines()[0] == f"# {rule.name}"
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS
    kinds = {example.good for example in examples(page)}
    assert kinds == {True, False}


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule, example, tmp_path):
    if not example.good:
        assert example.expected, "a bad example marks where the finding is due"
    run_example(example, rule, tmp_path)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_rule_has_a_summary_and_says_what_refutes_it(rule):
    assert rule.summary.endswith(".")
    assert rule.refute
