"""Commands that need a real engine: validate on a container task, clean, doctor."""

import json
import os
import subprocess
import sys

import pytest

from scenlint.testing import base_task

pytestmark = pytest.mark.engine


@pytest.fixture
def harbor(tmp_path, base):
    """A sound Harbor task whose image is replaced by the tests' own, by way of the configuration."""
    folder = base_task("harbor", tmp_path / "harbor")
    first = (folder / "environment" / "Dockerfile").read_text().splitlines()
    pinned = next(line.split()[1] for line in first if line.startswith("FROM"))
    (tmp_path / "scenlint.toml").write_text(f'[images.substitutes]\n"{pinned}" = "{base.tag}"\n')
    return folder


def test_validate_runs_a_container_task_and_names_the_image_that_stood_in(harbor, base, built, engine, scenlint):
    done = scenlint("validate", harbor, "--gate", "--format", "json")
    told = json.loads(done.stdout)
    built.update(t["image"] for t in told["trials"])
    assert (done.returncode, told["findings"]) == (0, []), done.stderr
    assert [(t["agent"], t["reward"]) for t in told["trials"]] == [("oracle", 1.0), ("nop", 0.0)]
    assert all(t["substitute"].startswith(base.tag) for t in told["trials"])
    run = told["trials"][0]["id"].partition("-")[0]
    assert not engine.api.containers(all=True, filters={"label": f"scenlint.run={run}"})
    assert not engine.api.networks(filters={"label": f"scenlint.run={run}"})


def test_an_image_that_does_not_build_is_a_finding_and_a_missing_one_is_none(harbor, scenlint):
    dockerfile = harbor / "environment" / "Dockerfile"
    text = dockerfile.read_text()
    dockerfile.write_text(text + "RUN echo broken >&2 && exit 3\n")
    done = scenlint("validate", harbor, "--gate", "--format", "json")
    told = json.loads(done.stdout)
    assert (done.returncode, {f["rule"] for f in told["findings"]}) == (1, {"no-verdict"})
    assert told["findings"][0]["path"] == "harbor/environment/Dockerfile"
    dockerfile.write_text(text.replace("FROM ", "FROM localhost:1/nowhere/"))
    done = scenlint("validate", harbor, "--gate", "--format", "json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["findings"]) == (3, [])


def test_the_engine_is_found_with_its_version_and_builder(engine, scenlint):
    told = json.loads(scenlint("doctor", "--format", "json").stdout)
    found = {part["name"]: part for part in told["parts"]}
    assert found["engine"]["ok"]
    assert engine.url in found["engine"]["found"]
    assert found["engine limits"]["ok"] is not False
    assert "image builder" in found
    assert "compose" in found


def test_compose_of_version_1_is_none(engine, tmp_path, scenlint):
    for name, said in {"docker": "docker: unknown command", "docker-compose": "docker-compose version 1.29.2"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{said}'\n")
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    told = json.loads(scenlint("doctor", "--format", "json", env=env).stdout)
    (compose,) = (part for part in told["parts"] if part["name"] == "compose")
    assert (compose["ok"], "docker-compose-plugin" in compose["advice"]) == (False, True)


LEAVE = """
import os, signal, sys
from scenlint.harness.engine import Options, connect
engine, options = connect(), Options(run=sys.argv[1])
labels = engine.labels(options, "x")
for name in sys.argv[3:]:
    api = engine.api
    api.create_container(sys.argv[2], ["true"], name=name, labels=labels)
print("made", flush=True)
sys.stdin.read()
"""


def test_what_a_dead_run_left_is_removed_and_nothing_else(engine, base, options, scenlint):
    def left() -> set[str]:
        found = engine.api.containers(all=True, filters={"name": f"scenlint-clean-{options.run}"})
        return {c["Names"][0].rpartition("-")[2] for c in found}

    def make(*names: str) -> subprocess.Popen[str]:
        full = [f"scenlint-clean-{options.run}-{name}" for name in names]
        argv = [sys.executable, "-c", LEAVE, options.run, base.tag, *full]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        return process

    dead, alive = make("dead"), make("alive")
    dead.kill()
    dead.communicate()
    foreign = f"scenlint-clean-{options.run}-foreign"
    engine.api.create_container(base.tag, ["true"], name=foreign)
    try:
        assert f"would remove container scenlint-clean-{options.run}-dead" in scenlint("clean", "--dry-run").stdout
        assert left() == {"dead", "alive", "foreign"}
        done = scenlint("clean")
        assert (done.returncode, f"removed container scenlint-clean-{options.run}-dead" in done.stdout) == (0, True)
        assert left() == {"alive", "foreign"}
    finally:
        alive.communicate("")
        scenlint("clean")
        engine.api.remove_container(foreign, force=True)
