"""The approved list is the team's: patterns, long names and configured mirrors count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.rules.reproducible.unapproved_base import unapproved_base
from scenlint.task.policy import Policy
from scenlint.testing import base_task, load_task

DIGEST = "sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de"
MIRROR = f"mirror.example/python:3.12@{DIGEST}"


def finds(tmp_path: Path, image: str, policy: Policy) -> bool:
    folder = base_task("harbor", tmp_path / "task")
    (folder / "environment/Dockerfile").write_text(f"FROM {image}\n")
    task = load_task(folder)
    task.policy = policy
    assert unapproved_base.check is not None
    return bool(list(unapproved_base.check(task)))


@pytest.mark.parametrize(
    ("approved", "image", "found"),
    [
        (("python",), "python:3.12", False),
        (("python",), "docker.io/library/python:3.12", False),
        (("docker.io/library/python:3.12",), "python:3.13", False),
        (("python",), "mirror.example/python:3.12", True),
        (("mirror.example/*",), "mirror.example/base/python:3.12", False),
        (("python*",), "pythonic/python:1", False),
        ((), "python:3.12", True),
    ],
)
def test_names_and_patterns(tmp_path: Path, approved: tuple[str, ...], image: str, found: bool) -> None:
    assert finds(tmp_path, image, replace(Policy(), approved_images=approved)) is found


def test_mirror_of_an_approved_image(tmp_path: Path) -> None:
    policy = Policy(approved_images=("python",), substitutes={f"python:3.12@{DIGEST}": MIRROR})
    assert not finds(tmp_path, MIRROR, policy)


def test_mirror_that_nobody_configured(tmp_path: Path) -> None:
    assert finds(tmp_path, MIRROR, Policy(approved_images=("python",)))
