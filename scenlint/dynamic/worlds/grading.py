"""Other circumstances of the grading: no network, another zone, locale, hash seed, order of tests, one processor."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned, conclude, settled, skipped
from scenlint.dynamic.worlds import around
from scenlint.dynamic.worlds.moved import FOLDER, Proof, Proving, actor, graded_with, out_of_reach, run_with, scripts
from scenlint.harness.agents import OracleAgent
from scenlint.harness.environment import Environment
from scenlint.harness.scene import Scene
from scenlint.task.plan import Limits, Network, Others, Step, Upload, Where
from scenlint.task.record import Experiment, PhaseName, TrialRecord

ZONES = {"zone-east": ("Pacific/Kiritimati", "+1400"), "zone-west": ("Pacific/Pago_Pago", "-1100")}
SEEDS = ("0", "1")
ORDER = "scenlint_order"  # a plugin of pytest's
REVERSED = "scenlint: the tests ran in reverse order"
_PLUGIN = f'''"""Runs tests in reverse order, and says so."""


def pytest_collection_modifyitems(items):
    items.reverse()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("{REVERSED}")
'''


def offline(about: Context) -> Iterator[Planned]:
    """The verifier without a network, where it has one."""
    plan = about.plan
    # A verifier's own sandbox reaches the apps and nothing else.
    elsewhere = [s for s in plan.steps if s.verify.where is not Where.LOCAL]
    with_network = [s for s in elsewhere if (s.verify.network or plan.network) is not Network.NONE]
    if not with_network:
        yield settled("world", "offline", "same", "the verifier has no network in any trial")
    elif plan.compose is not None or plan.apps:
        yield skipped("world", "offline", "the network of several containers cannot be switched off between phases")
    else:
        agent, did = actor(about, "offline")
        steps = tuple(replace(s, verify=replace(s.verify, network=Network.NONE)) for s in plan.steps)
        experiment = Experiment("world", "offline", expected="same", did=f"{did} with the network off at grading")
        yield Planned(experiment, agent, plan=replace(plan, steps=steps))


def variables(about: Context) -> Iterator[Planned]:
    """Worlds that are a variable: time zone, locale (whole trials), and Python's hash seed (gradings)."""
    plan = about.plan
    why = out_of_reach(plan)
    for name, (zone, offset) in ZONES.items():
        look = partial(around.look, moved=around.zone_moved(offset)) if plan.compose is not None else None
        yield _whole(about, name, ("TZ", zone), _zone(offset), f"in the time zone {zone}", why, look)
    # A locale that is not there silently is the plain one.
    proof = Proof(
        "locale -a 2>/dev/null | grep -ixF tr_TR.utf8 || echo none",
        lambda said: "the locale tr_TR.UTF-8 is not installed there" if said == "none" else "",
    )
    yield _whole(about, "locale", ("LC_ALL", "tr_TR.UTF-8"), proof, "in the locale tr_TR.UTF-8", why)
    why = out_of_reach(plan, python=True)
    if any(step.verify.helper for step in plan.steps):
        why = "the judge of this format takes no variables of Python's"
    if why:
        yield skipped("world", "hash-seed", why)
    else:
        yield from (_hash_seed(about, seed) for seed in SEEDS)


def _zone(offset: str) -> Proof:
    return Proof("date +%z", lambda said: "" if said == offset else f"`date +%z` says {said}, not {offset}")


def _whole(
    about: Context,
    name: str,
    variable: tuple[str, str],
    proof: Proof,
    how: str,
    why: str,
    look: Callable[[Environment, Scene], None] | None = None,
) -> Planned:
    """With `look` the other containers are moved too; without it solution and verifier only.

    Those of apps keep their zone, as in the format's own harness: there the verifier runs on a machine of any zone.
    """
    if why:
        return skipped("world", name, why)
    env = (variable,)
    plan = run_with(about.plan, env)
    if look is not None:
        plan, how = replace(plan, others=Others(env)), f"{how}, in the containers of the other services too"
    elif around.many(plan):
        how += f" (the containers of the {around.beside(plan)} kept theirs)"
    agent = Proving(OracleAgent(), f"world:{name}", proof, env, around=look)
    experiment = Experiment("world", name, expected="same", did=f"ran the reference solution and graded it {how}")
    return Planned(experiment, agent, plan=plan, judge=around.judge)


