"""The cache: whatever a finding depends on has it judged anew, and nothing else shows that there is a cache."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import scenlint as package
from scenlint.config import Settings, load
from scenlint.lint import cache as caching
from scenlint.lint import run
from scenlint.lint.cache import Cache
from scenlint.lint.identity import code_digest
from scenlint.report import FORMATS, render
from scenlint.source import trace
from scenlint.task.policy import Policy, Profile
from scenlint.testing import base_task

ALL = ["harbor", "terminal-bench", "saas-bench", "waza", "deepgym", "packet"]


@pytest.fixture
def suite(tmp_path):
    """A task of every format, some with findings."""
    top = tmp_path / "suite"
    for name in ALL:
        base_task(name, top / name)
    (top / "harbor" / "environment" / "Dockerfile").write_text("FROM python:latest\nRUN pip install flask\n")
    (top / "harbor" / "tests" / "data.json").write_text('{"answer": 1}\n')
    shutil.copytree(top / "harbor", top / "twin")
    age(top)
    return top


def age(top: Path) -> None:
    """Make files look as if they had been left alone for a while; what was touched just now is read again."""
    for path in [top, *top.rglob("*")]:
        os.utime(path, ns=(time.time_ns() - 10**10,) * 2)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "cache"


def check(paths, place, settings=None):
    settings = settings or Settings(root=Path("/"))
    cache = Cache(place, settings)
    hits = []
    recall = cache.recall

    def noted(what):
        found = recall(what)
        hits.append(found is not None)
        return found

    cache.recall = noted
    report = run.check([paths] if isinstance(paths, Path) else paths, settings, jobs=1, cache=cache)
    report.elapsed = 0.0
    return report, hits


def settle(suite, place, settings=None):
    """Fill the cache; the second run dates the entries later than the files."""
    check(suite, place, settings)
    report, hits = check(suite, place, settings)
    assert all(hits)
    return report


@pytest.mark.parametrize("form", FORMATS)
def test_warm_run_says_the_same_to_the_byte(suite, place, form):
    cold, missed = check(suite, place)
    warm, hits = check(suite, place)
    bare = run.check([suite], Settings(root=Path("/")), jobs=1)
    bare.elapsed = 0.0
    assert not any(missed)
    assert all(hits)
    assert cold.findings
    for verbose in (False, True):
        texts = [
            render(report, form, verbose=verbose, statistics=form == "statistics") for report in (cold, warm, bare)
        ]
        assert texts[0] == texts[1] == texts[2]


def test_warm_run_calls_no_parser(suite, place):
    script = f"""
import sys
from pathlib import Path
from scenlint.config import Settings
from scenlint.lint import run
from scenlint.lint.cache import Cache
from scenlint.lint.identity import code_digest
import ast, json, tomllib, tree_sitter, markdown_it
import scenlint.source.data as data
called = []
def trap(name):
    def parse(*a, **k):
        called.append(name)
        raise AssertionError(name)
    return parse
ast.parse = trap("ast")
tree_sitter.Parser = trap("tree-sitter")
markdown_it.MarkdownIt = trap("markdown")
data.parse = data._parse = trap("data")
tomllib.loads = tomllib.load = trap("toml")
settings = Settings(root=Path("/"))
report = run.check([Path({str(suite)!r}) / n for n in ("harbor", "twin", "packet", "deepgym")], settings, jobs=1,
                   cache=Cache(Path({str(place)!r}), settings))
