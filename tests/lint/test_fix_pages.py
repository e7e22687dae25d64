"""Every rule that offers fixes: its page's bad examples are sound once they are fixed, and nothing else changes."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.lint.fix import fix, plan
from scenlint.lint.registry import load_rules, page_text
from scenlint.lint.run import check
from scenlint.task.policy import Policy, Profile
from scenlint.testing import examples, lay

DIGEST = "sha256:" + "5" * 64
PACKAGES = {"requests": "2.32.3", "numpy": "1.26.4", "sqlalchemy": "2.0.30", "pytest": "8.4.1", "flask": "3.0.3"}
RULES = [rule for rule in load_rules().rules if rule.fix]
CASES = [
    pytest.param(rule, example, id=f"{rule.name}: {example.title}")
    for rule in RULES
    for example in examples(page_text(rule))
    if not example.good
]
# What these add is for the author to fill in or to look at; the finding stays until then.
STUBS = {"test-without-criterion"}


def checker(rule, example, root):
    """Check a laid-out example with the rule alone, by a policy that knows every digest that it names."""
    names = {m for text in example.files.values() if text for m in re.findall(r"[\w./-]+:[\w.-]+(?!\S*@)", text)}
    names |= {
        m for text in example.files.values() if text for m in re.findall(r"(?:FROM|image:) +([\w./-]+)$", text, re.M)
    }
    policy = Policy(profile=Profile(example.profile), digests=dict.fromkeys(names, DIGEST), packages=PACKAGES)
    settings = Settings(root=root, policy=policy)
    if not rule.late:  # what suppressions did shows only when the rules they speak of run too
        settings = settings.override(select=[rule.name])

    def run():
        report = check([root], settings, jobs=1)
        assert not report.crashes
        report.findings = [f for f in report.findings if f.rule == rule.name]
        return report

    return run


def contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_fixes_of_a_bad_example_end_its_findings(rule, example, tmp_path):
    root, _ = lay(example, tmp_path)
    run = checker(rule, example, root)
    before = run().findings
    fixable = [f for f in before if f.fix is not None]
    if not fixable:
        pytest.skip("nothing here has a fix")
    was = contents(root)
    after, done = fix(run, unsafe=True)
    assert not done.refused
    assert sum(done.rules.values()) >= len(fixable)
    assert not [f for f in after.findings if f.fix is not None]
    assert len(after.findings) == (len(before) if rule.name in STUBS else len(before) - len(fixable))
    now = contents(root)
    assert {path for path in now if now[path] != was.get(path)} == {
        f.fix.path.relative_to(root).as_posix() for f in fixable
    }
    again, nothing = fix(run, unsafe=True)
    assert not nothing.files
    assert contents(root) == now
    assert len(again.findings) == len(after.findings)


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_a_fix_changes_its_places_only(rule, example, tmp_path):
    root, _ = lay(example, tmp_path)
    found = [f for f in checker(rule, example, root)().findings if f.fix is not None]
    for finding in found:
        for path, file in plan([finding], unsafe=True).files.items():
            assert path == finding.fix.path
            before, after = file.before, file.after
            kept, at = [], 0
            for change in sorted(finding.fix.changes, key=lambda c: (c.start, c.end)):
                kept.append(before.text[at : change.start])
                at = change.end
            kept.append(before.text[at:])
            pattern = "(?s:.*)".join(map(re.escape, kept))
            text = after.text
            for module in finding.fix.imports:
                text = text.replace(f"import {module}\n", "", 1)
            assert re.fullmatch(pattern, text)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_some_example_of_the_page_is_fixed_and_the_page_says_how(rule, tmp_path):
    kinds = set()
    for number, example in enumerate(e for e in examples(page_text(rule)) if not e.good):
        root, _ = lay(example, tmp_path / str(number))
        kinds |= {f.fix.safe for f in checker(rule, example, root)().findings if f.fix is not None}
    assert kinds, "no example of the page has a fix"
    assert (True in kinds) == (rule.fix == "safe")
    how = page_text(rule).partition("## How to fix")[2].partition("\n## ")[0]
    assert "--fix" in how
    assert ("--unsafe-fixes" in how) == (False in kinds)


def test_a_rule_that_declares_no_fix_offers_none(tmp_path):
    for number, rule in enumerate(r for r in load_rules().rules if not r.fix and r.check):
        for other, example in enumerate(e for e in examples(page_text(rule)) if not e.good):
            root, _ = lay(replace(example), tmp_path / f"{number}-{other}")
            assert not [f for f in checker(rule, example, root)().findings if f.fix is not None], rule.name
