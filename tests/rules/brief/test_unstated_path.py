"""The rule `unstated-path`, beyond the examples on its page."""

import shutil

import pytest

from scenlint.testing import base_task, lint

BRIEF = "Add up the numbers in `/app/factors.txt` and keep the result in the folder `/app/out`.\n"
SOLVE = "mkdir -p /app/out\npython3 -c 'print(13)' > /app/out/sum.txt\n"
READS = (
    "from pathlib import Path\n\n\ndef test_sum():\n    assert Path('/app/out/sum.txt').read_text().strip() == '13'\n"
)


def lines(found):
    return [f.location.line for f in found]


def test_a_file_name_in_a_stated_folder_has_to_be_told(findings):
    found = findings("unstated-path", brief=BRIEF, tests=READS, solve=SOLVE)
    assert lines(found) == [5]
    assert "`/app/out/sum.txt`" in found[0].message


@pytest.mark.parametrize(
    "told",
    [
        "The file is called `sum.txt`.",
        "Write it to /app/out/sum.txt, please.",
        "Schreibe sie nach `/app/out/sum.txt`。",
        "把结果写入/app/out/sum.txt。",
        "Name it after the operation: `out/<operation>.txt`.",
    ],
)
def test_a_brief_may_tell_it_in_many_ways(findings, told):
    assert not findings("unstated-path", brief=BRIEF + told + "\n", tests=READS, solve=SOLVE)


def test_a_shipped_file_may_tell_it(findings):
    files = {
        "environment/README": "Results belong into out/sum.txt.\n",
        "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY README factors.txt /app/\n",
    }
    assert not findings("unstated-path", brief=BRIEF, tests=READS, solve=SOLVE, files=files)


def test_the_check_of_a_runner_of_its_own_counts_too(findings):
    tests = (
        "from pathlib import Path\n\n\ndef table():\n    with Path('/app/out/sum.txt').open() as file:\n"
        "        return file.read()\n\n\ndef test_sum():\n    assert table() == '13'\n\n\n"
        "def run(tests):\n    bad = []\n    for test in tests:\n        try:\n            test()\n"
        "        except Exception as why:\n            bad.append(why)\n    return not bad\n\n\n"
        "if __name__ == '__main__':\n    raise SystemExit(0 if run([test_sum]) else 1)\n"
    )
    test_sh = "#!/bin/bash\npython3 /tests/test_outputs.py && echo 1 > /logs/verifier/reward.txt\n"
    files = {"tests/test.sh": test_sh}
    assert lines(findings("unstated-path", brief=BRIEF, tests=tests, solve=SOLVE, files=files)) == [5]


def test_paths_wanted_by_one_line_are_one_finding(findings):
    tests = (
        "from pathlib import Path\n\n\ndef test_parts():\n    for name in ('a', 'b', 'c'):\n"
        "        assert Path(f'/app/out/part_{name}.txt').read_text()\n"
    )
    found = findings(
        "unstated-path", brief=BRIEF, tests=tests, solve="for n in a b c; do echo > /app/out/part_$n.txt; done"
    )
    assert not found  # the solution shows nothing of those names
    found = findings("unstated-path", brief=BRIEF, tests=tests, solve=None)
    assert lines(found) == [6]
    assert "3 paths like" in found[0].message


def test_places_tried_in_turn_are_told_with_one_of_them(findings):
    tests = (
        "import os\n\n\ndef test_any():\n"
        "    assert any(os.path.exists(p) for p in ('/app/out/sum.txt', '/app/out/total.txt'))\n"
    )
    assert not findings("unstated-path", brief=BRIEF + "Call it `total.txt`.", tests=tests, solve=SOLVE)
    assert lines(findings("unstated-path", brief=BRIEF, tests=tests, solve=SOLVE)) == [5]


@pytest.mark.parametrize(
    "tests",
    [
        # looked at only where it is there
        "import os\n\n\ndef test():\n    if os.path.exists('/app/out/sum.txt'):\n"
        "        assert open('/app/out/sum.txt').read()\n",
        # what the verifier itself makes
        "import subprocess\n\n\ndef test():\n    subprocess.run(['/app/run', '--into', '/tmp/got.txt'], check=True)\n"
        "    assert open('/tmp/got.txt').read()\n",
        # what a tool leaves beside a named file
        "def test():\n    assert 'Warning' not in open('/app/out/factors.log').read()\n",
        # what a build tool makes
        "import os\n\n\ndef test():\n    assert os.path.exists('/app/out/build/CMakeCache.txt')\n",
    ],
)
def test_no_demand_on_the_agent(findings, tests):
    brief = BRIEF + "Write the program `/app/run`; it takes `--into`.\n"
    assert not findings("unstated-path", brief=brief, tests=tests, solve=None)


def test_what_the_test_script_copies_is_its_own(findings):
    test_sh = (
        "#!/bin/bash\ncp /tests/want.txt /app/out/sum.txt\n"
        "python3 -m pytest /tests\necho $? > /logs/verifier/reward.txt\n"
    )
    assert not findings("unstated-path", brief=BRIEF, tests=READS, solve=SOLVE, files={"tests/test.sh": test_sh})


def test_a_cloned_repository_brings_its_own_files(findings):
    brief = "Clone it with `git clone https://example.org/tools/sums.git` to `/app/sums` and fix the rounding.\n"
    tests = "def test():\n    assert 'floor' not in open('/app/sums/core/round.c').read()\n"
    solve = "git clone https://example.org/tools/sums.git /app/sums\nsed -i s/floor/round/ /app/sums/core/round.c\n"
    assert not findings("unstated-path", brief=brief, tests=tests, solve=solve)


def test_in_an_unknown_image_only_what_the_solution_makes_counts(findings):
    files = {"environment/Dockerfile": "FROM registry.example/suite/base:3\nWORKDIR /app\nCOPY factors.txt /app/\n"}
    assert lines(findings("unstated-path", brief=BRIEF, tests=READS, solve=SOLVE, files=files)) == [5]
    edits = "sed -i 's/12/13/' /app/out/sum.txt\n"
    assert not findings("unstated-path", brief=BRIEF, tests=READS, solve=edits, files=files)


def test_a_later_step_does_not_tell_an_earlier_one(findings, tmp_path):
    root = base_task("harbor", tmp_path / "steps" / "product")
    toml = (root / "task.toml").read_text() + '\n[[steps]]\nname = "one"\n\n[[steps]]\nname = "two"\n'
    (root / "task.toml").write_text(toml)
    (root / "instruction.md").unlink()
    shutil.rmtree(root / "tests")
    for step, brief in (("one", BRIEF), ("two", "Copy `/app/out/sum.txt` to `/app/copy.txt`.\n")):
        (root / "steps" / step / "tests").mkdir(parents=True)
        (root / "steps" / step / "solution").mkdir()
        (root / "steps" / step / "instruction.md").write_text(brief)
        (root / "steps" / step / "tests/test.sh").write_text(
            "#!/bin/bash\npython3 -m pytest /tests\necho $? > /logs/verifier/reward.txt\n"
        )
        (root / "steps" / step / "tests/test_outputs.py").write_text(READS)
        (root / "steps" / step / "solution/solve.sh").write_text("#!/bin/bash\n" + SOLVE)
    found = lint(root, "unstated-path")
    assert [f.location.path.parts[-3] for f in found] == ["one"]
