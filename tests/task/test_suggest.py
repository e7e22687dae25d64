"""Did you mean."""

import pytest

from scenlint.task.suggest import closest

NAMES = ["unpinned-image", "unpinned-dependency", "latest-tag", "SL301", "SL302"]


@pytest.mark.parametrize(
    ("word", "best"),
    [
        ("unpinned_image", "unpinned-image"),
        ("Unpined-Image", "unpinned-image"),
        ("latets-tag", "latest-tag"),
        ("sl301", "SL301"),
    ],
)
def test_closest_comes_first(word, best):
    assert closest(word, NAMES)[0] == best


def test_nothing_is_suggested_for_a_stranger():
    assert closest("docker", NAMES) == []


def test_limit():
    assert len(closest("unpinned-imag", ["unpinned-image", "unpinned-images", "unpinned-imagex"], limit=2)) == 2
