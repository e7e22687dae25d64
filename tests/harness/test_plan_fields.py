"""What a plan says of a step beside its commands: users, probes, hooks, networks, what is carried over or left out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from plans import FOLDERS, make_plan, make_step, script

from scenlint.harness import backends, outcome, trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.engine import Options
from scenlint.harness.scene import Scene
from scenlint.harness.tree import Tree
from scenlint.task.plan import (
    Check,
    Command,
    Compose,
    Container,
    Hook,
    Image,
    Limits,
    Network,
    NotRunnableError,
    Oracle,
    Probe,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)
from scenlint.task.record import FailureClass, Status

PASS = "echo 1 > /logs/verifier/reward.txt"
SERVICES = """
services:
  store:
    image: IMAGE
    command: ["sleep", "1000"]
"""


def sh(text: str, **more) -> Command:
    return Command(("sh", "-c", text), **more)


def graded(step: Step, **changes) -> Step:
    """The step with another verify."""
    return replace(step, verify=replace(step.verify, **changes))


def separate(folder: Path, image: str, test: str, *artifacts: str, **changes) -> Step:
    """A step with a verifier in a container of its own."""
    verifier = Container(Image(image), folders=("/logs/verifier",))
    return make_step(folder, test=test, where=Where.SEPARATE, verifier=verifier, artifacts=artifacts, **changes)


def composed(folder: Path, image: str, step: Step) -> RunPlan:
    """A plan with the agent's container and the service `store`."""
    (folder / "compose.yaml").write_text(SERVICES.replace("IMAGE", image))
    main = Container(Image(image), folders=(*FOLDERS, "/app"), workdir="/app", limits=Limits(cpus=1, memory_mb=512))
    made = Compose((folder / "compose.yaml",), "main", folder, container=main)
    return RunPlan("org/composed", "harbor", folder, (step,), compose=made)


# Uploads


@pytest.fixture
def some_files(tmp_path):
    for name in ("kept.txt", "notes.txt", "cache/a", "deep/cache/b", "deep/notes.txt"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return Upload(tmp_path / "files", "/tests", exclude=("notes.txt", "cache", "deep/notes.txt"))


LEFT_IN = ["deep/cache/b", "kept.txt"]


@pytest.mark.engine
def test_what_an_upload_leaves_out_does_not_get_into_a_container(run, base, tmp_path, some_files):
    step = make_step(tmp_path, test="cd /tests; find . -type f ! -name test.sh | sort")
    record = run(make_plan(tmp_path, base.tag, graded(step, overlay=(*step.verify.overlay, some_files))))
    shown = next(p for p in record.phases if p.name == "verify").output
    assert shown.split() == [f"./{name}" for name in LEFT_IN]


def test_what_an_upload_leaves_out_does_not_get_into_a_sandbox(tmp_path, some_files):
    tree = Tree.make(tmp_path / "tree")
    tree.put(some_files, "tests")
    root = tmp_path / "tree/tests"
    assert sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()) == LEFT_IN


# Agents


@pytest.mark.engine
def test_the_steps_user_is_whom_oracle_and_command_agents_work_as(run, base, tmp_path):
    test = f'[ "$(cat /app/who)" = nobody ] && {PASS}'
    step = make_step(tmp_path, solve="id -un > /app/who", test=test, agent_user="nobody")
    plan = make_plan(tmp_path, base.tag, step)
    assert run(plan).status is Status.PASSED
    assert run(plan, CommandAgent(("sh", "-c", "id -un > /app/who"))).status is Status.PASSED
    other = run(plan, CommandAgent(("sh", "-c", "id -un > /app/who"), user="daemon"))
    assert other.status is not Status.PASSED
    program = 'docker exec -u "$SCENLINT_USER" "$SCENLINT_CONTAINER" sh -c "id -un > /app/who"'
    assert run(plan, CommandAgent(("sh", "-c", program), on_host=True)).status is Status.PASSED


@pytest.mark.engine
def test_a_steps_probe_holds_up_its_agent_after_the_set_up(run, base, tmp_path):
    ready = Probe(sh("test -e /app/ready"), interval=0.1)
    step = make_step(
        tmp_path,
        name="one",
        solve="[ -e /app/ready ] && echo 42 > /app/answer.txt",
        setup=sh("(sleep 1; touch /app/ready) >/dev/null 2>&1 &"),
        probe=ready,
    )
    never = replace(ready, command=sh("echo not yet; exit 1"), retries=1)
    record = run(make_plan(tmp_path, base.tag, step, make_step(tmp_path, name="two", probe=never)))
    assert record.step_rewards == {"one": 1.0, "two": None}
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "did not become ready" in record.failure_evidence
    assert "not yet" in record.failure_evidence


