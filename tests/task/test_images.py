"""Image references are split as the engine reads them, and every image of a task is found with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.task.images import Image, find_images, split
from scenlint.task.model import Place
from scenlint.testing import base_task, load_task

DIGEST = "sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de"


@pytest.mark.parametrize(
    ("text", "name", "tag", "pinned"),
    [
        ("python", "python", "", False),
        ("python:3.12-slim", "python", "3.12-slim", False),
        ("docker.io/library/python:3.12", "python", "3.12", False),
        ("registry.example:5000/team/tool", "registry.example:5000/team/tool", "", False),
        ("localhost/tool:1", "localhost/tool", "1", False),
        ("team/tool:1", "team/tool", "1", False),
        (f"ghcr.io/a/b:1@{DIGEST}", "ghcr.io/a/b", "1", True),
        (f"python@{DIGEST}", "python", "", True),
        ("python:3@sha256:abc", "python", "3", False),
        ("${REGISTRY}/python:3.12", "${REGISTRY}/python", "3.12", False),
    ],
)
def test_split(text: str, name: str, tag: str, pinned: bool) -> None:
    reference = split(text)
    assert reference is not None
    assert (reference.name, reference.tag, reference.pinned) == (name, tag, pinned)


@pytest.mark.parametrize("text", ["scratch", "${CONTEXT}", "python:${TAG}", "python@$DIGEST", "$BASE", "", "a b"])
def test_what_is_no_reference_or_hides_its_tag_is_none(text: str) -> None:
    assert split(text) is None


def images(tmp_path: Path, dockerfile: str, compose: str = "", metadata: str = "") -> list[Image]:
    task = base_task("harbor", tmp_path / "task")
    (task / "environment/Dockerfile").write_text(dockerfile)
    if compose:
        (task / "environment/docker-compose.yaml").write_text(compose)
    if metadata:
        settings = task / "task.toml"
        settings.write_text(settings.read_text().replace("[environment]", f"[environment]\n{metadata}"))
    return find_images(load_task(task))


def test_base_images_and_images_that_files_are_copied_out_of(tmp_path: Path) -> None:
    found = images(
        tmp_path,
        "ARG V=3.12\nFROM python:$V AS base\nFROM base\nCOPY --from=base /a /a\n"
        "COPY --from=uv:0.9 /uv /bin/\nRUN --mount=type=bind,from=tools:2,target=/t true\n",
    )
    assert [(i.reference.text, i.how, i.base, i.span.text) for i in found] == [
        ("python:3.12", "FROM", True, "python:$V"),
        ("uv:0.9", "COPY --from", False, "uv:0.9"),
        ("tools:2", "RUN --from", False, "tools:2"),
    ]


def test_images_of_a_compose_file_without_those_it_builds(tmp_path: Path) -> None:
    found = images(
        tmp_path,
        "FROM a:1\n",
        "services:\n  main:\n    build: .\n    image: made-here:1\n  db:\n    image: postgres:${PG:-16}\n"
        "  again:\n    image: made-here:1\n  given:\n    image: ${T_BENCH_IMAGE}\n",
    )
    assert [(i.reference.text, i.service, i.place) for i in found] == [
        ("a:1", "main", Place.AGENT),
        ("postgres:16", "db", Place.SERVICE),
    ]


def test_image_of_the_metadata(tmp_path: Path) -> None:
    found = images(tmp_path, "FROM a:1\n", metadata='docker_image = "team/ready:7"')
    assert [(i.reference.text, i.how, i.span.source.path.name) for i in found] == [
        ("a:1", "FROM", "Dockerfile"),
        ("team/ready:7", "image", "task.toml"),
    ]


def test_a_named_context_is_no_image(tmp_path: Path) -> None:
    compose = (
        "services:\n  main:\n    build:\n      context: .\n      additional_contexts:\n        shared: ../shared\n"
    )
    assert [i.reference.text for i in images(tmp_path, "FROM a:1\nCOPY --from=shared x y\n", compose)] == ["a:1"]
