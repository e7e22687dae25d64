"""What an editor holds is read in the place of the file, and only while it is held."""

from pathlib import Path

import pytest

from scenlint.source import trace
from scenlint.source.files import FileTree, read_source
from scenlint.source.overlay import overlaid


def test_held_texts_are_read_listed_and_forgotten(tmp_path):
    (tmp_path / "a.txt").write_text("on disk")
    with overlaid({tmp_path / "a.txt": "held é", tmp_path / "new.py": "x = 1\n"}):
        tree = FileTree(tmp_path)
        assert {e.path: e.size for e in tree} == {"a.txt": 7, "new.py": 6}
        assert tree.read("a.txt").text == "held é"
        assert tree.read("new.py").text == "x = 1\n"
        assert trace.is_file(tmp_path / "new.py")
        assert read_source(tmp_path / "new.py").text == "x = 1\n"
        assert FileTree.of_file(tmp_path / "a.txt").read("a.txt").text == "held é"
    assert FileTree(tmp_path).read("a.txt").text == "on disk"
    assert read_source(tmp_path / "new.py") is None


def test_a_link_reads_as_the_held_text_it_leads_to_and_none_leads_out(tmp_path):
    task, outside = tmp_path / "task", tmp_path / "outside.txt"
    task.mkdir()
    (task / "a.txt").write_text("on disk")
    (task / "b.txt").symlink_to("a.txt")
    (task / "c.txt").symlink_to(outside)
    outside.write_text("x")
    with overlaid({task / "a.txt": "held", task / "c.txt": "held"}):
        tree = FileTree(task)
        assert tree.read("b.txt").text == "held"
        assert tree.read("c.txt") is None


@pytest.mark.parametrize("text", ["# coding: latin-1\nx = 'é'\n", "# coding: latin-1\nx = '中'\n"])
def test_places_are_those_of_the_held_text(tmp_path, text):
    with overlaid({tmp_path / "a.py": text}):
        source = FileTree(tmp_path).read("a.py")
    assert len(source.text) >= len(text)
    assert source.text.splitlines()[0] == text.splitlines()[0]
    if "é" in text:
        assert source.text == text


def test_no_more_is_read_than_is_asked_for(tmp_path: Path):
    with overlaid({tmp_path / "a": "12345"}):
        assert trace.read_bytes(tmp_path / "a", 3) == b"123"
