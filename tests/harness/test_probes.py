"""Holed verifiers and their sound twins, attacked for real: the probe meant for a hole gets through it and no twin."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
TASKS = Path(__file__).parents[2] / "tasks"
EMPTY, COPIED, TAMPERED, LEAKED = (
    "passes-empty-output", "passes-copied-input", "verdict-tamperable", "answer-in-built-image",
)  # fmt: skip
LOCAL = {
    "waza/words-will-do": ("only-words", EMPTY),
    "waza/asks-the-project": ("project-config", TAMPERED),
    "deepgym/in_the_judge": ("equal-objects", TAMPERED),
    "deepgym/own_stopwatch": ("frozen-clock", TAMPERED),
    "packet/follows-links": ("links-to-truth", TAMPERED),
    "packet/waits-for-ever": ("obstructing-outputs", TAMPERED),
    "packet/tables-are-there": ("hollow-values", EMPTY),
    "packet/asks-a-model": ("judge-instructions", TAMPERED),
}
IN_CONTAINERS = {
    "harbor/file-is-there": ("empty-files", EMPTY),
    "harbor/wrong-by-more": ("hollow-values", EMPTY),
    "harbor/word-is-somewhere": ("copied-inputs", COPIED),
    "harbor/loads-the-submission": ("early-exit", TAMPERED),
    "harbor/tool-by-name": ("path-shims", TAMPERED),
    "harbor/start-up-files": ("python-startup", TAMPERED),
    "harbor/process-stays": ("background-writer", TAMPERED),
    "harbor/truth-from-input": ("changed-inputs", TAMPERED),
    "harbor/reads-a-profile": ("preloaded-library", TAMPERED),
    "harbor/killed-is-no-failure": ("killed-verifier", TAMPERED),
    "harbor/port-answers": ("stub-servers", EMPTY),
    "harbor/answer-in-archive": ("built-image", LEAKED),
    "terminal-bench/looks-above-the-tests": ("test-plugins", TAMPERED),
}
OUTCOMES = {"harbor/answer-in-archive": "leak", "packet/waits-for-ever": "laundered"}


@pytest.fixture
def deep(tmp_path):
    """Runs the command on tasks, with the oracles of the configuration above them and local images: what it told."""

    def run(folder, probes, images=(), configuration=FIXTURES / "scenlint.toml"):
        given = tomllib.loads(configuration.read_text())
        tables = {
            "images.substitutes": dict(images),
            "oracles": {task: str(configuration.parent / path) for task, path in given["oracles"].items()},
        }
        text = "".join(
            f"[{table}]\n" + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in values.items())
            for table, values in tables.items()
        )
        (tmp_path / "scenlint.toml").write_text(text)
        command = [sys.executable, "-c", "from scenlint.cli.app import main; main()", "validate", str(folder)]
        command += ["--deep", "--probe", probes, "--config", str(tmp_path / "scenlint.toml"), "--format", "json"]
        command += ["--quiet", "--ledger", str(tmp_path / "ledger"), "--jobs", "2", "--budget", "200"]
        command += ["--select", f"{EMPTY},{COPIED},{TAMPERED},{LEAKED}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=3000)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def attacked(deep):
    """Attacks one fixture with one probe: its outcomes, and the rules that found something."""

    def run(folder, probe, images=()):
        told = deep(folder, probe, images)
        made = [t for t in told["trials"] if (t.get("experiment") or {}).get("name") == probe]
        rewards = {t["agent"]: t["reward"] for t in told["trials"]}
        assert rewards["oracle"] == 1.0, [t["failure_evidence"] for t in told["trials"]]
        assert rewards["nop"] == 0.0
        return [t["experiment"]["outcome"] for t in made], {f["rule"] for f in told["findings"]}

    return run


def holds(outcomes):
    return outcomes and set(outcomes) <= {"holds", "skipped"}


@pytest.mark.parametrize("task", LOCAL)
def test_a_hole_in_the_sandbox_is_found_and_its_twin_holds(task, attacked):
    probe, rule = LOCAL[task]
    outcomes, found = attacked(FIXTURES / "holed" / task, probe)
    assert OUTCOMES.get(task, "broken") in outcomes
    assert found == {rule}
    outcomes, found = attacked(FIXTURES / "sound" / task, probe)
    assert holds(outcomes), outcomes
    assert found == set()


@pytest.mark.engine
@pytest.mark.parametrize("task", IN_CONTAINERS)
def test_a_hole_in_a_container_is_found_and_its_twin_holds(task, attacked, base):
    probe, rule = IN_CONTAINERS[task]
    images = {"python:3.12-slim": base.tag}
    outcomes, found = attacked(FIXTURES / "holed" / task, probe, images)
    assert OUTCOMES.get(task, "broken") in outcomes
    assert found == {rule}
    outcomes, found = attacked(FIXTURES / "sound" / task, probe, images)
    assert holds(outcomes), outcomes
    assert found == set()


@pytest.mark.engine
def test_a_hole_beside_an_app_is_found_and_its_twin_holds(attacked, base, desk_image):
    images = {"python:3.12-slim": base.tag, "roundup-desk": desk_image}
    outcomes, found = attacked(FIXTURES / "holed/saas-bench", "forged-content", images)
    assert (outcomes, found) == (["broken"], {TAMPERED})
    outcomes, found = attacked(FIXTURES / "sound/saas-bench", "forged-content", images)
    assert (outcomes, found) == (["holds"], set())


def test_every_fixture_is_run():
    tasks = {p.parent.relative_to(FIXTURES / "holed").as_posix() for p in (FIXTURES / "holed").glob("*/*/*")}
    named = {t for t in tasks if t.count("/") == 1 and not t.startswith("saas-bench")}
    assert named == {*LOCAL, *IN_CONTAINERS}


@pytest.mark.engine
def test_every_example_withstands_every_probe(deep, base, desk_image):
    images = {"python:3.12-slim": base.tag, "roundup-desk": desk_image}
    told = deep(TASKS, "probe", images, TASKS / "scenlint.toml")
    made = [t for t in told["trials"] if (t.get("experiment") or {}).get("kind") == "probe"]
    through = [
        (t["task"], t["agent"], t["experiment"]["outcome"], t["experiment"]["evidence"])
        for t in made
        if t["experiment"]["outcome"] not in ("holds", "skipped")
    ]
    assert through == []
    assert len({t["task"] for t in made if t["experiment"]["outcome"] == "holds"}) == 11
    assert told["findings"] == []
