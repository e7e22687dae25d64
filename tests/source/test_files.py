"""The file tree of a task: nothing outside it is read, nothing in it can hang or flood the run."""

import os

from scenlint.source import files
from scenlint.source.files import FileTree


def test_files_are_listed_with_posix_paths_and_read_once(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.txt").write_text("text")
    tree = FileTree(tmp_path)
    assert [e.path for e in tree] == ["a/b/c.txt"]
    assert tree.has_dir("a/b")
    assert tree.read("a/b/c.txt") is tree.read("a/b/c.txt")
    assert tree.read("missing") is None


def test_link_out_of_the_folder_is_named_and_never_read(tmp_path):
    (tmp_path / "outside.txt").write_text("secret")
    task = tmp_path / "task"
    task.mkdir()
    (task / "link.txt").symlink_to(tmp_path / "outside.txt")
    tree = FileTree(task)
    assert "out of the task" in tree.entries["link.txt"].problem
    assert tree.read("link.txt") is None


def test_links_to_folders_loops_and_missing_targets_are_not_followed(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    tree = FileTree(tmp_path)
    assert {e.path: e.problem for e in tree} == {
        "loop": "is a link to a folder; it is not followed",
        "self": "is a link that leads back to itself",
        "gone": "is a link to a file that does not exist",
    }


def test_link_to_a_file_of_the_task_reads_as_that_file(tmp_path):
    (tmp_path / "real.txt").write_text("text")
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert FileTree(tmp_path).read("link.txt").text == "text"


def test_named_pipe_is_a_problem_and_not_a_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    tree = FileTree(tmp_path)
    assert tree.entries["pipe"].problem
    assert tree.read("pipe") is None


def test_large_file_is_read_up_to_the_limit(tmp_path):
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    source = FileTree(tmp_path).read("big.txt")
    assert source.truncated
    assert source.size == files.READ_LIMIT


def test_listing_stops_at_the_limit_and_says_so(tmp_path):
    for n in range(5):
        (tmp_path / f"{n}.txt").touch()
    tree = FileTree(tmp_path, limit=3)
    assert len(tree.entries) == 3
    assert not tree.complete


def test_folders_nested_deeper_than_the_stack_are_listed(deep_folder):
    assert len(FileTree(deep_folder).directories) == 1200


def test_what_may_not_be_read_says_so_in_words(tmp_path, monkeypatch):
    (tmp_path / "kept").write_text("x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    tree = FileTree(tmp_path)
    monkeypatch.setattr(os, "open", refuse)
    assert tree.read("kept") is None
    assert tree.entries["kept"].problem == "cannot be read: permission denied"
