"""Fixtures for trials with apps: images of apps, and `docker compose` from a cache where the machine has none.

The conftest beside it takes them in, so that they exist once.
"""

import fcntl
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from appkit import CACHE, SERVER, build, compose_config

from scenlint.harness import compose_client, images
from scenlint.harness.engine import Options
from scenlint.task.plan import Build, Image

ROUNDUP = Path(__file__).parents[2] / "tasks/saas-bench/docker/roundup"
# What stands in for the example's python image: one with pip, and with the certificates that this machine trusts.
PYTHON = """
FROM {base}
RUN apt-get update -qq \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv \\
 && python3 -m venv /opt/python
COPY certificates /etc/ssl/certs/ca-certificates.crt
ENV PATH=/opt/python/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PIP_CERT=/etc/ssl/certs/ca-certificates.crt
"""
CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/cert.pem")


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
    assert compose_client.program()


@pytest.fixture(scope="session")
def desk_image(engine, base, tmp_path_factory):
    """The example's image, built from its own Dockerfile. It stays, as it is cached by what it is made of."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "Dockerfile").write_text(PYTHON.format(base=base.tag))
    trusted = next(path for path in map(Path, CERTIFICATES) if path.exists())
    (folder / "certificates").write_bytes(trusted.read_bytes())
    options = Options(build_network="host")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes make it once
        python = images.prepare(engine, Image(build=Build(folder)), options, timeout=900)
        options = replace(options, substitutes={"python:3.12-slim": python.reference})
        built = images.prepare(engine, Image(build=Build(ROUNDUP)), options, timeout=900)
    assert built.substitute.startswith(f"{python.reference} for python:3.12-slim@sha256:")
    return built.reference
