"""`scenlint rules`."""

import json

from scenlint.lint.registry import load_rules


def test_text_lists_every_rule_once_in_the_order_of_codes(scenlint):
    done = scenlint("rules")
    assert done.returncode == 0
    head, *rows = done.stdout.split("\n\n")[0].splitlines()
    assert head.split() == ["code", "name", "severity", "kind", "fix", "finds"]
    assert [row.split()[:2] for row in rows] == [[rule.code, rule.name] for rule in load_rules().rules]
    assert done.stdout.splitlines()[-1] == f"{len(rows)} rules; `scenlint explain RULE` prints the page of one"


def test_json_holds_what_a_rule_declares(scenlint):
    listed = {entry["name"]: entry for entry in json.loads(scenlint("rules", "--format", "json").stdout)}
    assert set(listed) == {rule.name for rule in load_rules().rules}
    entry = listed["unreadable-file"]
    rule = load_rules().find("unreadable-file")
    assert (entry["code"], entry["severity"], entry["kind"]) == ("SL004", "error", "fact")
    assert (entry["family"], entry["page"]) == ("meta", "meta/unreadable_file.md")
    assert entry["summary"] == rule.summary


def test_markdown_is_a_table_with_links_to_the_pages(scenlint):
    lines = scenlint("rules", "-f", "markdown").stdout.splitlines()
    assert lines[0] == "| code | name | severity | kind | needs | fix | finds |"
    assert len(lines) == 2 + len(load_rules().rules)
    row = next(line for line in lines if line.startswith("| SL004 |"))
    assert row.startswith("| SL004 | [unreadable-file](meta/unreadable_file.md) | error | fact |")


def test_profile_shows_the_rules_that_would_run(scenlint, harbor_task):
    for profile in ("seed", "minimal"):
        listed = json.loads(scenlint("rules", "--format", "json", "--profile", profile).stdout)
        report = scenlint("check", harbor_task, "--profile", profile, "--format", "json")
        assert json.loads(report.stdout)["summary"]["rules"] == sum(rule["command"] == "check" for rule in listed)


def test_unknown_profile_is_a_usage_error(scenlint):
    done = scenlint("rules", "--profile", "strict")
    assert done.returncode == 2
    assert "'strict' is not one of" in done.stderr
