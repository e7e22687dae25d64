"""What an agent is told where a task has apps."""

import pytest

from scenlint.harness.prompt import brief_for, steps, todo_list

BRIEF = (
    "Set up the shop.\n\n**Steps:**\n1. Open the shop\n2.  Add a product  \n- not a step\n\n**Login:**\n1. not a step\n"
)


def test_urls_stand_before_the_brief_in_the_order_of_their_names():
    told = brief_for(BRIEF, {"wiki": "http://localhost:2", "shop": "http://localhost:1"})
    assert told.startswith("## Application Access URLs\n")
    assert "\n- shop: http://localhost:1\n- wiki: http://localhost:2\n\nSet up the shop." in told
    assert told.endswith("1. not a step\n")
    assert brief_for("\nplain\n\n", {}) == "plain\n"


def test_the_list_of_things_to_do_has_the_briefs_steps():
    told = todo_list("shop_001", BRIEF)
    assert told.startswith(
        "# Task: shop_001\n\n## Plan (you may adjust as needed)\n\n- [ ] Open the shop\n- [ ] Add a product\n\n"
    )
    assert "- [ ] (No structured steps detected" in todo_list("x", "no list")
    assert todo_list("{x}", "**Steps:**\n1. use {braces}\n").count("{") == 2


@pytest.mark.parametrize(
    ("brief", "found"),
    [
        ("# Steps\n1. a\n  2. nested\n## Next\n3. no", ["a", "nested"]),
        ("**steps:** text\n1. a\n", ["a"]),
        ("**Steps**:\n1. a\n", []),
        ("# Steps:\n1. a\n", []),
        ("**Steps:**\n1) a\n* b\n", []),
        ("**Steps:**\n1. a\n**Note**\n2. b\n", ["a"]),
    ],
)
def test_which_lines_are_steps(brief, found):
    assert steps(brief) == found
