"""Applying fixes: what is chosen, refused and written, on real files."""

import os
import stat
from pathlib import Path

import pytest

from scenlint import config as configuration
from scenlint.config import Settings
from scenlint.lint import fix as fixing
from scenlint.lint.run import check
from scenlint.report.model import Report
from scenlint.source.text import Edit, Source
from scenlint.source.writing import RefusedError, read_unchanged, replace, write
from scenlint.task.finding import Finding
from scenlint.task.fix import Fix
from scenlint.task.policy import Policy
from scenlint.testing import base_task

DIGEST = "sha256:" + "7" * 64


def source(path: Path, data: bytes) -> Source:
    path.write_bytes(data)
    return Source(path, data)


def finding(of: Source, start: int, end: int, text: str, *, safe: bool = True, rule: str = "a-rule") -> Finding:
    span = of.span(start, end)
    return Finding(
        "wrong", Finding.at(span, "wrong").location, rule=rule, fix=Fix.of("right it", Edit(span, text), safe=safe)
    )


def apply(*findings: Finding, unsafe: bool = False) -> fixing.Fixed:
    """One round of these findings, as if a check had found them and found none afterwards."""
    rounds = iter([list(findings), []])
    _, done = fixing.fix(lambda: Report("0", Path(), findings=next(rounds)), unsafe=unsafe)
    return done


@pytest.mark.parametrize(
    "data",
    [
        b"a = 1\nb = 2\n",
        b"a = 1\r\nb = 2\r\n",
        b"a = 1\nb = 2",
        b"\xef\xbb\xbfa = 1\r\nb = 2",
        b"a = 1\r\nb = 2\n\n\n \t",
        "a = 1  # é 中 😀\nb = 2\n".encode(),
        b"a = 1  # \xff\xe9\nb = 2\n",
        b"\xff\xfe" + "a = 1  # é\r\nb = 2".encode("utf-16-le"),
    ],
)
def test_bytes_around_a_fix_stay(tmp_path, data):
    made = source(tmp_path / "x.ini", data)
    at = made.text.index("1")
    apply(finding(made, at, at + 1, "100"))
    width = 2 if data.startswith(b"\xff\xfe") else 1
    place = data.index(b"1")
    added = "100".encode("utf-16-le") if width == 2 else b"100"
    assert (tmp_path / "x.ini").read_bytes() == data[:place] + added + data[place + width :]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_new_lines_end_as_the_file_does(tmp_path, ending):
    made = source(tmp_path / "x.txt", f"one{ending}two{ending}".encode())
    apply(finding(made, 3, 3, "\nhalf"))
    assert (tmp_path / "x.txt").read_bytes() == f"one{ending}half{ending}two{ending}".encode()


def test_unsafe_fixes_wait_to_be_asked_for(tmp_path):
    made = source(tmp_path / "x.txt", b"one")
    assert not apply(finding(made, 0, 3, "two", safe=False)).files
    assert made.path.read_bytes() == b"one"
    assert apply(finding(made, 0, 3, "two", safe=False), unsafe=True).rules == {"a-rule": 1}
    assert made.path.read_bytes() == b"two"


def test_of_overlapping_fixes_the_first_is_applied_and_the_rest_comes_later(tmp_path):
    made = source(tmp_path / "x.txt", b"abcdef")
    one, two, three = finding(made, 0, 3, "X"), finding(made, 2, 4, "Y"), finding(made, 4, 5, "Z")
    turn = fixing.plan([one, two, three], unsafe=False)
    assert turn.files[made.path].after.text == "XdZf"
    assert (turn.later, turn.rules) == (1, {"a-rule": 2})


def test_two_findings_that_ask_for_the_same_get_it_once(tmp_path):
    made = source(tmp_path / "x.txt", b"ab")
    turn = fixing.plan([finding(made, 1, 1, "-"), finding(made, 1, 1, "-")], unsafe=False)
    assert turn.files[made.path].after.text == "a-b"
    assert turn.rules == {"a-rule": 2}


def test_two_texts_for_one_place_are_a_conflict(tmp_path):
    made = source(tmp_path / "x.txt", b"ab")
    turn = fixing.plan([finding(made, 1, 1, "-"), finding(made, 1, 1, "+")], unsafe=False)
    assert turn.files[made.path].after.text == "a-b"
    assert turn.later == 1


def test_fixes_that_only_touch_are_both_applied(tmp_path):
    made = source(tmp_path / "x.txt", b"abcd")
    turn = fixing.plan([finding(made, 0, 2, "X"), finding(made, 2, 2, "-"), finding(made, 2, 4, "Y")], unsafe=False)
    assert turn.files[made.path].after.text == "X-Y"


