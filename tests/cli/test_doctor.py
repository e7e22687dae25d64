"""`scenlint doctor`: what is there, what is missing, what that stops and what to do."""

import json
import os
import sys
from pathlib import Path


def parts(done) -> dict[str, dict]:
    return {part["name"]: part for part in json.loads(done.stdout)["parts"]}


def test_without_an_engine_and_a_sandbox_it_says_what_that_stops_and_what_to_do(tmp_path, scenlint):
    env = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock", "PATH": str(Path(sys.executable).parent)}
    done = scenlint("doctor", "--format", "json", env=env)
    assert done.returncode == 1
    found = parts(done)
    assert found["python"]["ok"]
    assert found["engine"]["ok"] is False
    assert "Harbor" in found["engine"]["stops"]
    assert "start Docker" in found["engine"]["advice"]
    assert found["bubblewrap"]["ok"] is False
    assert "DeepGym" in found["bubblewrap"]["stops"]
    assert found["disk"]["found"].endswith(str(tmp_path))
    text = scenlint("doctor", env=env).stdout
    assert "missing  engine" in text
    assert "what to do: " in text


def test_the_sandbox_that_other_tests_use_is_found(scenlint):
    found = parts(scenlint("doctor", "--format", "json"))
    assert found["bubblewrap"]["ok"]
    assert found["bubblewrap"]["found"].startswith("bubblewrap ")
    assert "sandbox limits" in found


def test_a_ledger_folder_that_cannot_be_written_is_named(tmp_path, scenlint):
    done = scenlint("doctor", "--format", "json", "--ledger", "/proc/ledger")
    assert (done.returncode, parts(done)["ledger"]["ok"]) == (1, False)
