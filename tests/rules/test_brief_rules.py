"""Where the rules about briefs speak and where they stay silent, beyond the examples of their pages."""

import pytest

from scenlint.testing import lint

IMAGE = "FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de\nWORKDIR /app\n"


@pytest.fixture
def found(harbor_task):
    """Lay files over the sound task and lint it with one rule: found(rule, {path: text}) -> [(path, line, message)]."""

    def run(rule, files):
        for path, text in files.items():
            target = harbor_task / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        return [(f.location.path.name, f.location.line, f.message) for f in lint(harbor_task, rule)]

    return run


# brief-contradicts-files


def contradictions(found, brief, **files):
    dockerfile = IMAGE + "COPY . /app/\n"
    given = {"environment/" + name.replace("__", "."): text for name, text in files.items()}
    return found("brief-contradicts-files", {"environment/Dockerfile": dockerfile, "instruction.md": brief, **given})


@pytest.mark.parametrize(
    "brief",
    [
        "Your data is provided in `/app/orders.csv`.",
        "You have a script at `/app/report.py` that prints the total.",
        "The workspace contains:\n\n- `orders.csv`: one order per line",
        "Environment:\n\n- A price list at `/app/prices.json`",
        "The file `/app/orders.csv` contains one order per line.",
        "数据位于 `/app/orders.csv`。",
    ],
)
def test_an_input_that_nothing_ships_is_reported(found, brief):
    assert len(contradictions(found, brief)) == 1


@pytest.mark.parametrize(
    "brief",
    [
        "Write the total to `/app/orders.csv`.",
        "The report must be located at `/app/report.html`.",
        "Your program is called with the path of a file, for example `/app/orders.csv`.",
        "Success criteria:\n\n- The file `/app/orders.csv` contains one order per line",
        "The service logs to `/var/log/app.log`; its settings are stored in `/etc/app/app.conf`.",
        "Run `make`, which leaves `libsum.a`. You have a library `libsum.a` then.",
        "The script is provided in Node.js and reads `.csv` files that you have.",
        "If `/app/orders.csv` is available, use it.",
        "The files are:\n\n- `/app/factors.txt` - the settings from rs.conf()",
    ],
)
def test_outputs_examples_and_files_of_the_system_are_no_inputs(found, brief):
    assert contradictions(found, brief) == []


def test_the_same_name_in_another_folder_is_shown(found):
    ((_, _, message),) = contradictions(found, "The numbers are stored in `/srv/factors.txt`.")
    assert "`/app/factors.txt`" in message


def test_a_file_that_the_reference_solution_makes_is_no_input(found):
    brief = "The numbers are stored in `/app/numbers.txt`."
    assert contradictions(found, brief, **{"../solution/solve__sh": "#!/bin/bash\nseq 5 > /app/numbers.txt\n"}) == []


TABLE = "id,client,amount\n" + "".join(f"{n},Ames,{n}\n" for n in range(40))


@pytest.mark.parametrize(
    ("brief", "count"),
    [
        ("`/app/t.csv` holds 400 rows.", 1),
        ("`/app/t.csv` holds 40 rows.", 0),
        ("`/app/t.csv` holds 41 lines.", 0),
        ("`/app/t.csv` holds about 5,000 records.", 1),
        ("`/app/t.csv` holds about 50 records.", 0),
        ("Take the first 10 rows of `/app/t.csv`.", 0),
        ("`/app/t.csv` has at least 12 records per client.", 0),
        ("`/app/t.csv` is read in chunks of 10 rows.", 0),
        ("`/app/t.csv` has the columns `id`, `client` and `amount`.", 0),
        ("`/app/t.csv` has the columns `id`, `customer` and `amount`.", 1),
        ("`/app/t.csv` has columns id, client, amount, collected last year.", 0),
        ("Add the columns `net`, `tax` and `amount` to `/app/t.csv`.", 0),
        ("Write `/app/u.csv` with the columns `net` and `tax`.", 0),
    ],
)
def test_counts_and_columns_are_compared_with_the_shipped_table(found, brief, count):
    assert len(contradictions(found, brief, t__csv=TABLE)) == count


