"""Worlds that need containers: the network, the order of tests, the image built twice, other containers' services."""

import shutil
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.experiments import Wishes
from scenlint.testing import base_task

pytestmark = pytest.mark.engine

PYTHON = "python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de"
RULES = ["flaky-verdict", "needs-network-at-grading", "clock-dependent", "environment-drifts", "trial-cross-talk"]
PYTEST = """\
#!/bin/bash
cd /
mkdir -p /logs/verifier
python3 -m pytest -q /tests/test_outputs.py && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""
ORDERED = """\
from pathlib import Path


def test_first():
    Path("/tmp/answer").write_text(Path("/app/answer.txt").read_text())


def test_second():
    assert Path("/tmp/answer").read_text().strip() == "42"
"""
NETWORK = """\
#!/bin/bash
mkdir -p /logs/verifier
grep -q eth0 /proc/net/dev && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""


class Silent:
    def planned(self, jobs, reused): ...
    def began(self, job, trial): ...
    def phase(self, job, trial, phase): ...
    def ended(self, job, record): ...
    def left_out(self, job): ...
    def note(self, text): ...


@pytest.fixture
def deep(base, engine, tmp_path):
    """Runs some worlds on a Harbor task of which some files are replaced; outcome by name, and the report."""
    made: set[str] = set()

    def go(files: dict[str, str], *names: str):
        folder = base_task("harbor", tmp_path / "task")
        for path, text in files.items():
            if path == "environment/Dockerfile":
                text = (folder / path).read_text() + text
            (folder / path).write_text(text)
        (tmp_path / "scenlint.toml").write_text(f'[images.substitutes]\n"python:3.12-slim" = "{base.tag}"\n')
        settings = Settings(root=folder).override(select=RULES)
        settings.policy.substitutes["python:3.12-slim"] = base.tag
        wishes = Wishes(probes=frozenset(names), repeats=1)
        request = stage.Request([folder], settings, Silent(), ledger=tmp_path / "ledger", deep=wishes)
        report = stage.validate(request)
        assert report.crashes == []
        made.update(x.record.image for x in report.trials if x.record.image)
        return {x.record.experiment.name: x.record.experiment for x in report.trials if x.record.experiment}, report

    yield go
    for image in made:
        if engine.api.images(name=image):
            engine.api.remove_image(image, force=True)
    shutil.rmtree(tmp_path / "ledger", ignore_errors=True)


def test_an_image_with_a_date_in_it_drifts_and_its_traces_do_not(deep, engine):
    dockerfile = (
        "RUN date +%s%N > /app/built.txt && mkdir /opt/only-$(date +%N) \\\n"
        " && date > /var/log/build.log && python3 -m compileall -q /usr/lib/python3.11/json\n"
    )
    made, report = deep({"environment/Dockerfile": dockerfile}, "built-again")
    assert made["built-again"].outcome == "differs"
    told = made["built-again"].evidence
    assert "/app/built.txt (content)" in told
    assert "(only in the first)" in told
    assert "build.log" not in told
    assert told.startswith("3 of ")
    (finding,) = report.findings
    assert finding.code == "SL714"
    assert finding.location.path.name == "Dockerfile"
    assert not engine.api.images(name="scenlint/*-anew")


def test_an_image_that_is_made_of_its_files_alone_does_not_drift(deep):
    # The second line stands for an account that was made on the day of the build.
    dockerfile = (
        "RUN mkdir /app/out && echo x > /app/out/x\n"
        'RUN sed -i "s/^games:.*/games:*:$(date +%N):0:99999:7:::/" /etc/shadow && date > /var/lib/dpkg/lock\n'
    )
    made, report = deep({"environment/Dockerfile": dockerfile}, "built-again")
    assert made["built-again"].outcome == "same"
    assert made["built-again"].evidence.startswith("none of ")
    assert report.findings == []


def test_tests_that_lean_on_each_other_are_found_in_reverse_order(deep):
    made, report = deep({"tests/test.sh": PYTEST, "tests/test_outputs.py": ORDERED}, "test-order")
    assert made["test-order"].outcome == "differs"
    (finding,) = report.findings
    assert (finding.code, finding.severity.value) == ("SL704", "warning")
    assert "in reverse order" in finding.message


def test_a_verifier_that_keeps_plugins_out_is_not_judged_by_their_order(deep):
    isolated = PYTEST.replace("python3 -m pytest", "env -i PATH=/usr/bin:/bin python3 -m pytest")
    made, report = deep({"tests/test.sh": isolated, "tests/test_outputs.py": ORDERED}, "test-order")
    assert made["test-order"].outcome == "skipped"
    assert "took no plugin" in made["test-order"].reason
    assert report.findings == []


def test_a_verifier_that_wants_the_network_is_found_when_it_is_off(deep, tmp_path):
    toml = (base_task("harbor", tmp_path / "other") / "task.toml").read_text()
    toml = toml.replace("allow_internet = false", "allow_internet = true")
    made, report = deep({"tests/test.sh": NETWORK, "task.toml": toml}, "offline")
    assert made["offline"].outcome == "differs"
    assert [f.code for f in report.findings] == ["SL712"]


def test_without_a_network_there_is_none_to_be_switched_off(deep):
    made, report = deep({}, "offline")
    assert (made["offline"].outcome, made["offline"].reason) == ("same", "the verifier has no network in any trial")
    assert [n.code for n in report.not_assessed if n.code == "SL712"] == []


def test_a_service_that_the_solution_leaves_running_cannot_be_frozen_and_that_is_said(deep):
    serve = "#!/bin/bash\ncd /app && (setsid sleep 300 >/dev/null 2>&1 &)\n"
    check = "#!/bin/bash\nmkdir -p /logs/verifier\ngrep -qsa 'slee[p].300' /proc/*/cmdline && r=1 || r=0\n"
    check += "echo $r > /logs/verifier/reward.txt\n"
    made, report = deep({"solution/solve.sh": serve, "tests/test.sh": check}, "regraded", "regraded-in-place")
    assert made["regraded"].outcome == "skipped"
    assert "still running after the work" in made["regraded"].reason
    assert made["regraded-in-place"].outcome == "same"
    assert report.findings == []


def test_the_clock_is_moved_in_containers_too(deep):
    check = "#!/bin/bash\nmkdir -p /logs/verifier\n[ $(date +%Y) -lt $(($1 + 1)) ] && r=1 || r=0\n"
    from datetime import UTC, datetime

    check = check.replace("$1", str(datetime.now(UTC).year)) + "echo $r > /logs/verifier/reward.txt\n"
    made, report = deep({"tests/test.sh": check}, "clock+1y", "clock-control", "one-cpu")
    assert made["clock+1y"].outcome == "differs"
    assert made["clock-control"].outcome == made["one-cpu"].outcome == "same"
    assert [f.code for f in report.findings] == ["SL713"]
    assert Path(report.findings[0].location.path).name == "test.sh"