print(len(report.findings), called, len(report.crashes))
"""
    tasks = [suite / name for name in ("harbor", "twin", "packet", "deepgym")]
    report, _ = check(tasks, place)
    warm = subprocess.run([sys.executable, "-c", script], cwd=suite, capture_output=True, text=True, check=True)
    assert warm.stdout.split() == [str(len(report.findings)), "[]", "0"]
    shutil.rmtree(place)  # the traps do work
    cold = subprocess.run([sys.executable, "-c", script], cwd=suite, capture_output=True, text=True, check=True)
    assert cold.stdout.split()[-1] != "0"


def test_change_of_any_file_is_noticed_even_where_size_and_times_stay(suite, place):
    settle(suite, place)
    for path in sorted(p for p in suite.rglob("*") if p.is_file()):
        content, info = path.read_bytes(), path.stat()
        if not content:
            continue
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        _, hits = check(suite, place)
        read = any(path.name in name for name in noted(place))
        assert not read or False in hits, path
        path.write_bytes(content)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def noted(place):
    """The paths that entries say were read."""
    for file in place.glob("??/*.json"):
        entry = json.loads(file.read_text().partition("\n")[2])
        if "seen" in entry:  # the one about the selected rules has read no task
            yield from entry["seen"]["files"]


def test_same_tick_edit_is_noticed(suite, place):
    """An edit so soon after the reading that the file's times do not tell."""
    brief = suite / "harbor" / "instruction.md"
    brief.write_text("Write 42 to /app/answer.txt.\n")
    stamp = brief.stat()
    check(suite, place)
    brief.write_text("Write 43 to /app/answer.txt.\n")
    os.utime(brief, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert check(suite, place)[1].count(False) >= 1


@pytest.mark.parametrize(
    "change",
    [
        lambda task: (task / "notes.txt").write_text("new"),
        lambda task: (task / "tests" / "data.json").unlink(),
        lambda task: (task / "tests" / "data.json").rename(task / "tests" / "other.json"),
        lambda task: (task / "tests" / "data.json").write_text('{"answer": 10}\n'),
        lambda task: (task / "empty").mkdir(),
        lambda task: (task / "link").symlink_to("instruction.md"),
    ],
    ids=["new file", "file removed", "file renamed", "file grown", "new folder", "new link"],
)
def test_change_of_the_listing_is_noticed(suite, place, change):
    settle(suite, place)
    change(suite / "harbor")
    _, hits = check(suite / "harbor", place)
    assert hits[0] is False


def test_files_outside_the_task_count(suite, place):
    task = suite / "saas-bench" / "tasks" / "uni-m" / "Teamwork" / "teamwork_001"
    before, _ = check(task, place)
    assert all(check(task, place)[1])
    (suite / "saas-bench" / "apps.yaml").write_text("apps:\n  grocy: {}\n")
    after, hits = check(task, place)
    assert False in hits
    assert before.findings != after.findings


@pytest.mark.parametrize(
    "settings",
    [
        Settings(root=Path("/"), policy=Policy(profile=Profile.HARBOR)),
        Settings(root=Path("/"), policy=Policy(approved_images=("python",))),
        Settings(root=Path("/")).override(select=["latest-tag"]),
        Settings(root=Path("/")).override(ignore=["latest-tag"]),
        Settings(root=Path("/")).override(no_ignores=True),
    ],
    ids=["profile", "images", "select", "ignore", "no-ignores"],
)
def test_other_settings_are_judged_anew(suite, place, settings):
    settle(suite, place)
    report, hits = check(suite, place, settings)
    assert not any(hits)
    assert report.findings == run.check([suite], settings, jobs=1).findings
    assert all(check(suite, place)[1]), "and what was kept for the first stays"


def test_configuration_file_counts(suite, place, tmp_path):
    file = tmp_path / "scenlint.toml"
    file.write_text("")
    settle(suite, place, load(tmp_path))
    file.write_text('[severity]\nlatest-tag = "info"\n')
    report, hits = check(suite, place, load(tmp_path))
    assert not any(hits)
    assert {f.severity for f in report.findings if f.rule == "latest-tag"} == {"info"}
    file.write_text('[severity]\nlatest-tag = "info"\n# a comment\n')
    assert all(check(suite, place, load(tmp_path))[1])


def test_used_suppressions_and_what_was_not_assessed_come_out_of_the_cache(suite, place, tmp_path):
    (suite / "harbor" / "environment" / "Dockerfile").write_text(
        "# scenlint: ignore[latest-tag] the newest is what is asked about\nFROM python:latest\n"
    )
    shutil.rmtree(suite / "harbor" / "solution")
    (tmp_path / "scenlint.toml").write_text(
        '[[suppressions]]\nrule = "missing-oracle"\npath = "suite/harbor/**"\nreason = "shown elsewhere"\n'
        '[[suppressions]]\nrule = "empty-brief"\npath = "suite/harbor/**"\nreason = "there is none"\n'
    )
    settings = load(tmp_path)
    cold, _ = check(tmp_path, place, settings)
    warm, hits = check(tmp_path, place, settings)
    assert all(hits)
    assert cold.suppressed
    assert cold.not_assessed
    assert "unused-suppression" in {f.rule for f in cold.findings}
    for name in ("suppressed", "not_assessed", "ran", "findings", "rules"):
        assert getattr(cold, name) == getattr(warm, name), name


def test_rules_that_compare_tasks_see_the_cached_ones(suite, place):
    settle(suite, place)
    both = {"duplicate-task-id", "near-duplicate-task"}
    report, _ = check(suite, place)
    assert both & {f.rule for f in report.findings}
    alone, hits = check(suite / "twin", place)
    assert hits[0]
    assert not both & {f.rule for f in alone.findings}
    (suite / "twin" / "instruction.md").write_text("Sort the lines of /app/names.txt by their second word, in place.\n")
    report, _ = check(suite, place)
    bare = run.check([suite], Settings(root=Path("/")), jobs=1)
    assert report.findings == bare.findings


def test_edited_rule_is_judged_anew(tmp_path):
    before = code_digest()
    assert before == code_digest()
    copy = tmp_path / "copy"
    shutil.copytree(Path(package.__file__).parent, copy / "scenlint", ignore=shutil.ignore_patterns("__pycache__"))
    told = "from scenlint.lint.identity import code_digest; print(code_digest())"

    def digest():
        out = subprocess.run([sys.executable, "-c", told], cwd=copy, capture_output=True, text=True, check=True)
        return out.stdout.strip()

    first = digest()
    rule = copy / "scenlint" / "rules" / "reproducible" / "latest_tag.py"
    rule.write_text(rule.read_text() + "\n# edited\n")
    second = digest()
    assert first != second
    (copy / "scenlint" / "rules" / "reproducible" / "further.py").write_text("")
    assert digest() not in (first, second)


def test_entry_of_other_code_is_not_used(suite, place, monkeypatch):
    settle(suite, place)
    monkeypatch.setattr(caching, "code_digest", lambda: "other")
    _, hits = check(suite, place)
    assert not any(hits)


@pytest.mark.parametrize("damage", [b"", b"\0" * 50, b"00000000\n{}", b"zz\n{}", None], ids=str)
def test_damaged_entries_count_as_missing(suite, place, damage):
    cold = settle(suite, place)
    for file in place.glob("??/*.json"):
        data = file.read_bytes()
        file.write_bytes(data.replace(b"Dockerfile", b"dockerfile") + b" " if damage is None else damage)
    report, hits = check(suite, place)
    assert not any(hits)
    assert report.findings == cold.findings
    assert all(check(suite, place)[1])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_read_and_harms_nothing(suite, place):
    settle(suite, place)
    for path in [place, *place.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        report, hits = check(suite, place)
        (suite / "harbor" / "notes.txt").write_text("new")
        _, later = check(suite, place)
    finally:
        for path in [place, *place.rglob("*")]:
            path.chmod(0o700)
    assert all(hits)
    assert report.findings
    assert False in later


def test_full_disk_harms_nothing(suite, place, tmp_path):
    """/dev/full cannot be a folder: a file in the place of the entries' folders fails as surely."""
    Cache(place, Settings(root=tmp_path))
    for n in range(256):
        (place / f"{n:02x}").write_text("in the way")
    report, _ = check(suite, place)
    assert report.findings == run.check([suite], Settings(root=Path("/")), jobs=1).findings
    cache = Cache(place, Settings(root=tmp_path))
    cache.keep("something", [], trace.Trace())
    assert cache.unwritable
    assert cache.recall("something") is None


@pytest.mark.skipif(os.name != "posix", reason="no such modes")
def test_folder_that_others_may_write_to_is_not_used(suite, place):
    settle(suite, place)
    place.chmod(0o777)
    cache = Cache(place, Settings(root=Path("/")))
    assert "another user" in cache.problem
    assert not any(check(suite, place)[1])


def test_folder_with_other_things_is_left_alone(place, tmp_path):
    place.mkdir()
    (place / "thesis.txt").write_text("mine")
    assert "other things" in Cache(place, Settings(root=tmp_path)).problem
    assert [p.name for p in place.iterdir()] == ["thesis.txt"]


def test_no_secret_is_kept(suite, place):
    token = "ghp_" + "x7Kq2Zr9Lm4Tn8Vb3Wc6Yd1Hf5Gj0PsQaUeR"
    verifier = suite / "harbor" / "tests" / "test_outputs.py"
    verifier.write_text(f"TOKEN = '{token}'\n" + verifier.read_text())
    report, _ = check(suite, place)
    assert "secret-in-task" in {f.rule for f in report.findings}
    stored = [file.read_bytes() for file in place.glob("??/*.json")]
    assert stored
    assert not any(token.encode() in data for data in stored)


def test_runs_side_by_side(suite, place):
    script = (
        "import sys; from pathlib import Path; from scenlint.config import Settings; from scenlint.lint import run\n"
        "from scenlint.lint.cache import Cache; s = Settings(root=Path('/'))\n"
        f"print(len(run.check([Path({str(suite)!r})], s, jobs=1, cache=Cache(Path({str(place)!r}), s)).findings))"
    )
    command = [sys.executable, "-c", script]
    runs = [subprocess.Popen(command, cwd=suite, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    counts = {process.communicate()[0] for process in runs}
    assert len(counts) == 1
    assert [process.returncode for process in runs] == [0, 0, 0]
    assert all(check(suite, place)[1])


def test_emptied_cache_that_a_run_still_writes_to_stays_a_cache(place, tmp_path, monkeypatch):
    monkeypatch.setenv(caching.VARIABLE, str(place))
    Cache(place, Settings(root=tmp_path))
    (place / "a-draft").write_text("of a run at the same time")
    assert caching.remove() == (place, 0)
    assert not Cache(place, Settings(root=tmp_path)).problem


def test_old_entries_are_removed(suite, place):
    settle(suite, place)
    files = list(place.glob("??/*.json"))
    for file in [*files, place / "swept"]:
        os.utime(file, (0, 0))
    Cache(place, Settings(root=Path("/")))
    assert not list(place.glob("??/*.json"))


def test_every_look_at_the_disk_is_noted():
    """The static stage reads by `trace` and `FileTree` alone; elsewhere the cache would not know of it."""
    looks = {"is_file", "exists", "is_dir", "iterdir", "read_text", "read_bytes", "rglob", "stat", "listdir", "scandir"}
    apart = {"files.py", "trace.py", "conformance.py", "plan.py", "planning.py", "plan_checks.py", "evaluator.py"}
    # Of the plan, of --fix, of `new`, and of lock files, whose content is part of the settings.
    apart |= {"declared.py", "digests.py", "writing.py", "starter.py", "locks.py"}
    top = Path(package.__file__).parent
    found = []
    for part in ("formats", "task", "rules", "source"):
        for file in (top / part).rglob("*.py"):
            if file.name in apart or "scaffold" in file.parts:
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in looks:
                    owner = ast.unparse(node.func.value)
                    if owner != "trace" and not owner.endswith(("visible", "self", "files")):
                        found.append(f"{file.relative_to(top)}: {ast.unparse(node)}")
    assert sorted(found) == [
        "formats/base.py: (SCHEMAS / f'{name}.json').read_text('utf-8')",  # of scenlint itself
        "formats/saas_bench/apps.py: place.stat()",  # of a file that is then read
        "source/gitdir.py: path.is_dir()",  # listed before and after
    ]


def test_command_uses_it_unless_told_not_to(scenlint, harbor_task, tmp_path):
    (harbor_task / "environment" / "Dockerfile").write_text("FROM python:latest\n")
    environment = {**os.environ, "SCENLINT_CACHE_DIR": str(tmp_path / "kept")}
    assert scenlint("check", harbor_task, "--no-cache", env=environment).returncode == 1
    assert not (tmp_path / "kept").exists()
    first = scenlint("check", harbor_task, env=environment)
    entries = list((tmp_path / "kept").glob("??/*.json"))
    assert entries
    assert scenlint("check", harbor_task, env=environment).stdout == first.stdout
    assert (tmp_path / "kept" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "kept" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert "would remove" in scenlint("clean", "--cache", "--dry-run", env=environment).stdout
    assert entries[0].exists()
    cleaned = scenlint("clean", "--cache", env=environment)
    assert cleaned.returncode == 0
    assert not (tmp_path / "kept").exists()
