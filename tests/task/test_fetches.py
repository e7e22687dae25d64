"""Downloads are told from calls that stay on the machine or inside the task."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.source import shell
from scenlint.source.text import Fragment, Source
from scenlint.task.fetches import Fetch, read_fetches
from scenlint.task.hosts import host_of, is_near
from scenlint.task.installs import arguments


def fetches(line: str) -> list[Fetch]:
    script = shell.parse(Fragment.of(Source(Path("x.sh"), line.encode()), "shell"))
    return [f for command in script.deep() for f in read_fetches(arguments(command, {}))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl -fsSL -o /tmp/x -H 'A: b' https://x.example.com/y", ["curl https://x.example.com/y"]),
        ("wget -q -O- example.org/data.csv", ["wget example.org/data.csv"]),
        ("git clone --depth 1 -b v1 https://x.example.com/a.git /tmp/a", ["git clone https://x.example.com/a.git"]),
        ("git -C /tmp/a fetch https://x.example.com/a.git", ["git fetch https://x.example.com/a.git"]),
        ("git clone git@github.com:a/b.git", ["git clone git@github.com:a/b.git"]),
        ("docker pull alpine:3", ["docker pull alpine:3"]),
        ("sudo apt-get update -y", ["apt-get update "]),
        ("python3 -m playwright install chromium", ["playwright install chromium"]),
        ("curl http://localhost:8080/health", []),
        ("curl -s 127.0.0.1:9000 && curl http://[::1]/x", []),
        ("curl http://web:8000/ && wget http://10.1.2.3/x", []),
        ('curl "$BASE/health"', []),
        ("curl --unix-socket /run/x.sock http://x.example.com/y", []),
        ("git clone /srv/a.git && git clone git@server:/git/project", []),
        ("git fetch && git pull origin main && git status", []),
        ("docker build . && docker ps", []),
        ("curl --version", []),
    ],
)
def test_public_downloads(line: str, expected: list[str]) -> None:
    assert [f"{f.tool} {f.what}" for f in fetches(line) if f.public] == expected


def test_reference_of_a_clone() -> None:
    assert fetches("git clone --branch=v2.1 https://x.example.com/a")[0].ref == "v2.1"
    assert fetches("git clone https://x.example.com/a")[0].ref == ""


def test_hosts() -> None:
    assert host_of("https://user:secret@X.example.com:8080/p?q") == "x.example.com"
    assert host_of("ssh://git@x.example.com/a") == "x.example.com"
    assert host_of("$URL/x") == ""
    assert all(map(is_near, ["", "db", "192.168.0.4", "shop.local"]))
    assert not any(map(is_near, ["pypi.org", "8.8.8.8"]))
    assert is_near("shop.example.com", {"shop.example.com"})