@pytest.mark.parametrize(
    ("name", "text", "bad"),
    [
        ("x.py", "a = 1\nb = 2\n", "("),
        ("x.json", '{"a": 1, "b": 2}', "{"),
        ("x.yaml", "a: 1\nb: 2\n", "["),
        ("x.toml", "a = 1\nb = 2\n", "["),
        ("x.sh", "a=1\nif true; then b=2; fi\n", '"'),
    ],
)
def test_a_fix_that_would_break_a_file_is_refused_and_the_others_are_applied(tmp_path, name, text, bad):
    made = source(tmp_path / name, text.encode())
    breaking, sound = finding(made, text.index("1"), text.index("1") + 1, bad), text.index("2")
    done = apply(breaking, finding(made, sound, sound + 1, "3"))
    assert made.path.read_text() == text.replace("2", "3")
    assert [m for m in done.refused if "would no longer parse" in m]
    assert done.rules == {"a-rule": 1}


def test_a_file_that_was_broken_before_may_be_fixed(tmp_path):
    made = source(tmp_path / "x.py", b"a = (\n")
    apply(finding(made, 5, 5, ")"))
    assert made.path.read_bytes() == b"a = ()\n"


def test_imports_are_added_where_they_are_missing(tmp_path):
    made = source(tmp_path / "x.py", b"import os\n\nok = a == 0.25\n")
    span = made.span(16, 25)
    fix = Fix.of("compare", Edit(span, "math.isclose(a, 0.25)"), imports=("math", "os"))
    apply(Finding("wrong", Finding.at(span, "wrong").location, rule="a-rule", fix=fix))
    assert made.path.read_text() == "import os\nimport math\n\nok = math.isclose(a, 0.25)\n"


def test_a_fix_whose_import_cannot_be_added_is_refused(tmp_path):
    made = source(tmp_path / "x.py", b"ok = a == 0.25  # \xff\n")
    fix = Fix.of("compare", Edit(made.span(5, 14), "math.isclose(a, 0.25)"), imports=("math",))
    done = apply(Finding("wrong", Finding.at(made, "wrong").location, rule="a-rule", fix=fix))
    assert made.path.read_bytes() == b"ok = a == 0.25  # \xff\n"
    assert len(done.refused) == 1


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path):
    made = source(tmp_path / "x.txt", b"one")
    found = finding(made, 0, 3, "two")
    made.path.write_bytes(b"one more")
    done = apply(found)
    assert list(done.refused) == [f"{made.path}: has changed since it was checked; run the check again"]
    assert made.path.read_bytes() == b"one more"


def test_a_link_is_not_written_through(tmp_path):
    outside = source(tmp_path / "outside.txt", b"one")
    (tmp_path / "x.txt").symlink_to(outside.path)
    done = apply(finding(Source(tmp_path / "x.txt", b"one"), 0, 3, "two"))
    assert "is a link; fix the file that it leads to" in next(iter(done.refused))
    assert outside.path.read_bytes() == b"one"
    assert (tmp_path / "x.txt").is_symlink()


def test_a_read_only_file_is_left_alone(tmp_path):
    made = source(tmp_path / "x.txt", b"one")
    made.path.chmod(0o444)
    done = apply(finding(made, 0, 3, "two"))
    assert list(done.refused) == [f"{made.path}: is read-only; make it writable to have it fixed"]
    assert made.path.read_bytes() == b"one"


def test_a_file_that_is_gone_is_said(tmp_path):
    made = source(tmp_path / "x.txt", b"one")
    found = finding(made, 0, 3, "two")
    made.path.unlink()
    assert "No such file" in next(iter(apply(found).refused))


def test_fixes_that_never_settle_end_and_are_named(tmp_path):
    made = source(tmp_path / "x.txt", b"")

    def forever() -> Report:
        now = Source(made.path, made.path.read_bytes())
        return Report("0", Path(), findings=[finding(now, 0, 0, "x")])

    _, done = fixing.fix(forever, unsafe=False)
    assert made.path.read_bytes() == b"x" * fixing.ROUNDS
    assert "did not settle" in next(iter(done.refused))


def test_the_mode_of_a_file_stays_and_nothing_is_left_behind(tmp_path):
    made = source(tmp_path / "run.sh", b"#!/bin/sh\n")
    made.path.chmod(0o750)
    write(made.path, made.replaced([(10, 10, "true\n")]), made.digest)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["run.sh"]


