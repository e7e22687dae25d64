"""Worlds around several containers: apps and services move with the verifier; where one cannot, nothing is found."""

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from appkit import VERIFY, make_plan, notes_app
from plans import dockerfile, make_step
from test_compose import main_container, project

from scenlint.dynamic import worlds
from scenlint.dynamic.experiments import Context, Wishes, conclude
from scenlint.dynamic.gate import Shown, Subject
from scenlint.task.record import Experiment, Status

pytestmark = pytest.mark.engine

# What the app says of the date, which is always the verifier's own.
DATE = """
import email.utils, time
told = urllib.request.urlopen(f"http://{HOST}:{PORT}/", timeout=10).headers["Date"]
checks["the app's date is today's"] = abs(email.utils.parsedate_to_datetime(told).timestamp() - time.time()) < 3600
"""
FUSE = f"checks['in time'] = time.time() < {time.time() + 90 * 86400}\n"
ZONE = "checks['the zone'] = time.localtime().tm_gmtoff == 0\n"
CHECKS, LOOP, REST = VERIFY.partition("for label")
LINES = LOOP + REST
SERVICES = """
services:
  main: {depends_on: [side]}
  side:
    SIDE
    command: ["python3", "-m", "http.server", "9000"]
"""
TEST = """
python3 - <<'P'
import email.utils, pathlib, time, urllib.request
for attempt in range(50):
    try:
        told = urllib.request.urlopen("http://side:9000/", timeout=10).headers["Date"]
        break
    except OSError:
        time.sleep(0.1)
good = abs(email.utils.parsedate_to_datetime(told).timestamp() - time.time()) < 3600
good = good and pathlib.Path("/app/answer.txt").read_text().strip() == "42"
MORE
pathlib.Path("/logs/verifier/reward.txt").write_text(str(int(good)))
P
"""


@dataclass
class Made:
    experiment: Experiment
    folder: Path
    record: object

    @property
    def kept(self) -> dict:
        return json.loads((self.folder / "kept.json").read_text())


@pytest.fixture
def moved(run, options, tmp_path):
    """Runs worlds of a plan after its oracle; name -> what was made of them."""

    def go(plan, *wanted: str) -> dict[str, Made]:
        oracle = run(plan)
        assert oracle.status is Status.PASSED, (oracle.failure_evidence, [p.output for p in oracle.phases])
        subject = Subject(None, "here", plan)
        about = Context(subject, Shown(oracle, tmp_path, False), None, None, Wishes(), options, no_replay="in the apps")
        out = {}
        for planned in worlds.plan(about):
            if planned.experiment.name not in wanted:
                continue
            assert planned.agent is not None, planned.experiment.reason
            record = run(planned.plan or plan, planned.agent)
            folder = tmp_path / "trials" / record.id
            record.experiment = planned.experiment
            (planned.judge or conclude)(record, folder, about)
            out[planned.experiment.name] = Made(record.experiment, folder, record)
        return out

    return go


def outcomes(made: dict[str, Made]) -> dict[str, str]:
    return {name: one.experiment.outcome for name, one in made.items()}


def test_apps_move_with_a_sound_verifier_and_its_verdict_stays(moved, notes_image, tmp_path):
    plan = make_plan(tmp_path, notes_app(notes_image), verify=CHECKS + DATE + LINES)
    made = moved(plan, "clock-control", "clock+1y", "zone-east", "one-cpu")
    assert set(outcomes(made).values()) == {"same"}, {n: m.experiment for n, m in made.items()}
    assert made["clock+1y"].kept == made["clock-control"].kept == {}
    assert made["clock+1y"].experiment.did.endswith(", in the containers of the apps too")
    assert made["zone-east"].experiment.did.endswith("(the containers of the apps kept theirs)")


def test_a_verifier_of_an_app_with_a_fuse_or_a_zone_of_its_own_is_found(moved, notes_image, tmp_path):
    plan = make_plan(tmp_path, notes_app(notes_image), verify=CHECKS + DATE + FUSE + ZONE + LINES)
    made = moved(plan, "clock+1d", "clock+1y", "zone-east")
    assert outcomes(made) == {"clock+1d": "same", "clock+1y": "differs", "zone-east": "differs"}


def test_an_app_that_keeps_its_clock_is_named_and_a_difference_from_it_is_no_finding(moved, notes_image, tmp_path):
    app = notes_app(notes_image)
    stubborn = ("sh", "-c", "rm -f /etc/ld.so.preload; exec python3 /srv/server.py")
    plan = make_plan(tmp_path, replace(app, run=(*app.run, *stubborn)), verify=CHECKS + DATE + LINES)
    made = moved(plan, "clock+1y")["clock+1y"]
    assert made.experiment.outcome == "skipped"
    assert made.experiment.did.endswith("too; but `notes` kept its own")
    assert "a check that compares the two differs then too" in made.experiment.reason
    assert "the app's date is today's" in made.experiment.reason


@pytest.fixture
def composed(base, plugin, tmp_path):
    def make(more: str = "", side: str = "image: IMAGE"):
        step = make_step(tmp_path, solve="echo 42 > /app/answer.txt", test=TEST.replace("MORE", more))
        text = SERVICES.replace("SIDE", side)
        return project(tmp_path, base.tag, text, container=main_container(base.pinned), step=step)

    return make


def test_services_of_a_project_move_with_a_sound_verifier(moved, composed):
    made = moved(composed(), "clock-control", "clock+1y", "zone-east", "one-cpu")
    assert set(outcomes(made).values()) == {"same"}, {n: m.experiment for n, m in made.items()}
    assert made["clock+1y"].kept == made["zone-east"].kept == {}


def test_a_verifier_of_a_project_that_knows_its_date_and_zone_only_is_found(moved, composed):
    more = f"good = good and time.time() < {time.time() + 90 * 86400} and time.localtime().tm_gmtoff == 0"
    made = moved(composed(more), "clock+1d", "clock+1y", "zone-east")
    assert outcomes(made) == {"clock+1d": "same", "clock+1y": "differs", "zone-east": "differs"}


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_all_containers_of_a_project_see_one_processor(moved, composed):
    more = "import os; good = good and len(os.sched_getaffinity(0)) > 1"
    assert outcomes(moved(composed(more), "one-cpu")) == {"one-cpu": "differs"}


def test_the_images_of_a_project_are_built_again_and_compared(moved, composed, base, engine, tmp_path):
    dockerfile(tmp_path / "side", base.tag, "RUN date +%s%N > /built.txt\n")
    made = moved(composed(side="build: {context: side}"), "built-again")["built-again"].experiment
    assert made.outcome == "differs"
    assert made.evidence.startswith("1 of ")
    assert "in `side`: /built.txt (content)" in made.evidence
    assert not engine.api.images(name="scenlint/*-anew")
