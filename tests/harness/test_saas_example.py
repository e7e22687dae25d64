"""The SaaS-Bench example: a real web application with a real database, several at once, its oracle over HTTP."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.formats.saas_bench import FORMAT
from scenlint.harness import trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.task.policy import Policy
from scenlint.task.record import Status

pytestmark = pytest.mark.engine

SUITE = Path(__file__).parents[2] / "tasks/saas-bench"
TASK = SUITE / "tasks/uni-m/Teamwork/teamwork_501"
ORACLE = SUITE / "oracles/teamwork_501.py"


@pytest.fixture
def go(options, desk_image, tmp_path):
    """Run a trial of the example: go(agent) -> TrialRecord."""
    policy = Policy(oracles={"teamwork_501": str(ORACLE)})
    ref = next(ref for ref in FORMAT.find(TASK, frozenset(p.name for p in TASK.iterdir())))
    plan = FORMAT.plan(FORMAT.load(ref, policy))
    mapped = replace(options, substitutes={"roundup-desk": desk_image})
    count = 0

    def run(agent):
        nonlocal count
        count += 1
        return trial.run(plan, agent, tmp_path / f"{options.run}-{count}", options=mapped)

    return run


def points(record) -> str:
    return f"{sum(c.weight for c in record.checks if c.passed):g}/{sum(c.weight for c in record.checks):g}"


def test_oracle_and_nop_side_by_side(go, desk_image):
    with ThreadPoolExecutor(2) as pool:
        oracle, nop = pool.map(go, (OracleAgent(), Nop()))
    assert (oracle.status, oracle.reward, points(oracle)) == (Status.PASSED, 1.0, "12/12"), oracle
    assert (nop.status, nop.reward, points(nop)) == (Status.FAILED, 0.0, "0/12"), nop
    assert oracle.strict == oracle.harness
    assert oracle.image.startswith("roundup-desk@sha256:")
    assert oracle.substitute == f"{desk_image} for {oracle.image}"


def test_agents_on_this_machine_are_judged_by_what_they_did(go):
    code = """
import json, os, runpy, sys, urllib.parse
url = urllib.parse.urlsplit(json.loads(os.environ["SCENLINT_URLS"])["roundup"])
os.environ |= {"SERVER_HOSTNAME": url.hostname, "ROUNDUP_PORT": str(url.port)}
assert "- [ ] Sign in as `dora`." in open(os.environ["SCENLINT_TODO_FILE"]).read()
done = runpy.run_path(sys.argv[1])
"""
    # One more note, which also reopens the issue.
    late = """
more = done["call"]("POST", "/msg", {"content": "Done.", "author": done["dora"]})[0]["id"]
done["change"]("/issue/23", messages=[done["note"], more])
"""
    agents = [CommandAgent((sys.executable, "-c", text, str(ORACLE)), on_host=True) for text in (code, code + late)]
    with ThreadPoolExecutor(2) as pool:
        right, wrong = pool.map(go, agents)
    assert (right.status, points(right)) == (Status.PASSED, "12/12"), right
    assert (wrong.status, points(wrong)) == (Status.FAILED, "8/12"), wrong