def test_a_file_is_never_seen_half_written(tmp_path):
    made = source(tmp_path / "x.txt", b"one")
    with made.path.open("rb") as before:
        write(made.path, made.replaced([(0, 3, "two")]), made.digest)
        assert before.read() == b"one"  # whoever has the old file open keeps the whole of it
    assert made.path.read_bytes() == b"two"


def test_a_new_file_gets_the_usual_mode(tmp_path):
    replace(tmp_path / "new", b"x")
    (tmp_path / "usual").write_bytes(b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(RefusedError, match="not a regular file"):
        read_unchanged(tmp_path, "")
    with pytest.raises(RefusedError, match="cannot be written"):
        replace(tmp_path, b"x")


def test_a_fix_needs_every_edit_and_one_file(tmp_path):
    one, two = source(tmp_path / "a", b"x"), source(tmp_path / "b", b"y")
    assert Fix.of("t", Edit(one.span(), "z"), None) is None
    assert Fix.of("t") is None
    assert Fix.of("t", Edit(one.span(), "z"), Edit(two.span(), "z")) is None
    assert Fix.of("t", Edit(Source(one.path, b"x", truncated=True).span(), "z")) is None


def test_a_difference_can_be_applied_by_patch(tmp_path):
    import subprocess

    for name, data in {"a.txt": b"one\r\ntwo\r\n", "b.txt": b"one\n\x0ctwo\nlast", "c.txt": b"1\n2\n3\n"}.items():
        source(tmp_path / name, data)
    found = [finding(Source(p, p.read_bytes()), 0, 1, "X") for p in sorted(tmp_path.iterdir())]
    made = fixing.plan(found, unsafe=False)
    shown = fixing.diff(made, tmp_path)
    done = subprocess.run(["patch", "-p0", "--binary"], cwd=tmp_path, input=shown.encode(), capture_output=True)
    assert done.returncode == 0, done.stdout
    for path, file in made.files.items():
        assert path.read_bytes() == file.after.data


# Through the rules


def checker(folder: Path, *rules: str):
    settings = Settings(root=folder, policy=Policy(digests={"python:3.12-slim": DIGEST}))
    return lambda: check([folder], settings.override(select=list(rules) or None), jobs=1)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_an_image_is_pinned_whatever_the_line_ends(harbor_task, ending, mark):
    dockerfile = harbor_task / "environment" / "Dockerfile"
    text = "FROM python:3.12-slim AS base\nWORKDIR /app\nCOPY factors.txt /app/factors.txt".replace("\n", ending)
    dockerfile.write_bytes(mark + text.encode())
    fixing.fix(checker(harbor_task, "unpinned-image"), unsafe=False)
    wanted = text.replace("python:3.12-slim", f"python:3.12-slim@{DIGEST}")
    assert dockerfile.read_bytes() == mark + wanted.encode()


def test_an_image_in_a_compose_file_is_pinned_within_its_quotes(harbor_task):
    compose = harbor_task / "environment" / "docker-compose.yaml"
    compose.write_text('services:\n  main: {}\n  db:\n    image: "python:3.12-slim"  # the database\n')
    fixing.fix(checker(harbor_task, "unpinned-image"), unsafe=False)
    assert f'image: "python:3.12-slim@{DIGEST}"  # the database\n' in compose.read_text()


def test_an_image_spelled_by_a_variable_is_left_alone(harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"
    dockerfile.write_text("ARG VERSION=3.12\nFROM python:${VERSION}-slim\nWORKDIR /app\n")
    report, done = fixing.fix(checker(harbor_task, "unpinned-image"), unsafe=True)
    assert len(report.findings) == 1
    assert not done.files


def test_what_is_suppressed_is_not_fixed(harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"
    text = "# scenlint: ignore[unpinned-image] measured with whatever is there\nFROM python:3.12-slim\nWORKDIR /app\n"
    dockerfile.write_text(text)
    report, _ = fixing.fix(checker(harbor_task, "unpinned-image"), unsafe=True)
    assert dockerfile.read_text() == text
    assert report.suppressed == 1


ASSERTIONS = {
    "quoted": """- "requests.get('http://localhost:8000').text == '42'"\n""",
    "single": """- 'requests.get("http://localhost:8000").ok'\n""",
    "plain": """- requests.get('http://localhost:8000').ok\n""",
    "literal": """- |\n        requests.get(\n            'http://localhost:8000',\n        ).ok\n""",
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ASSERTIONS)
def test_an_assertion_inside_yaml_is_fixed_in_place_or_left_alone(tmp_path, kind, ending):
    suite = base_task("waza", tmp_path / "suite")
    grader = f"  - type: code\n    name: answer\n    config:\n      assertions:\n      {ASSERTIONS[kind]}tasks:\n"
    text = (suite / "eval.yaml").read_text().replace("tasks:\n", grader).replace("\n", ending)
    (suite / "eval.yaml").write_bytes(text.encode())
    report, _ = fixing.fix(checker(suite, "call-without-timeout"), unsafe=True)
    after = (suite / "eval.yaml").read_bytes().decode()
    if kind == "literal":  # a line of its own would need the block's indentation, which is not known here
        assert (after, len(report.findings)) == (text, 1)
        return
    assert not report.findings
    assert after == text.replace("8000')", "8000', timeout=30)").replace('8000")', '8000", timeout=30)')


def test_a_file_that_a_task_names_outside_of_its_suite_is_not_changed(tmp_path):
    suite = base_task("waza", tmp_path / "suite")
    text = "import requests\nassert requests.get('http://localhost:8000').ok\n"
    (tmp_path / "outside.py").write_text(text)
    evaluation = (suite / "eval.yaml").read_text().replace("graders/check_product.py", "../outside.py")
    (suite / "eval.yaml").write_text(evaluation)
    report, done = fixing.fix(checker(suite, "call-without-timeout"), unsafe=True)
    assert [(f.location.path.name, f.fix) for f in report.findings] == [("outside.py", None)]
    assert not done.files
    assert (tmp_path / "outside.py").read_text() == text


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("x = 1  # scenlint: ignore[exact-float] reason\n", "x = 1\n"),
        ("# scenlint: ignore[exact-float] reason\nx = 1\n", "x = 1\n"),
        ("# scenlint: ignore[exact-float, timing-assertion] reason\nx = 1\n", "x = 1\n"),
        ("x = 1  # noqa  # scenlint: ignore[exact-float] reason\n", "x = 1  # noqa\n"),
        ("def f():\n    # scenlint: ignore[exact-float] reason\n    return 1\n", "def f():\n    return 1\n"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_unused_suppressions_go_with_their_comment(harbor_task, line, left, ending):
    tests = harbor_task / "tests" / "test_outputs.py"
    rest = tests.read_text()
    tests.write_bytes((line + rest).replace("\n", ending).encode())
    report, done = fixing.fix(checker(harbor_task), unsafe=False)
    assert not [f for f in report.findings if f.rule == "unused-suppression"]
    assert tests.read_bytes() == (left + rest).replace("\n", ending).encode()
    assert set(done.rules) == {"unused-suppression"}


def test_a_suppression_that_is_partly_used_keeps_what_it_needs(harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"
    text = "# scenlint: ignore[latest-tag, unpinned-image] on purpose\nFROM python:latest\nWORKDIR /app\n"
    dockerfile.write_text(text)
    fixing.fix(checker(harbor_task), unsafe=False)
    assert dockerfile.read_text() == text.replace(", unpinned-image", "")


ENTRY = '[[suppressions]]\nrule = "exact-float"\npath = "x.py"\nreason = "it is copied"\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'profile = "seed"\n\n{ENTRY}', 'profile = "seed"\n\n'),
        (f"{ENTRY}# about the images\n[images]\napproved = []\n", "# about the images\n[images]\napproved = []\n"),
        (f"{ENTRY}\n{ENTRY.replace('x.py', 'y.py')}".rstrip(), "\n"),
        ('suppressions = [{ rule = "exact-float", path = "x.py", reason = "r" }]\n', None),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_unused_entry_goes_out_of_the_configuration(harbor_task, text, left, ending):
    file = harbor_task.parent / "scenlint.toml"
    file.write_bytes(text.replace("\n", ending).encode())

    def run() -> Report:
        return check([harbor_task.parent], configuration.read(file), jobs=1)

    report, _ = fixing.fix(run, unsafe=False)
    assert file.read_bytes() == (text if left is None else left).replace("\n", ending).encode()
    assert [f.rule for f in report.findings if f.code == "SL001"] == ["unused-suppression"] * (left is None)


def test_a_mistyped_rule_in_the_configuration_is_an_unsafe_fix(harbor_task):
    file = harbor_task.parent / "scenlint.toml"
    file.write_text('ignore = ["exact-flot"]\n')
    fixing.fix(lambda: check([harbor_task], configuration.read(file), jobs=1), unsafe=True)
    assert file.read_text() == 'ignore = ["exact-float"]\n'
