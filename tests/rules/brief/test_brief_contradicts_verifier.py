"""The rule `brief-contradicts-verifier`, beyond the examples on its page."""

import json

import pytest

from scenlint.testing import base_task, lint

SOLVE = "echo 13 > /app/sum.txt\n"
READS = "def test_sum():\n    assert open('/app/result/sum.txt').read().strip() == '13'\n"


def said(found):
    return [(f.location.line, f.message.split("`")[1], f.message.split("`")[3]) for f in found]


@pytest.mark.parametrize("stated", ["/app/sum.txt", "/srv/result/sum.txt", "/app/result/sum.csv"])
def test_another_folder_or_ending(findings, stated):
    brief = f"Add up `/app/factors.txt` and write the sum to `{stated}`.\n"
    found = findings("brief-contradicts-verifier", brief=brief, tests=READS, solve=None)
    assert said(found) == [(2, "/app/result/sum.txt", stated)]
    assert found[0].related[0].path.name == "instruction.md"
    assert not findings("unstated-path", brief=brief, tests=READS, solve=None)


@pytest.mark.parametrize(
    "brief",
    [
        "Write the sum to `/app/result/sum.txt`; `/app/sum.txt` is only a draft.",
        "Write the sum to `result/sum.txt`.",
        "Write it to `/app/result/<operation>.txt`, not to /app/sum.txt.",
        "The numbers are in `/app/factors.txt`. Write the sum into the folder `/app/result`.",
    ],
)
def test_the_brief_names_it_too_or_nothing_like_it(findings, brief):
    assert not findings("brief-contradicts-verifier", brief=brief + "\n", tests=READS, solve=None)


def test_a_path_that_another_check_opens_is_no_contradiction(findings):
    brief = "Write the sum to `/app/sum.txt`.\n"
    tests = READS + "\n\ndef test_short():\n    assert open('/app/sum.txt').read() == '13'\n"
    assert not findings("brief-contradicts-verifier", brief=brief, tests=tests, solve=SOLVE)


KEYS = (
    "import json\n\n\ndef test_order():\n    data = json.load(open('/app/order.json'))\n"
    "    assert data['entry_parameter'] == 12\n"
)
EXAMPLE = 'Write `/app/order.json`:\n\n```json\n{"parameter": 3, "file": "a"}\n```\n'


def test_an_example_with_another_key(findings):
    assert said(findings("brief-contradicts-verifier", brief=EXAMPLE, tests=KEYS, solve=SOLVE)) == [
        (6, "entry_parameter", "parameter")
    ]
    in_words = "Write `/app/order.json` with the key `parameter`.\n"
    assert len(findings("brief-contradicts-verifier", brief=in_words, tests=KEYS, solve=SOLVE)) == 1


def test_keys_that_are_read_or_told_do_not_contradict(findings):
    both = KEYS + "    assert data['parameter'] == 3\n"
    assert not findings("brief-contradicts-verifier", brief=EXAMPLE, tests=both, solve=SOLVE)
    told = EXAMPLE + "\nAdd the `entry_parameter`.\n"
    assert not findings("brief-contradicts-verifier", brief=told, tests=KEYS, solve=SOLVE)
    unlike = EXAMPLE.replace("parameter", "colour")
    assert not findings("brief-contradicts-verifier", brief=unlike, tests=KEYS, solve=SOLVE)


def test_a_check_that_goes_elsewhere_first(tmp_path):
    root = base_task("packet", tmp_path / "packet")
    (root / "brief.md").write_text("Write the product of `factors.txt` to `out/answer.txt` in the working directory.\n")
    (root / "work/data").mkdir()
    (root / "work/data/more.txt").write_text("9\n")
    packet = json.loads((root / "packet.json").read_text())
    command = "cd data && python3 -I -c \"assert open('out/answer.txt').read() == '42'\""
    packet["verification"] = {"checks": [{"type": "test", "command": command, "required": True}]}
    (root / "packet.json").write_text(json.dumps(packet, indent=2))
    found = lint(root, "brief-contradicts-verifier")
    assert [f.message.split("`")[1::2] for f in found] == [["data/out/answer.txt", "out/answer.txt"]]


def test_a_misspelt_file_name_is_a_contradiction_where_the_solution_makes_what_the_brief_names(harbor_task):
    test = harbor_task / "tests" / "test_outputs.py"
    test.write_text(test.read_text().replace('Path("/app/answer.txt")', 'Path("/app/answers.txt")'))
    (finding,) = lint(harbor_task, "brief-contradicts-verifier")
    assert "`/app/answers.txt`, the brief says `/app/answer.txt`" in finding.message


@pytest.mark.parametrize("stated", ["region_N_load", "region_X_load", "region_1_load", "region_i_load"])
def test_a_name_that_stands_for_a_row_of_names(findings, stated):
    brief = f"Write `/app/order.json` with a key `{stated}` for each region.\n"
    tests = KEYS.replace("entry_parameter", "region_north_load")
    assert not findings("brief-contradicts-verifier", brief=brief, tests=tests, solve=SOLVE)
    other = KEYS.replace("entry_parameter", "region_load")
    assert len(findings("brief-contradicts-verifier", brief=brief, tests=other, solve=SOLVE)) == 1