@pytest.mark.engine
def test_a_step_below_the_minimum_of_any_key_ends_the_trial(run, base, tmp_path):
    test = 'echo \'{"reward": 1, "style": 0.2}\' > /logs/verifier/reward.json'
    for least, ran in ((0.2, 2), (0.3, 1)):
        steps = [make_step(tmp_path, name=n, test=test, min_rewards=(("style", least),)) for n in ("one", "two")]
        steps = [graded(s, verdict_paths=("/logs/verifier/reward.json",)) for s in steps]
        assert len(run(make_plan(tmp_path, base.tag, *steps)).step_rewards) == ran


def test_a_key_that_is_not_there_is_below_every_minimum(tmp_path):
    from scenlint.task.record import Verdict

    step = make_step(tmp_path, min_reward=0.5, min_rewards=(("style", 0.0),))

    def goes_on(reward: float, **others: float) -> bool:
        return outcome.Outcome(step, strict=Verdict(reward, rewards={"reward": reward, **others})).goes_on

    assert goes_on(0.5, style=0.0)
    assert not goes_on(1.0)
    assert not goes_on(0.4, style=1.0)


# What the agent printed


OUTPUT_CHECK = """
import json, os, sys
told = json.load(open(os.environ["CONTEXT"]))
said = sys.stdin.read()
print(repr(said), told)
sys.exit(0 if said == told["output"] == "forty-two\\n" and told["version"] == 1 else 1)
"""


def printing(folder: Path, **changes) -> RunPlan:
    """A task whose answer is what the agent prints."""
    script(folder / "solve.sh", "echo forty-two; echo thinking >&2")
    (folder / "check.py").write_text(OUTPUT_CHECK)
    verify = Verify(
        Where.LOCAL,
        (Check("said", Command(("python3", "/verifier/check.py"))),),
        Reader.EXIT_STATUS,
        overlay=(Upload(folder / "check.py", "/verifier/check.py"),),
        private_files=(("CONTEXT", "context.json", json.dumps({"version": 1, "output": ""})),),
        agent_output=changes.pop("agent_output", True),
    )
    oracle = Oracle((Upload(folder / "solve.sh", "/oracle/solve.sh"),), Command(("bash", "/oracle/solve.sh")))
    return RunPlan("say", "waza", folder, (Step("Say it.", verify, oracle=oracle),), **changes)


def test_what_the_agent_printed_is_the_checks_input_and_in_their_private_file(tmp_path):
    plan = printing(tmp_path)

    def reward(agent, plan=plan) -> float | None:
        count = len(list(tmp_path.glob("trial-*")))
        return trial.run(plan, agent, tmp_path / f"trial-{count}").reward

    assert reward(OracleAgent()) == 1.0
    assert reward(CommandAgent(("echo", "forty-two"))) == 1.0
    assert reward(CommandAgent(("echo", "43"))) == 0.0
    assert reward(Nop()) == 0.0
    assert reward(OracleAgent(), printing(tmp_path, agent_output=False)) == 0.0


@pytest.mark.engine
def test_what_agents_of_a_container_printed_is_kept_apart_from_their_errors(run, base, tmp_path):
    image = Container(Image(base.tag), workdir="/app", folders=("/app",))
    plan = printing(tmp_path, container=image)
    said = "echo forty-two; echo thinking >&2"
    for agent in (OracleAgent(), CommandAgent(("sh", "-c", said)), CommandAgent(("sh", "-c", said), on_host=True)):
        assert run(plan, agent).reward == 1.0, agent


# Before the grading


@pytest.mark.engine
def test_hooks_run_when_the_agent_has_ended_and_before_anything_is_carried_over(run, base, tmp_path):
    step = separate(tmp_path, base.tag, f"grep -qx 42 /out/copy && {PASS}", "/out")
    hooks = (Hook(sh("mkdir /out && cp /app/answer.txt /out/copy")), Hook(sh("echo gathering; exit 3")))
    record = run(make_plan(tmp_path, base.tag, graded(step, collect=hooks)))
    assert record.status is Status.PASSED, record.to_json()
    noted = next(p for p in record.phases if p.name == "collect")
    assert noted.error == "collect: `sh -c echo gathering; exit 3` ended with exit status 3"
    assert "gathering" in noted.output
    assert [p.name for p in record.phases][2:5] == ["agent", "collect", "overlay"]


@pytest.mark.engine
def test_hooks_that_run_out_of_time_are_noted(run, base, tmp_path):
    hooks = (Hook(sh("sleep 60", timeout=0.5)),)
    record = run(make_plan(tmp_path, base.tag, graded(make_step(tmp_path), collect=hooks)))
    assert record.status is Status.PASSED, record.to_json()
    assert next(p for p in record.phases if p.name == "collect").error == "collect: `sh -c sleep 60` ran out of time"


