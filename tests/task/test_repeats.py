"""Repeated calls of the submission whose results a verifier drops."""

import pytest

from scenlint.task.repeats import unread_repeats
from scenlint.testing import load_task

BRIEF = "Write `/app/fast.py` with a function `fast(x)`; each of the calls returns the right number."


@pytest.fixture
def dropped(harbor_task):
    """The calls that are dropped in a verifier of this code."""

    def read(code, name="test_outputs.py"):
        (harbor_task / "instruction.md").write_text(BRIEF)
        (harbor_task / "tests" / name).write_text(code)
        return [span.text for span in unread_repeats(load_task(harbor_task))]

    return read


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("for n in range(9):\n    fast(n)\n", "fast(n)"),
        ("for n in range(9):\n    last = fast(n)\n", "fast(n)"),
        ("out = []\nfor n in range(9):\n    out.append(module.fast(n))\nassert len(out) == 9\n", "module.fast(n)"),
        ("out = [fast(n) for n in range(9)]\n", "fast(n)"),
        ("import timeit\nassert timeit.timeit(lambda: fast(3), number=9) < 3\n", "fast(3)"),
        (
            "import subprocess\nfor n in range(3):\n    subprocess.run(['python3', '/app/fast.py'])\n",
            "subprocess.run(['python3', '/app/fast.py'])",
        ),
    ],
)
def test_results_that_nobody_looks_at(dropped, code, call):
    assert dropped(code) == [call]


@pytest.mark.parametrize(
    "code",
    [
        "for n in range(9):\n    assert fast(n) == n\n",
        "for n in range(9):\n    got = fast(n)\n    assert got == n\n",
        "out = [fast(n) for n in range(9)]\nassert out == list(range(9))\n",
        "for n in range(9):\n    fast(n)\nfor n in range(9):\n    assert fast(n) == n\n",
        "fast(1)\n",
        "for n in range(9):\n    print(n)\n",
    ],
)
def test_results_that_are_read_and_calls_that_are_not_repeated(dropped, code):
    assert dropped(code) == []


def test_a_shell_loop_that_throws_the_output_away(dropped):
    loop = "#!/bin/bash\nfor n in 1 2 3; do python3 /app/fast.py $n {}; done\necho 1 > /logs/verifier/reward.txt\n"
    assert dropped(loop.format("> /dev/null"), "test.sh") == ["python3 /app/fast.py $n > /dev/null"]
    assert dropped(loop.format("| grep -q 3"), "test.sh") == []
