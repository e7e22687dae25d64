"""The tutorial does what it says: its files and commands are replayed, and every output has to be the one shown."""

from pathlib import Path

from session import replay

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial.md"


def test_the_tutorial_shows_what_its_commands_print(tmp_path):
    page = TUTORIAL.read_text("utf-8")
    assert replay(page, tmp_path) == page, "`python tests/docs/session.py docs/tutorial.md` brings it up to date"
