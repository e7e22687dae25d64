"""Lock files: digests of images, versions of packages, and requirements at those versions."""

import json

import pytest

from scenlint.task.locks import (
    LockError,
    digest_of,
    image_key,
    pinned_requirement,
    read_images,
    read_packages,
    write_images,
)

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        ("python", "python:latest"),
        ("docker.io/library/python:3.12", "python:3.12"),
        ("index.docker.io/grafana/loki:2", "grafana/loki:2"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
        (f"ghcr.io/a/b:1@{DIGEST}", "ghcr.io/a/b:1"),
    ],
)
def test_one_image_has_one_key(reference, key):
    assert image_key(reference) == key


def test_what_is_written_is_read_back(tmp_path):
    file = tmp_path / "scenlint.lock"
    digests = {"b:1": DIGEST, "localhost:5000/a:2": DIGEST}
    file.write_text(write_images(digests))
    assert read_images(file) == digests
    assert list(read_images(file)) == sorted(digests)
    assert digest_of(digests, "docker.io/library/b:1") == DIGEST
    assert digest_of(digests, "b:2") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "# c\nrequests==2.32.3\nJinja2===3.1.6 # via x\n-r other.txt\nflask>=2\n"),
        ("frozen.txt", "requests==2.32.3 ; python_version > '3'\nJinja2[i18n]==3.1.6 \\\n    --hash=sha256:1\n"),
        ("freeze", "\ufeffrequests==2.32.3\r\nJinja2==3.1.6\r\n-e git+https://x/y\r\nz @ file:///z\r\n"),
        (
            "uv.lock",
            'version = 1\n[[package]]\nname = "requests"\nversion = "2.32.3"\n[[package]]\nname = "jinja2"\n'
            'version = "3.1.6"\n[[package]]\nname = "own"\nsource = { virtual = "." }\n',
        ),
        (
            "pylock.toml",
            '[[packages]]\nname = "requests"\nversion = "2.32.3"\n[[packages]]\nname="jinja2"\nversion="3.1.6"\n',
        ),
        (
            "Pipfile.lock",
            json.dumps(
                {"default": {"requests": {"version": "==2.32.3"}}, "develop": {"Jinja2": {"version": "==3.1.6"}}}
            ),
        ),
    ],
)
def test_versions_are_read_from_every_kind_of_lock(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf-8")
    assert read_packages(tmp_path / name) == {"requests": "2.32.3", "jinja2": "3.1.6"}


def test_a_package_with_two_versions_is_left_out(tmp_path):
    (tmp_path / "r.txt").write_text(
        "numpy==1.26.4 ; python_version < '3.13'\nnumpy==2.1.0 ; python_version >= '3.13'\na==1\n"
    )
    assert read_packages(tmp_path / "r.txt") == {"a": "1"}


def test_a_file_without_versions_is_no_lock(tmp_path):
    (tmp_path / "r.txt").write_text("numpy\n")
    with pytest.raises(LockError, match="no package with an exact version"):
        read_packages(tmp_path / "r.txt")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("requests", "requests==2.32.3"),
        ("Requests", "Requests==2.32.3"),
        ("requests>=2,<3", "requests==2.32.3"),
        ("requests ~= 2.30", "requests==2.32.3"),
        ("requests[socks]>=2", "requests[socks]==2.32.3"),
        ("requests; python_version>'3.8'", "requests==2.32.3; python_version>'3.8'"),
        ("requests>=3", None),
        ("other", None),
        ("requests @ https://x/y.whl", None),
        ("not a requirement", None),
        ("zope_interface", "zope_interface==7.0"),
        ("pre", "pre==1.0rc1"),
    ],
)
def test_a_requirement_gets_the_locked_version_if_it_allows_it(text, wanted):
    packages = {"requests": "2.32.3", "zope-interface": "7.0", "pre": "1.0rc1"}
    assert pinned_requirement(text, packages) == wanted
