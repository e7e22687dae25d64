"""Compares the report with what the file server's own accounting says, and prints pytest's short summary."""
import csv
import os
import sys

# owner: files, KiB
USAGE = {
    "ada": (23, 13639),
    "bela": (18, 15021),
    "carl": (29, 8771),
    "dora": (23, 13041),
    "emil": (26, 21449),
    "frida": (28, 8595),
    "gus": (21, 18456),
}


def regular(path, flags):
    """How open() opens here: it follows no link, which could lead to this very file, and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def report():
    with open("/app/report/usage.csv", newline="", encoding="utf-8", opener=regular) as file:
        return list(csv.reader(file))


def test_header():
    """Criterion 1: the header line."""
    assert report()[0] == ["owner", "files", "kib"]


def test_owners():
    """Criterion 2: one line for each owner, ordered by owner name."""
    assert [row[0] for row in report()[1:]] == list(USAGE)


def test_files():
    """Criterion 3: hard links on one device are one file, equal inode numbers on two devices are two."""
    assert {row[0]: int(row[1]) for row in report()[1:]} == {owner: files for owner, (files, _) in USAGE.items()}


def test_kib():
    """Criterion 4: disk space in KiB, from the blocks, rounded up once per owner."""
    assert {row[0]: int(row[2]) for row in report()[1:]} == {owner: kib for owner, (_, kib) in USAGE.items()}


if __name__ == "__main__":
    outcome = {}
    for test in (test_header, test_owners, test_files, test_kib):
        try:
            test()
            outcome[test.__name__] = "PASSED"
        except Exception as problem:
            outcome[test.__name__] = "FAILED"
            print(test.__name__, type(problem).__name__)
    print("=========================== short test summary info ============================")
    for name, word in outcome.items():
        print(f"{word} test_outputs.py::{name}")
    sys.exit("FAILED" in outcome.values())
