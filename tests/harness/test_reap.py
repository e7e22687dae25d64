"""Runs that were killed, with a real engine: what they left is found by its labels and removed, and nothing else."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from plans import dockerfile, make_plan

from scenlint.harness import ownership, single
from scenlint.harness.reap import reap, remove_images
from scenlint.harness.scene import Scene

pytestmark = pytest.mark.engine

PHASES = ("build", "start", "agent", "overlay", "verify", "verdict", "collect", "remove")


def labelled(engine, run: str) -> list[str]:
    wanted = {"label": f"scenlint.run={run}"}
    found = [c["Names"][0] for c in engine.api.containers(all=True, filters=wanted)]
    return found + [n["Name"] for n in engine.api.networks(filters=wanted)]


def volumes(engine, run: str) -> set[str]:
    """Those of a run's containers, also the ones that have no name and so no label."""
    found = engine.api.containers(all=True, filters={"label": f"scenlint.run={run}"})
    return {m["Name"] for c in found for m in c["Mounts"] if m["Type"] == "volume"}


def start_driver(folder: Path, image: str, where: str, run: str) -> subprocess.Popen[str]:
    here = Path(__file__).parent
    env = {**os.environ, "PYTHONPATH": str(here)}
    argv = [sys.executable, str(here / "driver.py"), str(folder), image, where, run]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=env)


@pytest.fixture
def bystander(base, options, tmp_path):
    """A container of a run whose process lives: this one."""
    scene = Scene(make_plan(tmp_path, base.tag), f"{options.run}-alive", tmp_path / "alive", options)
    made = single.start(scene, single.prepare(scene))
    yield made
    assert made.processes() == []
    made.close()


@pytest.mark.parametrize("where", PHASES)
def test_what_a_run_killed_between_two_phases_left_is_removed(engine, base, tmp_path, bystander, where):
    run = f"killed-{uuid.uuid4().hex[:12]}"
    driver = start_driver(tmp_path / "task", base.tag, where, run)
    assert driver.wait(60) == -9
    assert bool(labelled(engine, run)) == (where != "build")
    unnamed = volumes(engine, run)
    assert len(unnamed) == (where not in ("build", "remove"))
    reaped = reap(engine)
    assert reaped.failed == []
    assert labelled(engine, run) == []
    assert not unnamed & {v["Name"] for v in engine.api.volumes()["Volumes"] or ()}
    assert bystander.name not in reaped.containers


@pytest.mark.parametrize("where", ["in build", "in start", "in agent", "in verify"])
def test_what_a_run_killed_in_the_middle_of_a_phase_left_is_removed(engine, base, tmp_path, bystander, where):
    run = f"killed-{uuid.uuid4().hex[:12]}"
    driver = start_driver(tmp_path / "task", base.tag, where, run)
    done = {"in build": "starting", "in start": "build", "in agent": "start", "in verify": "overlay"}[where]
    for line in driver.stdout or ():
        if line.strip() == done:
            break
    time.sleep(1.5)
    driver.kill()
    driver.wait(10)
    reaped = reap(engine)
    assert reaped.failed == []
    assert labelled(engine, run) == []
    assert bool(reaped.containers) == (where != "in build")
    time.sleep(0.5)
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(tmp_path / "task/environment") not in running, "an image build outlived its run"


def test_only_what_is_due_is_removed(engine, options, bystander):
    api, mine = engine.api, engine.labels(options, "x")
    gone = {**mine, "scenlint.pid": "1", "scenlint.pid-started": "not then"}
    elsewhere = {**mine, "scenlint.host": "another-machine"}
    rebooted = {**mine, "scenlint.boot": "an earlier one"}
    made = {}
    for name, labels in {"gone": gone, "elsewhere": elsewhere, "rebooted": rebooted, "mine": mine}.items():
        made[name] = f"scenlint-{options.run}-{name}"
        api.create_container(bystander.image, ["true"], name=made[name], labels=labels)
        api.create_volume(made[name], labels=labels)
        api.create_network(made[name], labels=labels)
    try:
        reaped = reap(engine)
        due = sorted([made["gone"], made["rebooted"]])
        assert sorted(reaped.containers) == sorted(reaped.volumes) == sorted(reaped.networks) == due
        assert reap(engine, older_than=3600).containers == []
        time.sleep(1.1)
        assert made["elsewhere"] in reap(engine, older_than=1.0).containers
    finally:
        reap(engine, run=options.run)
        bystander.closed = True


@pytest.mark.parametrize("state", ["created", "running", "paused", "exited"])
def test_containers_are_removed_in_every_state(engine, options, base, state):
    api, labels = engine.api, {**engine.labels(options, "x"), "scenlint.boot": "an earlier one"}
    name = f"scenlint-{options.run}-{state}"
    api.create_container(
        base.tag,
        ["true" if state == "exited" else "sleep", "600"][: 1 if state == "exited" else 2],
        name=name,
        labels=labels,
    )
    if state != "created":
        api.start(name)
    if state == "paused":
        api.pause(name)
    if state == "exited":
        api.wait(name)
    assert reap(engine).containers == [name]


def test_images_built_for_tasks_outlive_their_run_and_are_removed_by_themselves(engine, base, options, run, tmp_path):
    record = run(make_plan(tmp_path, dockerfile(tmp_path / "e", base.tag, f"RUN echo {options.run}\n")))
    reap(engine)
    assert engine.api.inspect_image(record.image)
    assert remove_images(engine, {record.image, base.tag}).images == [record.image]
    assert engine.api.images(name=record.image) == []
    assert engine.api.inspect_image(base.tag)


def test_a_process_is_known_by_when_it_started_not_by_its_number_alone():
    labels = ownership.owner()
    assert ownership.alive(labels) is True
    assert ownership.alive({**labels, "scenlint.pid-started": "1"}) is False
    child = subprocess.Popen(["sleep", "0"])
    child.wait()
    assert ownership.alive({**labels, "scenlint.pid": str(child.pid)}) is False
    assert ownership.alive({**labels, "scenlint.host": "another"}) is None
    assert ownership.alive({}) is None
