"""`scenlint map`: criteria beside checks, in three outputs."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import scenlint.report.mapping
from scenlint.lint.discover import load_formats
from scenlint.testing import BASES, base_task

SCHEMA = json.loads(Path(scenlint.report.mapping.__file__).with_name("schema.json").read_text("utf-8"))
EXAMPLES = Path(__file__).parents[2] / "tasks"
VOID = {"meta", "br", "hr"}


class Page(HTMLParser):
    """Every tag is closed in order, and nothing is fetched or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_text_shows_pairs_with_evidence_and_both_places(scenlint, harbor_task):
    done = scenlint("map", harbor_task)
    assert done.returncode == 0, done.stderr
    assert "1 criterion, 1 check" in done.stdout
    assert "TestAnswer::test_product" in done.stdout
    assert "mark      `Criterion 1`  instruction.md:5:4 = tests/test_outputs.py:9:12" in done.stdout


def test_what_is_left_over_on_either_side_is_listed(scenlint, harbor_task):
    (harbor_task / "instruction.md").write_text("1. Write `/app/answer.txt`.\n2. Remove `/app/zebra`.\n")
    (harbor_task / "tests/test_outputs.py").write_text(
        "import unittest\n\n\nclass TestIt(unittest.TestCase):\n    def test_answer(self):\n"
        "        self.assertTrue(open('/app/answer.txt').read())\n\n    def test_giraffe(self):\n"
        "        self.assertEqual(open('/srv/tall').read(), 'x')\n\n\nunittest.main()\n"
    )
    done = scenlint("map", harbor_task)
    head, _, rest = done.stdout.partition("criteria without a check")
    assert "2 criteria (1 without a check), 2 checks (1 without a criterion)" in head
    assert "instruction.md:2:4" in rest
    assert "TestIt::test_giraffe  tests/test_outputs.py:8:5" in rest


@pytest.mark.parametrize("format", sorted(f.name for f in load_formats() if (BASES / f.name).is_dir()))
def test_every_format_is_mapped_and_its_json_meets_the_schema(scenlint, tmp_path, format):
    done = scenlint("map", "--format", "json", base_task(format, tmp_path / format))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(told)
    (task,) = told["tasks"]
    assert task["format"] == format
    assert task["criteria_without_check"] == []
    assert task["checks_without_criterion"] == []


def test_json_without_a_task_is_still_json(scenlint, tmp_path):
    done = scenlint("map", "--format", "json", tmp_path)
    assert done.returncode == 3
    Draft202012Validator(SCHEMA).validate(json.loads(done.stdout))


def test_html_is_one_well_formed_page_without_script_or_network(scenlint, tmp_path):
    done = scenlint("map", "--format", "html", "--output-file", tmp_path / "map.html", EXAMPLES)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    page = Page((tmp_path / "map.html").read_text("utf-8"))
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "link", "img", "iframe"}
    assert {a["href"][0] for tag, a in page.seen if tag == "a"} == {"#"}
    style = "".join(page.text)
    assert "prefers-color-scheme: dark" in style
    assert "max-width: 40rem" in style
    assert "url(" not in style
    assert "viewport" in [a.get("name") for tag, a in page.seen if tag == "meta"]


def test_html_escapes_what_a_brief_holds(scenlint, harbor_task):
    (harbor_task / "instruction.md").write_text("1. Write `<script>alert(1)</script>` to `/app/answer.txt`.\n")
    done = scenlint("map", "--format", "html", harbor_task)
    page = Page(done.stdout)
    assert "script" not in {tag for tag, _ in page.seen}
    assert "<script>alert(1)</script>" in "".join(page.text)


def test_a_missing_path_is_a_usage_error(scenlint, tmp_path):
    done = scenlint("map", tmp_path / "gone")
    assert done.returncode == 2
    assert "gone: no such file or folder" in done.stderr


def test_a_task_without_a_brief_says_why_its_side_is_empty(scenlint, harbor_task):
    (harbor_task / "instruction.md").unlink()
    done = scenlint("map", harbor_task)
    assert done.returncode == 0
    assert "instruction.md" in done.stdout
    assert "0 criteria, 1 check (1 without a criterion)" in done.stdout
