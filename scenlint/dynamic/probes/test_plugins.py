"""Plants what pytest loads by itself: conftest.py, a configuration, an installed plugin that makes every test pass."""

from __future__ import annotations

from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import reports_success

_HERE = """
for d in "$PWD" "$PWD"/*/ / /app /root /home /workspace TESTS "$HOME"; do
  [ -d "$d" ] || continue
"""
_SITES = """
for d in $(ls -d /usr/lib/python3*/dist-packages /usr/local/lib/python3*/*-packages /usr/lib/python3*/site-packages \\
    /opt/*/lib/python3*/site-packages "$PWD"/.venv/lib/python3*/site-packages \\
    "$HOME"/.local/lib/python3*/site-packages \\
    2>/dev/null); do
"""


@probe("test-plugins", TAMPERED)
def test_plugins(ground: Ground) -> Iterator[Attack]:
    if ground.deepgym or not ground.python or not (ground.shared or ground.local):
        return
    patches, folders = reports_success(ground), _HERE.replace("TESTS", ground.verifier_folder)
    conftest = folders + _lines(ground, {"conftest.py": patches}) + "done\n"
    yield ground.attack(conftest, "planted a conftest.py that makes every test pass around the tests", "conftest")
    ini = "[pytest]\naddopts = -p success_reporter\npythonpath = . /tmp\n"
    files = {"pytest.ini": ini, "success_reporter.py": patches}
    # The plugin lies where every Python finds it, and beside the configuration.
    sites = _SITES + _lines(ground, {"success_reporter.py": patches}) + "done\n" if ground.shared else ""
    config = sites + folders + _lines(ground, files) + "done\n"
    yield ground.attack(config, "planted a pytest.ini that loads a plugin which makes every test pass", "configuration")
    if ground.shared:
        entry = {
            "success_reporter-1.dist-info/entry_points.txt": "[pytest11]\nsuccess = success_reporter\n",
            "success_reporter-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: success_reporter\nVersion: 1\n",
            "success_reporter.py": patches,
        }
        yield ground.attack(
            _SITES + _lines(ground, entry) + "done\n", "installed a pytest plugin that makes every test pass", "plugin"
        )


def _lines(ground: Ground, files: dict[str, str]) -> str:
    # The folder is the loop's variable, which a quoted path would not show.
    return "".join(
        ground.fill(text, (f"@{name}",)).replace(f"put @{name}", f'put "${{d%/}}/{name}"')
        for name, text in files.items()
    )