@pytest.mark.engine
def test_what_other_services_hold_is_gathered_and_carried_over(run, base, plugin, tmp_path):
    step = separate(tmp_path, base.tag, f"grep -qx stored /data/dump && [ ! -e /app ] && {PASS}")
    hooks = (Hook(sh("mkdir /data; echo stored > /data/dump"), "store"), Hook(sh("true"), "missing"))
    step = graded(step, collect=hooks, service_artifacts=(("store", "/data"),))
    record = run(composed(tmp_path, base.tag, step))
    assert record.status is Status.PASSED, record.to_json()
    assert "no service `missing`" in next(p for p in record.phases if p.name == "collect").error


@pytest.mark.engine
def test_a_service_that_is_to_hand_something_over_and_is_not_there_is_found_before_the_start(
    run,
    base,
    plugin,
    tmp_path,
):
    step = graded(separate(tmp_path, base.tag, PASS), service_artifacts=(("db", "/dump"),))
    record = run(composed(tmp_path, base.tag, step))
    assert (record.failure_class, len(record.phases)) == (FailureClass.CONFIGURATION, 1)
    assert "no service `db`, which is to hand over `/dump`" in record.failure_evidence


# Networks

DEVICES = "ls /sys/class/net | grep -v '^lo$'"


@pytest.mark.engine
@pytest.mark.parametrize(("agent", "verifier"), [(Network.NONE, Network.PUBLIC), (Network.PUBLIC, Network.NONE)])
def test_a_verifier_in_the_agents_container_has_its_own_network(run, base, tmp_path, agent, verifier):
    has, lacks = DEVICES, f"! ({DEVICES})"
    solve = f"{has if agent is Network.PUBLIC else lacks}"
    test = f"{has if verifier is Network.PUBLIC else lacks} && {PASS}"
    steps = [graded(make_step(tmp_path, name=n, solve=solve, test=test), network=verifier) for n in ("one", "two")]
    record = run(make_plan(tmp_path, base.tag, *steps, network=agent))
    assert record.status is Status.PASSED, record.to_json()


@pytest.mark.engine
@pytest.mark.parametrize(("agent", "verifier"), [(Network.NONE, Network.PUBLIC), (Network.PUBLIC, Network.NONE)])
def test_a_separate_verifier_has_its_own_network(run, base, tmp_path, agent, verifier):
    test = f"{DEVICES if verifier is Network.PUBLIC else f'! ({DEVICES})'} && {PASS}"
    step = graded(separate(tmp_path, base.tag, test), network=verifier)
    record = run(make_plan(tmp_path, base.tag, step, network=agent))
    assert record.status is Status.PASSED, record.to_json()


def test_what_cannot_be_had_is_refused_before_anything_is_made(tmp_path):
    step, options = make_step(tmp_path), Options()
    alone = make_plan(tmp_path, "image", step)
    project = replace(alone, container=None, compose=Compose((), "main", tmp_path))
    for plan, said in (
        (replace(project, steps=(graded(step, network=Network.PUBLIC),)), "give both phases the same network"),
        (replace(alone, steps=(graded(step, network=Network.ALLOWLIST),)), "allows only some hosts"),
        (replace(alone, steps=(graded(step, service_artifacts=(("db", "/x"),)),)), "the service `db` is named"),
        (replace(alone, steps=(graded(step, collect=(Hook(sh("true")), Hook(sh("true"), "db"))),)), "`db` is named"),
        (replace(printing(tmp_path), steps=(graded(step, where=Where.LOCAL, network=Network.PUBLIC),)), "no network"),
    ):
        with pytest.raises(NotRunnableError, match=said):
            backends.check(plan, options)
    backends.check(replace(project, steps=(graded(step, network=project.network),)), options)


# Compose projects


def test_what_holds_for_the_agents_service_is_in_the_record_and_its_logs_are_kept(tmp_path):
    step = graded(make_step(tmp_path), verdict_paths=("/verdict/reward.txt",))
    plan = composed(tmp_path, "image", step)
    assert plan.compose is not None
    assert plan.compose.container is not None
    container = replace(plan.compose.container, folders=("/logs", "/verdict"))
    plan = replace(plan, compose=replace(plan.compose, container=container))
    budget = outcome.blank(Scene(plan, "t", tmp_path, Options()), "oracle").budget
    assert (budget["cpus"], budget["memory_mb"]) == (1, 512)
    assert outcome.own_folders(plan, step) == ("/verdict",)
    assert outcome.worth_keeping(plan, step) == ["/logs", "/verdict"]
