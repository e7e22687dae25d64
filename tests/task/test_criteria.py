"""Which sentences of a brief are success criteria."""

from pathlib import Path

import pytest

from scenlint.source.text import Fragment, Source
from scenlint.task.criteria import find_criteria


def criteria(text):
    return find_criteria(Fragment.of(Source(Path("brief.md"), text.encode()), "markdown"))


def texts(text):
    return [c.text for c in criteria(text)]


def test_a_numbered_list_holds_criteria():
    found = criteria("Write `/app/a.json`:\n\n1. It is valid JSON.\n2. It has one key.\n")
    assert [(c.number, c.kind, c.text) for c in found] == [
        ("1", "numbered", "It is valid JSON."),
        ("2", "numbered", "It has one key."),
    ]
    assert found[1].span.text == "It has one key."


@pytest.mark.parametrize(
    "heading", ["Requirements:", "## Success criteria", "**Output rules**", "It must:", "要求：", "## 验收标准"]
)
def test_bullets_are_criteria_under_a_heading_that_demands(heading):
    assert texts(f"{heading}\n\n- Sorted by name\n- One row per client\n") == ["Sorted by name", "One row per client"]


@pytest.mark.parametrize(
    "heading",
    [
        "**Login Credentials:**",
        "## Background",
        "Hints:",
        "The workspace contains:",
        "**Input files:**",
        "## Environment",
        "示例：",
    ],
)
def test_bullets_are_none_under_a_heading_that_informs(heading):
    assert texts(f"{heading}\n\n- admin / secret\n- `/app/a.csv` - the table\n") == []


def test_an_order_before_a_list_decides_whatever_else_it_speaks_of():
    text = "Write the file `roster.json` into the workspace, an object with two keys:\n\n1. `roster` maps shifts.\n"
    assert texts(text) == ["`roster` maps shifts."]


def test_a_numbered_list_of_problems_is_none():
    assert texts("Two issues appeared:\n\n1. Comments have no author.\n2. Counts are negative.\n") == []


def test_steps_that_only_look_are_none_and_steps_that_make_something_are():
    brief = "**Steps:**\n\n1. Open the Sales module and review the list.\n2. Open it, add `Ames`.\n3. Approve it.\n"
    assert [(c.number, c.kind) for c in criteria(brief)] == [("2", "step"), ("3", "step")]


def test_nested_items_carry_both_numbers_and_replace_the_line_that_introduces_them():
    found = criteria("Requirements:\n\n1. Make the key:\n   - 2048 bits\n   - mode 600\n2. Start the server.\n")
    assert [(c.number, c.text) for c in found] == [
        ("1.1", "2048 bits"),
        ("1.2", "mode 600"),
        ("2", "Start the server."),
    ]


def test_hints_and_permissions_inside_a_list_are_left_out():
    assert texts("Rules:\n\n- Sorted by name\n- Hint: use `sort`\n- You may use any language\n") == ["Sorted by name"]


def test_ids_are_unique_where_numbers_come_twice():
    found = criteria("Requirements:\n\n1. First of all.\n\nOutput must be:\n\n1. Second of all.\n")
    assert [c.id for c in found] == ["1", "1#2"]
    assert {c.number for c in found} == {"1"}


@pytest.mark.parametrize(
    "text",
    [
        "(1) Write the sum.\n(2) Write the mean.\n",
        "1、写入总和。\n2、写入平均值。\n",
        "一、写入总和。\n二、写入平均值。\n",
        "Step 1: Write the sum.\nStep 2: Write the mean.\n",
        "第1步：写入总和。\n第2步：写入平均值。\n",
    ],
)
def test_lists_that_markdown_does_not_know_count_too(text):
    assert [c.number for c in criteria(text)] == ["1", "2"]


def test_definitions_of_output_fields_are_criteria():
    assert texts("Write a JSON object.\n\n- `total` is the sum.\n- `mean` is the mean.\n") == [
        "`total` is the sum.",
        "`mean` is the mean.",
    ]


def test_a_long_sentence_that_merely_stands_before_a_list_does_not_decide():
    brief = (
        "The example above shows what another program in the same environment would write.\n\n1. The sum is right.\n"
    )
    assert texts(brief) == ["The sum is right."]


def test_prose_without_a_list_has_no_criteria():
    assert criteria("Please fix the program so that it prints 5. It must be fast.\n") == []
