"""`scenlint check --fix`, `--unsafe-fixes` and `--diff`."""

import json
from pathlib import Path

import pytest

DIGEST = "sha256:" + "9" * 64
DOCKERFILE = "FROM python:3.12-slim\nRUN pip install requests\nWORKDIR /app\nCOPY factors.txt /app/factors.txt\n"


@pytest.fixture
def loose_task(harbor_task: Path) -> Path:
    """A task with an image and a package that configuration can pin, and a call without a timeout."""
    (harbor_task / "environment" / "Dockerfile").write_text(DOCKERFILE)
    with (harbor_task / "tests" / "test_outputs.py").open("a") as tests:
        tests.write("\nimport requests\n\nassert requests.get('http://localhost:8000').text == '42'\n")
    config = f'[images.digests]\n"python:3.12-slim" = "{DIGEST}"\n[dependencies]\nlocks = ["requirements.lock"]\n'
    (harbor_task.parent / "scenlint.toml").write_text(config)
    (harbor_task.parent / "requirements.lock").write_text("requests==2.32.3\n")
    return harbor_task


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_fix_applies_the_safe_ones_and_reports_what_remains(scenlint, loose_task):
    done = scenlint("check", loose_task, "--fix")
    wanted = DOCKERFILE.replace("slim", f"slim@{DIGEST}").replace("requests", "requests==2.32.3")
    assert (loose_task / "environment" / "Dockerfile").read_text() == wanted
    assert "timeout" not in (loose_task / "tests" / "test_outputs.py").read_text()
    assert "call-without-timeout" in done.stdout
    assert "unpinned-image" not in done.stdout
    assert "; 2 fixed; 1 fixable with `--fix --unsafe-fixes`" in done.stdout
    assert done.returncode == 0  # only warnings are left


def test_unsafe_fixes_come_on_top(scenlint, loose_task):
    done = scenlint("check", loose_task, "--fix", "--unsafe-fixes", "--format", "json")
    data = json.loads(done.stdout)
    assert data["fixed"] == {"call-without-timeout": 1, "unpinned-dependency": 1, "unpinned-image": 1}
    assert "requests.get('http://localhost:8000', timeout=30)" in (loose_task / "tests" / "test_outputs.py").read_text()
    now = contents(loose_task)
    again = json.loads(scenlint("check", loose_task, "--fix", "--unsafe-fixes", "--format", "json").stdout)
    assert "fixed" not in again
    assert again["findings"] == data["findings"]
    assert contents(loose_task) == now


def test_unsafe_fixes_alone_are_a_usage_error(scenlint, loose_task):
    done = scenlint("check", loose_task, "--unsafe-fixes")
    assert done.returncode == 2
    assert "--fix or --diff" in done.stderr


def test_diff_writes_nothing_and_exits_with_1(scenlint, loose_task):
    before = contents(loose_task)
    done = scenlint("check", loose_task, "--diff", cwd=loose_task.parent)
    assert contents(loose_task) == before
    assert done.returncode == 1
    assert done.stdout.startswith("--- product/environment/Dockerfile\n+++ product/environment/Dockerfile\n")
    assert f"-FROM python:3.12-slim\n-RUN pip install requests\n+FROM python:3.12-slim@{DIGEST}\n" in done.stdout
    assert "timeout" not in done.stdout
    assert "timeout=30" in scenlint("check", loose_task, "--diff", "--unsafe-fixes").stdout


def test_diff_with_nothing_to_change_exits_with_0(scenlint, harbor_task):
    done = scenlint("check", harbor_task, "--diff")
    assert (done.returncode, done.stdout) == (0, "")


def test_diff_of_no_task_exits_with_3(scenlint, tmp_path):
    assert scenlint("check", tmp_path, "--diff").returncode == 3
    assert scenlint("check", tmp_path / "nowhere", "--diff").returncode == 2


def test_a_file_that_may_not_be_written_is_named_and_stays_a_finding(scenlint, loose_task):
    (loose_task / "environment" / "Dockerfile").chmod(0o444)
    done = scenlint("check", loose_task, "--fix", "--select", "unpinned-image")
    assert "scenlint: not fixed: " in done.stderr
    assert "is read-only" in done.stderr
    assert "unpinned-image" in done.stdout
    assert done.returncode == 1


def test_a_linked_file_is_not_changed(scenlint, loose_task):
    shared = loose_task / "Dockerfile.shared"
    shared.write_text(DOCKERFILE)
    (loose_task / "environment" / "Dockerfile").unlink()
    (loose_task / "environment" / "Dockerfile").symlink_to("../Dockerfile.shared")
    done = scenlint("check", loose_task, "--fix", "--select", "unpinned-image")
    assert "is a link; fix the file that it leads to" in done.stderr
    assert shared.read_text() == DOCKERFILE


def test_only_selected_rules_are_fixed(scenlint, loose_task):
    scenlint("check", loose_task, "--fix", "--select", "unpinned-dependency")
    assert (loose_task / "environment" / "Dockerfile").read_text() == DOCKERFILE.replace("requests", "requests==2.32.3")


def test_known_findings_are_not_fixed(scenlint, loose_task):
    scenlint("baseline", loose_task, cwd=loose_task.parent)
    before = contents(loose_task)
    known = loose_task.parent / "scenlint-baseline.json"
    done = scenlint("check", loose_task, "--fix", "--unsafe-fixes", "--baseline", known, cwd=loose_task.parent)
    assert done.returncode == 0, done.stderr
    assert contents(loose_task) == before


def test_many_tasks_are_fixed_in_parallel(scenlint, loose_task, tmp_path):
    import shutil

    for number in range(14):
        shutil.copytree(loose_task, loose_task.parent / f"copy-{number}")
    done = scenlint("check", loose_task.parent, "--fix", "-j", "2", "--select", "SL3")
    assert "; 30 fixed" in done.stdout
    for dockerfile in loose_task.parent.rglob("Dockerfile"):
        assert DIGEST in dockerfile.read_text()


@pytest.mark.parametrize(
    ("locks", "said"),
    [
        ("gone.lock", "No such file"),
        ("empty.lock", "no package with an exact version"),
        ("broken.lock", "cannot be read as a lock file"),
    ],
)
def test_a_lock_that_cannot_be_used_is_a_configuration_error(scenlint, harbor_task, locks, said):
    folder = harbor_task.parent
    (folder / "empty.lock").write_text("# nothing\n")
    (folder / "broken.lock").write_text("[[package]]\nname = \n")
    (folder / "scenlint.toml").write_text(f'[dependencies]\nlocks = ["{locks}"]\n')
    done = scenlint("check", harbor_task)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_digest_that_is_none_is_a_configuration_error(scenlint, harbor_task):
    (harbor_task.parent / "scenlint.toml").write_text('[images.digests]\n"python:3.12" = "sha256:12"\n')
    done = scenlint("check", harbor_task)
    assert done.returncode == 2
    assert "scenlint.toml:2:" in done.stderr
