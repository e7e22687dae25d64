"""`scenlint new`: tasks to begin with, sound in every format."""

import json

import pytest

from scenlint.config import load
from scenlint.formats.starter import Starts
from scenlint.lint.discover import load_formats
from scenlint.lint.run import check

NAMES = {
    "harbor": "tide-table", "terminal-bench": "disk-report", "packet": "swap-pages", "deepgym": "even_split",
    "waza": "rota", "saas-bench": "teamwork_007",
}  # fmt: skip


def test_every_format_has_a_starter():
    assert {f.name for f in load_formats() if isinstance(f, Starts)} >= set(NAMES)


@pytest.mark.parametrize("format", NAMES)
def test_a_new_task_lints_clean_and_so_does_a_second_one_beside_it(scenlint, tmp_path, format):
    made = scenlint("new", format, NAMES[format], "--in", tmp_path / "suite")
    assert made.returncode == 0, made.stderr
    advice = made.stdout.partition("now edit\n")[2].partition("and see")[0]
    named = [line.split()[0] for line in advice.splitlines() if line.strip()]
    assert len(named) >= 4
    assert all((tmp_path / path).exists() for path in named)
    task = made.stdout.rstrip().splitlines()[-1].removeprefix("  scenlint validate ")
    told = json.loads(scenlint("check", task, "--format", "json").stdout)
    assert (told["findings"], told["summary"]["tasks"]) == ([], 1)
    second = scenlint("new", format, NAMES[format][:-1] + "9", "--in", tmp_path / "suite")
    assert (second.returncode, second.stderr) == (0, "")
    report = check([tmp_path / "suite"], load(tmp_path / "suite"), jobs=1)
    assert report.tasks == 2
    assert {f.rule for f in report.findings} <= {"near-duplicate-task"}


def test_the_task_bears_its_name(scenlint, tmp_path):
    scenlint("new", "packet", "swap-pages")
    assert json.loads((tmp_path / "swap-pages/packet.json").read_text())["id"] == "swap-pages"
    scenlint("new", "harbor", "acme/tide-table")
    assert 'name = "acme/tide-table"' in (tmp_path / "tide-table/task.toml").read_text()
    scenlint("new", "saas-bench", "media_012")
    told = json.loads((tmp_path / "tasks/uni-m/Media/media_012/meta.json").read_text())
    assert (told["task_id"], told["category_id"]) == ("media_012", "Media")


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("harbor", "../out"), ("harbor", "a/b/c"), ("packet", "Has Space"), ("waza", ""), ("saas-bench", "teamwork"),
        ("deepgym", "/abs"), ("terminal-bench", "Upper"),
    ],
)  # fmt: skip
def test_names_that_the_format_cannot_take_are_refused(scenlint, tmp_path, format, name):
    done = scenlint("new", format, name)
    assert done.returncode == 2
    assert "cannot be the name of a task of this format: it takes" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(scenlint, tmp_path):
    (tmp_path / "tide-table").mkdir()
    (tmp_path / "tide-table/mine.txt").write_text("mine")
    done = scenlint("new", "harbor", "tide-table")
    assert done.returncode == 2
    assert "tide-table exists; nothing was written" in done.stderr
    assert [p.name for p in (tmp_path / "tide-table").iterdir()] == ["mine.txt"]


def test_a_link_is_not_followed(scenlint, tmp_path):
    (tmp_path / "tide-table").symlink_to(tmp_path / "elsewhere")
    assert scenlint("new", "harbor", "tide-table").returncode == 2
    assert not (tmp_path / "elsewhere").exists()


def test_a_configuration_that_is_there_stays_and_what_it_lacks_is_said(scenlint, tmp_path):
    (tmp_path / "scenlint.toml").write_text('profile = "seed"\n')
    done = scenlint("new", "waza", "rota", "--in", "suite")
    assert done.returncode == 0
    assert (tmp_path / "scenlint.toml").read_text() == 'profile = "seed"\n'
    assert "scenlint.toml is kept as it is; the task needs in it" in done.stderr
    assert '"*" = "suite/oracles/{id}.py"' in done.stderr


def test_a_list_of_applications_that_is_there_stays_and_what_it_lacks_is_said(scenlint, tmp_path):
    (tmp_path / "apps.yaml").write_text("apps:\n  mine: {}\n")
    done = scenlint("new", "saas-bench", "media_012")
    assert (tmp_path / "apps.yaml").read_text() == "apps:\n  mine: {}\n"
    assert "kept apps.yaml as it is; the task needs in it" in done.stderr
    assert "docker/notes" in done.stderr


def test_an_unknown_format_names_the_known_ones(scenlint):
    done = scenlint("new", "harbour", "x")
    assert done.returncode == 2
    assert "`harbor`, " in done.stderr
