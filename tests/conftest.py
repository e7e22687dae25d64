"""Fixtures that most tests share."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scenlint.testing import base_task

# A shell starts what runs in the background deaf to Ctrl-C, and programs that are started from there inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """No test finds, or leaves anything in, the cache of whoever runs them."""
    os.environ["SCENLINT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache") / "scenlint")


@pytest.fixture
def harbor_task(tmp_path: Path) -> Path:
    """A sound Harbor task."""
    return base_task("harbor", tmp_path / "suite" / "product")


@pytest.fixture
def deep_folder(tmp_path: Path):
    """1,200 folders in one another. They are removed here: Python's own `rmtree`, which pytest uses, recurses."""
    top = tmp_path / "deep" / "d"
    top.parent.mkdir()
    subprocess.run(["mkdir", "-p", "d/" * 1200], cwd=top.parent, check=True)
    yield top.parent
    subprocess.run(["rm", "-rf", str(top)], check=True)


class _Rights(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@pytest.fixture
def modes_hold():
    """What a file's mode forbids is forbidden, also where the tests are run by root."""
    if os.geteuid() != 0:
        yield
        return
    libc, header, rights = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (_Rights * 2)()
    assert libc.capget(header, rights) == 0
    before = rights[0].effective
    rights[0].effective &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, rights) == 0
    yield
    rights[0].effective = before
    assert libc.capset(header, rights) == 0


@pytest.fixture
def scenlint(tmp_path: Path):
    """Run the real command in a process of its own: scenlint("check", path, …) -> CompletedProcess."""

    def run(*arguments: object, cwd: Path = tmp_path, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, **options)

    return run
