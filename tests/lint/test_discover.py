"""Which tasks a path stands for."""

import os
import subprocess
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.lint.discover import Finder, load_formats
from scenlint.testing import base_task

FORMATS = ["harbor", "terminal-bench", "saas-bench", "waza", "deepgym", "packet"]


def found(*paths: Path, root: Path | None = None, force: bool = False, **settings) -> list[str]:
    finder = Finder(Settings(root=root or paths[0], **settings), force_exclude=force)
    return [ref.folder.name for ref in finder.discover(paths).refs]


@pytest.fixture
def suite(tmp_path) -> Path:
    for name in ("one", "two", "three"):
        base_task("harbor", tmp_path / "suite" / name)
    return tmp_path / "suite"


def test_built_in_formats_load_through_their_entry_points():
    assert {form.name for form in load_formats()} == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_finds_its_own_base_task(name, tmp_path):
    base_task(name, tmp_path / name)
    finder = Finder(Settings(root=tmp_path))
    assert [ref.format for ref in finder.discover([tmp_path]).refs] == [name]


def test_folder_is_walked_in_order(suite):
    assert found(suite) == ["one", "three", "two"]


def test_file_selects_its_task_and_a_task_named_twice_counts_once(suite):
    assert found(suite / "one" / "tests" / "test.sh", suite / "one", suite / "one" / "task.toml") == ["one"]


def test_folder_inside_a_task_selects_the_task(suite):
    assert found(suite / "two" / "tests") == ["two"]


def test_path_that_is_no_task_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    discovery = Finder(Settings(root=tmp_path)).discover([tmp_path, tmp_path / "notes.txt", tmp_path / "gone"])
    assert discovery.refs == []
    assert len(discovery.messages) == 2
    assert discovery.missing == [str(tmp_path / "gone")]


def test_gitignored_folders_are_left_out_unless_named(suite):
    subprocess.run(["git", "init", "-q", suite], check=True)
    (suite / ".gitignore").write_text("two/\n")
    assert found(suite) == ["one", "three"]
    assert found(suite / "two") == ["two"]


def test_deeper_gitignore_takes_back_what_a_higher_one_ignores(suite):
    subprocess.run(["git", "init", "-q", suite], check=True)
    (suite / ".gitignore").write_text("t*/\n!three/\n")
    assert found(suite) == ["one", "three"]


def test_exclusion_holds_for_named_paths_only_when_forced(suite):
    assert found(suite, exclude=("two",)) == ["one", "three"]
    named = suite / "two" / "task.toml"
    assert found(named, root=suite, exclude=("two/",)) == ["two"]
    assert found(named, root=suite, exclude=("two/",), force=True) == []


def test_what_is_left_out_altogether_is_said_to_be(suite):
    (message,) = Finder(Settings(root=suite, exclude=("*",))).discover([suite]).messages
    assert message.endswith("no task of a known format but in the folders that `exclude` leaves out")


def test_links_to_folders_are_not_entered(suite):
    (suite / "again").symlink_to(suite)
    (suite / "copy").symlink_to(suite / "one")
    assert found(suite) == ["one", "three", "two"]


def test_folders_nested_deeper_than_the_stack_are_walked(suite, deep_folder):
    assert deep_folder.is_relative_to(suite.parent)
    assert found(suite.parent) == ["one", "three", "two"]


def test_folder_that_cannot_be_listed_is_named(suite, monkeypatch):
    real = os.scandir

    def scandir(path):
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    (suite / "closed").mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    out = Finder(Settings(root=suite)).discover([suite])
    assert len(out.refs) == 3
    assert out.messages == [f"{suite / 'closed'}: this folder cannot be read: Permission denied"]


def test_folder_and_a_link_to_it_are_one_task(suite):
    (suite / "again").symlink_to("one")
    assert found(suite / "one", suite / "again", root=suite) == ["one"]
    assert found(suite / "again", root=suite) == ["again"]
