"""The same Harbor tasks through `harbor run` and through scenlint, side by side in one run, and without any harness.

    python benchmarks/validate_vs_harbor.py --harbor PATH/TO/harbor IMAGE TASK… [--rounds 3] [--with-init]

IMAGE is a local image that stands in for every pinned base image, with what the tasks need of it (bash, python3,
setpriv): in Harbor's copy of a task its reference is written over the pinned one, for scenlint it stands under
`[images.substitutes]`. Both copies get a public network, as Harbor needs two images from a registry to switch it off;
`--keep-network` leaves what the tasks say. A tiny task is added. Harbor needs the compose plugin (set DOCKER_CONFIG to
a folder with `cli-plugins/docker-compose` where docker itself has none); its telemetry is switched off.

Each round runs, for each task and for oracle and nop, in turn: `harbor run`, `scenlint run`, the same commands by hand
with the docker client, and in one `docker run`; then `scenlint validate`, which is both agents in one command. Images
are built before. `--with-init` adds Harbor with an init as PID 1, which saves the engine's stop grace. Prints every
reward and medians of wall time: of the whole command and, in brackets, of the trial as the tool's own record has it.
The exit status is 1 where rewards differ.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import bare
from timing import figure, in_turn, spread

from scenlint.harness import images
from scenlint.harness.engine import Options, connect
from scenlint.harness.reap import remove_images
from scenlint.lint.discover import format_named
from scenlint.task.plan import RunPlan
from scenlint.testing import base_task, load_task

Trial = tuple[float | None, float | None]  # its reward, and its seconds as the tool's own record has them

AGENTS, BOTH = ("oracle", "nop"), "oracle and nop in one command"
PINNED = re.compile(r"(?<=^FROM )\S+@sha256:\S+", re.MULTILINE)
SWITCHED_OFF = {
    'network_mode = "no-network"': 'network_mode = "public"',
    "allow_internet = false": "allow_internet = true",
}
QUIET = {"HARBOR_TELEMETRY": "off", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@dataclass
class Seen:
    """What one way of running one task showed: every reward, and each trial's own seconds where they are recorded."""

    rewards: list[str] = field(default_factory=list)
    trial: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def add(self, reward: float | None, seconds: float | None = None) -> None:
        self.rewards.append("none" if reward is None else f"{reward:g}")
        if seconds is not None:
            self.trial.append(seconds)


class Bench:
    """The copies of the tasks, and the ways to run one."""

    def __init__(self, root: Path, options: argparse.Namespace) -> None:
        self.root, self.options = root, options
        self.init = root / "init.yaml"
        self.init.write_text("services:\n  main:\n    init: true\n")
        self.substitutes: dict[str, str] = {}
        self.built: set[str] = set()

    def copy(self, task: Path) -> None:
        for tool in ("harbor", "scenlint"):
            target = self.root / tool / task.name
            shutil.copytree(task, target)
            for script in target.rglob("*.sh"):
                script.chmod(0o755)
            if not self.options.keep_network:
                edit(target / "task.toml", lambda text: replaced(text, SWITCHED_OFF))
            for file in target.rglob("Dockerfile"):
                self.substitutes |= dict.fromkeys(PINNED.findall(file.read_text()), self.options.image)
                if tool == "harbor":
                    edit(file, lambda text: PINNED.sub(self.options.image, text))
        lines = [f"{json.dumps(pinned)} = {json.dumps(local)}\n" for pinned, local in self.substitutes.items()]
        (self.root / "scenlint.toml").write_text("[images.substitutes]\n" + "".join(lines))

    def plan(self, task: str) -> tuple[RunPlan, bare.Images]:
        """The task's plan and its images, built here if they are not there yet."""
        plan = format_named("harbor").plan(load_task(self.root / "scenlint" / task))
        wanted = [c.image for c in (plan.container, *(step.verify.container for step in plan.steps)) if c]
        options = Options(substitutes=self.substitutes)
        ready = {image: images.prepare(connect(), image, options, timeout=600) for image in wanted}
        self.built |= {found.reference for found in ready.values()}
        return plan, {image: found.id for image, found in ready.items()}

    def harbor(self, task: str, agent: str, *more: str | Path) -> Trial:
        jobs = Path(tempfile.mkdtemp(dir=self.root, prefix="jobs-"))
        given = ("-p", self.root / "harbor" / task, "-a", agent, "-o", jobs, "-q", "-y")
        called(self.options.harbor, "run", *given, *more)
        found = json.loads(next(jobs.glob("*/*/result.json")).read_text())
        if found["exception_info"]:
            print(f"harbor, {task}, {agent}: {found['exception_info']['exception_message'][:500]}", file=sys.stderr)
        began, ended = (datetime.fromisoformat(found[key]) for key in ("started_at", "finished_at"))
        reward = ((found["verifier_result"] or {}).get("rewards") or {}).get("reward")
        return reward, (ended - began).total_seconds()

    def scenlint(self, command: str, task: str, *more: str) -> list[Trial]:
        where = ("--config", self.root / "scenlint.toml", "--ledger", self.root / "ledger")
        out = called(self.options.scenlint, command, self.root / "scenlint" / task, *where, "-f", "json", "-q", *more)
        return [(trial["reward"], trial["duration"]) for trial in json.loads(out)["trials"]]


def edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text()))


def replaced(text: str, table: dict[str, str]) -> str:
    for old, new in table.items():
        text = text.replace(old, new)
    return text


def called(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **QUIET})
    if not done.stdout.strip():
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


@dataclass
class Subject:
    """One task, and by agent and way what has been seen of it."""

    bench: Bench
    task: str
    seen: dict[tuple[str, str], Seen] = field(default_factory=lambda: defaultdict(Seen))

    def __post_init__(self) -> None:
        self.plan, self.images = self.bench.plan(self.task)
        self.bench.harbor(self.task, "nop")  # a warm-up: from now on the engine has the layers in its cache

    def round(self) -> None:
        ways: dict[tuple[str, str], Callable[[], None]] = {}
        for agent in AGENTS:
            for way, do in self._ways(agent).items():
                ways[agent, way] = partial(self._once, (agent, way), do)
        ways[BOTH, "scenlint validate"] = self._validate
        for key, times in in_turn(ways).items():
            self.seen[key].times += times

    def _ways(self, agent: str) -> dict[str, Callable[[], Trial]]:
        ways: dict[str, Callable[[], Trial]] = {"harbor": partial(self.bench.harbor, self.task, agent)}
        if self.bench.options.with_init:
            ways["harbor+init"] = partial(
                self.bench.harbor, self.task, agent, "--extra-docker-compose", self.bench.init
            )
        ways["scenlint"] = lambda: self.bench.scenlint("run", self.task, "--agent", agent)[0]
        ways["by hand"] = partial(self._bare, bare.by_hand, agent)
        ways["one run"] = partial(self._bare, bare.one_run, agent)
        return ways

    def _once(self, key: tuple[str, str], do: Callable[[], Trial]) -> None:
        self.seen[key].add(*do())

    def _bare(self, how: Callable[[RunPlan, bare.Images, bool], list[float]], agent: str) -> Trial:
        rewards = how(self.plan, self.images, agent == "oracle")
        return sum(rewards) / len(self.plan.steps), None  # steps that did not run count as 0

    def _validate(self) -> None:
        trials = self.bench.scenlint("validate", self.task, "--no-resume", "--jobs", "1")
        for agent, trial in zip(AGENTS, trials, strict=True):
            self.seen[agent, "scenlint validate"].add(*trial)

    def show(self) -> bool:
        """Print the figures; whether all ways agree about the rewards."""
        agree, pair = True, dict[str, float]()
        for agent in (*AGENTS, BOTH):
            rows = {way: found for (who, way), found in self.seen.items() if who == agent}
            print(f"\n{self.task}, {agent}")
            for way, found in rows.items():
                inside = f"({statistics.median(found.trial):.2f})" if found.trial else ""
                wall = f"{statistics.median(found.times):6.2f} s  {spread(found.times):12}" if found.times else " " * 22
                print(f"  {way:18} {wall} {inside:8} {'reward ' if found.rewards else ''}{' '.join(found.rewards)}")
                if found.times:
                    pair[way] = pair.get(way, 0.0) + statistics.median(found.times)
            agree &= agent == BOTH or len({reward for found in rows.values() for reward in found.rewards}) == 1
        ratios = (f"{way} {seconds / pair['scenlint validate']:.2f}" for way, seconds in pair.items())
        print(f"  oracle + nop, as multiples of scenlint validate: {', '.join(ratios)}")
        ours, theirs = pair["scenlint validate"], pair["harbor"]
        figure(
            f"oracle and nop of {self.task}", f"{ours:.1f} s", f"harbor run {theirs:.1f} s: {theirs / ours:.1f} times"
        )
        return agree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("tasks", type=Path, nargs="+")
    parser.add_argument("--harbor", type=Path, required=True)
    parser.add_argument("--scenlint", type=Path, default=Path(sys.executable).with_name("scenlint"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with-init", action="store_true")
    parser.add_argument("--keep-network", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        bench = Bench(Path(name), options)
        tiny = base_task("harbor", Path(name) / "tiny")
        tasks = [tiny, *options.tasks]
        for task in tasks:
            bench.copy(task)
        try:
            subjects = [Subject(bench, task.name) for task in tasks]
            for number, subject in itertools.product(range(1, options.rounds + 1), subjects):
                print(f"round {number}: {subject.task}", file=sys.stderr)
                subject.round()
        finally:
            remove_images(connect(), bench.built)
        agree = [subject.show() for subject in subjects]
    print(f"\nthe rewards {'agree' if all(agree) else 'DIFFER'}")
    raise SystemExit(0 if all(agree) else 1)


if __name__ == "__main__":
    main()
