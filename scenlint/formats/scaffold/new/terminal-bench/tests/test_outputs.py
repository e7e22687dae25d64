"""Checks the product; prints the summary that the harness's pytest parser reads."""

from pathlib import Path

ANSWER = Path("/app/answer.txt")


def test_product():
    """Criterion 1: the product of the numbers stands in /app/answer.txt."""
    assert ANSWER.is_file() and not ANSWER.is_symlink(), "it is no plain file"
    assert ANSWER.read_text().strip() == "42"


def main():
    try:
        test_product()
        line = "PASSED test_outputs.py::test_product"
    except Exception as reason:
        line = f"FAILED test_outputs.py::test_product - {reason!r}"
    print("=========================== short test summary info ============================")
    print(line)
    return 0 if line.startswith("PASSED") else 1


if __name__ == "__main__":
    raise SystemExit(main())