def test_a_rounded_count_is_a_warning_only(harbor_task, found):
    contradictions(found, "`/app/t.csv` holds about 5,000 records.", t__csv=TABLE)
    assert [f.severity.value for f in lint(harbor_task, "brief-contradicts-files")] == ["warning"]


@pytest.mark.parametrize(
    ("brief", "count"),
    [
        ("You have 10 minutes to complete this task.", 1),
        ("You have five minutes to complete this task.", 0),
        ("Time limit: 600 seconds.", 1),
        ("Every request has a timeout of 60 seconds.", 0),
        ("You have 24 hours before the auditors arrive.", 0),
        ("The working directory is `/srv`.", 1),
        ("The working directory is `/app`.", 0),
        ("The container has Python 3.11 installed.", 1),
        ("The container has Python 3.12 installed.", 0),
        ("The program must run on Python 3.8 or later.", 0),
    ],
)
def test_settings_are_compared_with_what_is_set(found, brief, count):
    assert len(contradictions(found, brief)) == count


def test_a_port_that_nothing_in_the_environment_names(found):
    dockerfile = IMAGE + "COPY factors.txt .\nEXPOSE 8080\n"
    brief = "The price service is already running on port 9090."
    assert len(found("brief-contradicts-files", {"environment/Dockerfile": dockerfile, "instruction.md": brief})) == 1
    same = brief.replace("9090", "8080")
    assert found("brief-contradicts-files", {"instruction.md": same}) == []


# criterion-untested


LIST = "Write `/app/answer.txt`:\n\n1. The first line is the product.\n2. The second line is the sum.\n3. {}\n"
PAIR = '''
import unittest
from pathlib import Path


class TestAnswer(unittest.TestCase):
    def test_product(self):
        """Criterion 1: the product."""
        self.assertEqual(Path("/app/answer.txt").read_text().split()[0], "42")

    def test_sum(self):
        """Criterion 2: the sum."""
        self.assertEqual(Path("/app/answer.txt").read_text().split()[1], "13")
{}

if __name__ == "__main__":
    unittest.main()
'''


def untested(found, third, more="", code=PAIR):
    return found(
        "criterion-untested", {"instruction.md": LIST.format(third), "tests/test_outputs.py": code.format(more)}
    )


def test_a_number_that_no_part_of_the_verifier_names(found):
    ((path, line, message),) = untested(found, "Nothing else is changed.")
    assert (path, line) == ("instruction.md", 5)
    assert "never 3" in message


def test_a_comment_that_names_it_is_enough(found):
    assert untested(found, "Nothing else is changed.", "        # criterion 3: the folder is compared as well\n") == []


def test_a_check_that_speaks_of_it_without_its_number_is_enough(found):
    check = (
        '\n    def test_mode(self):\n        self.assertEqual(Path("/app/answer.txt").stat().st_mode & 0o777, 0o640)\n'
    )
    assert untested(found, "The mode of `/app/answer.txt` is 640.", check) == []


def test_a_verifier_that_names_no_numbers_is_left_alone(found):
    code = PAIR.replace("Criterion 1: ", "").replace("Criterion 2: ", "")
    assert untested(found, "Nothing else is changed.", code=code) == []


def test_a_model_that_judges_may_cover_anything(found):
    assert untested(found, "Nothing else is changed.", "        import openai\n") == []


# test-without-criterion


def test_a_suite_without_numbers_is_reported_once(found):
    code = """
import unittest
from pathlib import Path


class TestAnswer(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(Path("/app/answer.txt").read_text().strip(), "42")

    def test_gateway_certificate_expiry(self):
        self.assertIn("zebra", Path("/srv/gateway/expiry").read_text())

    def test_mailbox_quota_ceiling(self):
        self.assertIn("giraffe", Path("/srv/mailbox/quota").read_text())


if __name__ == "__main__":
    unittest.main()
"""
    ((path, line, message),) = found("test-without-criterion", {"tests/test_outputs.py": code})
    assert (path, line) == ("test_outputs.py", 10)
    assert "(and 1 more)" in message