def _hash_seed(about: Context, seed: str) -> Planned:
    env = (("PYTHONHASHSEED", seed),)
    name = "hash-seed"
    worker, did = actor(about, name)
    twice = "for i in 1 2; do python3 -c 'print(hash(\"scenlint\"))' || exit 1; done"
    same = Proof(twice, lambda said: "" if len(set(said.split())) == 1 else "two runs of Python hash differently")
    agent = Proving(worker, f"world:{name}#{seed}", same, env)
    experiment = Experiment(
        *("world", name, seed, "same"), did=f"{did} with PYTHONHASHSEED={seed}, which orders sets of strings"
    )
    return Planned(experiment, agent, plan=graded_with(about.plan, env))


def reversed_tests(about: Context) -> Planned:
    """The tests of pytest's in reverse order."""
    name, plan = "test-order", about.plan
    if not any("pytest" in text for text in scripts(plan)):
        return skipped("world", name, "the verifier does not run pytest")
    if any(s.verify.helper or _sets(s, "PYTHONPATH") or _sets(s, "PYTEST_ADDOPTS") for s in plan.steps):
        return skipped("world", name, "the verifier sets the variables by which a plugin of pytest's is added")
    folder = Path(tempfile.gettempdir()) / f"scenlint-{ORDER}"
    folder.mkdir(exist_ok=True)
    (folder / f"{ORDER}.py").write_text(_PLUGIN, "utf-8")
    env = (("PYTHONPATH", FOLDER), ("PYTEST_ADDOPTS", f"-p {ORDER}"))
    brought = (Upload(folder / f"{ORDER}.py", f"{FOLDER}/{ORDER}.py"),)
    agent, did = actor(about, name)
    experiment = Experiment("world", name, expected="same", did=f"{did} with the tests in reverse order")
    return Planned(experiment, agent, plan=graded_with(plan, env, brought), judge=_reversed)


def _reversed(record: TrialRecord, folder: Path, about: Context) -> None:
    """Only where the plugin said that it ran; a verifier may well keep plugins out, which is right."""
    conclude(record, folder, about)
    experiment = record.experiment
    assert experiment is not None
    logs = [f for f in folder.rglob("verify-*.log") if f.is_file()]
    said = any(REVERSED in f.read_text("utf-8", "replace") for f in logs)
    said = said or any(REVERSED in p.output for p in record.phases if p.name == PhaseName.VERIFY)
    if not said and experiment.outcome != "skipped":
        experiment.outcome, experiment.reason = "skipped", "the verifier took no plugin, so the order stayed as it was"


def one_cpu(about: Context) -> Planned:
    """The whole trial on one processor."""
    name, plan = "one-cpu", about.plan
    main = plan.compose.container if plan.compose else plan.container
    containers = [c for c in (main, *(s.verify.container for s in plan.steps)) if c]
    asked = max((limits.cpus or 0 for limits in (plan.limits, *(c.limits for c in containers))), default=0)
    if asked > 1:
        return skipped("world", name, f"the task asks for {asked:g} processors")

    def pinned(limits: Limits) -> Limits:
        return replace(limits, one_cpu=True)

    steps = tuple(
        replace(s, verify=replace(s.verify, container=replace(c, limits=pinned(c.limits))))
        if (c := s.verify.container)
        else s
        for s in plan.steps
    )
    container = plan.container and replace(plan.container, limits=pinned(plan.container.limits))
    agent = Proving(
        OracleAgent(),
        f"world:{name}",
        Proof("nproc", lambda said: "" if said == "1" else f"`nproc` says {said}"),
    )
    did = "ran the reference solution and graded it on one processor"
    did += f", and so the {around.beside(plan)}" if around.many(plan) else ""
    experiment = Experiment("world", name, expected="same", did=did)
    others = Others(one_cpu=around.many(plan))
    moved = replace(plan, steps=steps, container=container, limits=pinned(plan.limits), others=others)
    return Planned(experiment, agent, plan=moved)


def _sets(step: Step, variable: str) -> bool:
    return any(key == variable for check in step.verify.checks for key, _ in check.command.env)
