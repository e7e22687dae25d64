"""Fixtures for trials with apps: the app's image, and `docker compose` from a cache where the machine has none."""

import os
import subprocess

import pytest
from appkit import SERVER, build, compose_config
from conftest import CACHE

from scenlint.harness import compose


@pytest.fixture(scope="session")
def notes_image(engine, base):
    """The image of the small application."""
    tag = build(
        engine, base.tag, f"scenlint-test-notes:{os.getpid()}", {"server.py": SERVER},
        "VOLUME /data", "EXPOSE 8080", 'CMD ["python3", "/srv/server.py"]',
    )  # fmt: skip
    yield tag
    engine.api.remove_image(tag, force=True)


@pytest.fixture
def plugin(monkeypatch):
    """Makes sure that there is `docker compose`."""
    found = subprocess.run(["docker", "compose", "version"], capture_output=True)
    if found.returncode != 0:
        try:
            monkeypatch.setenv("DOCKER_CONFIG", str(compose_config(CACHE)))
        except (OSError, subprocess.SubprocessError, StopIteration) as exc:
            if os.environ.get("SCENLINT_REQUIRE_ENGINE") == "1":
                raise
            pytest.skip(f"there is no docker compose: {exc}")
    assert compose._client()