def test_what_a_shipped_file_states_is_no_phantom(found):
    code = PAIR.format(
        '\n    def test_gateway_expiry(self):\n        self.assertIn("x", Path("/srv/gateway/expiry").read_text())\n'
    )
    files = {
        "instruction.md": LIST.format("Follow `/app/rules.md`."),
        "environment/rules.md": "The gateway's expiry stands in /srv/gateway/expiry.",
        "environment/Dockerfile": IMAGE + "COPY . /app/\n",
        "tests/test_outputs.py": code,
    }
    assert found("test-without-criterion", files) == []


# answer-in-brief


def answers(found, brief, asserted):
    code = PAIR.replace('.split()[0], "42"', f'.strip(), "{asserted}"').replace('.split()[1], "13"', ', "never"')
    return found("answer-in-brief", {"instruction.md": brief, "tests/test_outputs.py": code.format("")})


@pytest.mark.parametrize(
    ("brief", "asserted"),
    [
        ("Find the busiest weekday and write it to `/app/answer.txt`. (The correct answer is Saturday.)", "Saturday"),
        ("Which weekday is the busiest? Write it to `/app/answer.txt`; it is Saturday.", "Saturday"),
        ("Find the culprit.\n\nExample of `/app/answer.txt`:\n\n```\nculprit: 10.0.3.17\n```\n", "culprit: 10.0.3.17"),
        ("找出最忙的工作日。答案是`Saturday`。", "Saturday"),
    ],
)
def test_the_value_that_is_asked_for_stands_in_the_brief(found, brief, asserted):
    assert len(answers(found, brief, asserted)) == 1


@pytest.mark.parametrize(
    ("brief", "asserted"),
    [
        ("Write `Saturday` to `/app/answer.txt`.", "Saturday"),
        ("Find the busiest weekday, one of Friday, Saturday and Sunday.", "Saturday"),
        ("Find the state.\n\nExample:\n\n```\nstate: success\n```\n", "state: success"),
        ("Find the culprit.\n\nExample of `/app/answer.txt`:\n\n```\nculprit: 192.0.2.7\n```\n", "culprit: 10.0.3.17"),
        ("Find the limit; it must be 500,000.\n\nExample:\n\n```\nlimit: 500000\n```\n", "limit: 500000"),
        ("Find the port; it must be 8080.\n\nExample:\n\n```\nport: 8080\n```\n", "port: 8080"),
        ("The file should look like this example:\n\n```\nAhoy there\n```\n", "Ahoy there"),
    ],
)
def test_specifications_choices_and_other_examples_are_no_leak(found, brief, asserted):
    assert answers(found, brief, asserted) == []


# placeholder-text and empty-brief


@pytest.mark.parametrize(
    "line", ["TODO", "**TBD**", "- TODO: write this part", "<describe the task here>", "{{ instruction }}", "待补充"]
)
def test_a_line_that_is_a_placeholder(found, line):
    assert len(found("placeholder-text", {"instruction.md": f"Write 42 to `/app/answer.txt`.\n\n{line}\n"})) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Remove every TODO from `/app/notes.txt`.",
        "`TODO: write tests`",
        "<count> <unit>",
        "Print `<name>`.",
        "| <id> | <name> |",
        'The page shows "Lorem ipsum dolor sit amet".',
        "```\nTODO: describe\n```",
        "['acme.ext.todo', 'acme.ext.links']",
    ],
)
def test_a_placeholder_that_the_task_is_about(found, line):
    assert found("placeholder-text", {"instruction.md": f"Write 42 to `/app/answer.txt`.\n\n{line}\n"}) == []


@pytest.mark.parametrize("brief", ["", "\n\n", "<!-- none -->", "# Task\n", "---\na: b\n---\n", "***\n"])
def test_a_brief_that_says_nothing(found, brief):
    assert len(found("empty-brief", {"instruction.md": brief})) == 1


@pytest.mark.parametrize("brief", ["写42。", "Go.", "![what to do](task.png)"])
def test_a_short_brief_is_no_empty_one(found, brief):
    assert found("empty-brief", {"instruction.md": brief}) == []
