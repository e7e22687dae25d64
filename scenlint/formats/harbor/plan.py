"""Turns a Harbor task into a RunPlan."""

from __future__ import annotations

from dataclasses import replace

from scenlint.formats.digests import with_digests
from scenlint.formats.harbor import environment as env
from scenlint.formats.harbor.environment import LOGS, bash
from scenlint.formats.harbor.loader import COMPOSE
from scenlint.formats.harbor.steps import Step, left_out, read_steps
from scenlint.formats.harbor.verify import verify
from scenlint.formats.planning import Settings, brief_of, file_in, folder_in, named_in, passed_on
from scenlint.formats.unsafe import in_compose
from scenlint.task import plan as plans
from scenlint.task.model import Task
from scenlint.task.plan import Command, Compose, Container, Image, Network, NotRunnableError, Oracle, RunPlan, Upload

SOLUTION, SCRIPT = "/solution", "solve.sh"
_FOLDER = "environment"
# What Harbor sets for a compose file; the HOST_ and ENV_ paths are those of older task files.
_LOG_PATHS = {"AGENT_LOGS": LOGS[0], "VERIFIER_LOGS": LOGS[1], "ARTIFACTS": LOGS[2]}
VARIABLES = (
    "MAIN_IMAGE_NAME", "PREBUILT_IMAGE_NAME", "CONTEXT_DIR", "CPUS", "MEMORY", "TEST_DIR",
    *(f"{side}_{name}_PATH" for name in _LOG_PATHS for side in ("HOST", "ENV")),
)  # fmt: skip


class Planner:
    """One task being planned."""

    def __init__(self, task: Task) -> None:
        self.task, self.tree = task, task.files
        self.settings = Settings(task.metadata, "task.toml")
        self.steps = read_steps(self.settings.data, self.tree)
        found = task.environment.workdir if task.environment else None
        self.workdir = self.settings.text(_FOLDER, "workdir") or found

    def plan(self) -> RunPlan:
        image = self._image()
        container = env.container(self.task, self.settings, (_FOLDER,), image)
        compose = self._compose(container)
        network = self._network()
        steps = tuple(self._step(step, image, network) for step in self.steps)
        steps = (replace(steps[0], uploads=(*self._loose_files(), *steps[0].uploads)), *steps[1:])
        strategy = self.settings.text("multi_step_reward_strategy") or "mean"
        if strategy not in ("mean", "final"):
            raise self.settings.wrong(("multi_step_reward_strategy",), "mean or final")
        made = RunPlan(
            self.task.id,
            self.task.format,
            self.task.folder.resolve(),
            steps,
            None if compose else container,
            compose,
            network=network[0],
            allowed_hosts=network[1],
            reward_strategy=strategy,
            unsafe=self._unsafe(),
        )
        return with_digests(made, self.task)

    # ---------------------------------------------------------------- environment

    def _image(self) -> Image:
        """A prebuilt image comes before the Dockerfile; a compose file may have the last word."""
        stated = self.settings.text(_FOLDER, "docker_image")
        if stated:
            return Image(stated)
        if f"{_FOLDER}/Dockerfile" in self.tree:
            file_in(self.task, f"{_FOLDER}/Dockerfile")
            return env.build(self.task, _FOLDER)
        main = self._services().get("main")
        if isinstance(main, dict) and (main.get("build") or main.get("image")):
            return Image()
        raise NotRunnableError(
            f"`{_FOLDER}/Dockerfile` is missing, and [environment] in task.toml names no `docker_image`"
        )

    def _services(self) -> dict[str, object]:
        if f"{_FOLDER}/{COMPOSE}" not in self.tree:
            return {}
        document = next((d for d in self.task.documents if d.name == f"{_FOLDER}/{COMPOSE}"), None)
        return Settings(document, f"{_FOLDER}/{COMPOSE}").table("services")

    def _compose(self, container: Container) -> Compose | None:
        if f"{_FOLDER}/{COMPOSE}" not in self.tree:
            return None
        main = self._services().get("main")
        if isinstance(main, dict) and (main.get("build") or main.get("image")):
            container = replace(container, image=Image())
        folder = folder_in(self.task, _FOLDER)
        limits = container.limits
        variables = {
            "MAIN_IMAGE_NAME": "{trial}-main",
            "CONTEXT_DIR": ".",
            "PREBUILT_IMAGE_NAME": container.image.reference,
            "CPUS": f"{limits.cpus:g}" if limits.cpus else None,
            "MEMORY": f"{limits.memory_mb}M" if limits.memory_mb else None,
            "TEST_DIR": "/tests",
        }
        for name, path in _LOG_PATHS.items():
            variables |= {f"HOST_{name}_PATH": f"{{logs}}/{path.rpartition('/')[2]}", f"ENV_{name}_PATH": path}
        given = {name: value for name, value in variables.items() if value is not None}
        file = file_in(self.task, f"{_FOLDER}/{COMPOSE}")
        own = dict(named_in(file.read_text("utf-8", "replace"), self.task.policy)) | dict(container.env)
        return Compose((file,), "main", folder, tuple((own | given).items()), container)

    def _unsafe(self) -> tuple[str, ...]:
        documents = [d for d in self.task.documents if d.name == f"{_FOLDER}/{COMPOSE}"]
        found = (in_compose(d.data.value, _FOLDER, VARIABLES) for d in documents if isinstance(d.data.value, dict))
        return tuple(sorted(set().union(*found)))

    def _network(self) -> env.Policy:
        """The network while the agent works: its own table's, else the environment's, else a public one."""
        wanted = []
        for step in self.steps:
            tables = [(*step.at, "agent")] if step.at else []
            wanted.append(env.network(self.settings, *tables, ("agent",), (_FOLDER,)) or (Network.PUBLIC, ()))
        if len(set(wanted)) > 1:
            raise NotRunnableError("the steps in task.toml want different networks; here a trial has one")
        return wanted[0]

    def _loose_files(self) -> tuple[Upload, ...]:
        """The files in environment/ beside a prebuilt image, from which nothing is built, go to the working folder."""
        built = any(f"{_FOLDER}/{name}" in self.tree for name in ("Dockerfile", COMPOSE))
        if built or not self.tree.under(_FOLDER):
            return ()
        return (Upload(folder_in(self.task, _FOLDER), self._known_workdir("the files in environment/ go there")),)

    def _known_workdir(self, why: str) -> str:
        if self.workdir is None:
            raise NotRunnableError(f"the working folder is not known ({why}): state `workdir` under [environment]")
        return self.workdir

    # ---------------------------------------------------------------- steps

    def _step(self, step: Step, image: Image, network: env.Policy) -> plans.Step:
        settings = self.settings
        agents = [(*step.at, "agent"), ("agent",)] if step.at else [("agent",)]
        user = env.user_of(settings, *agents)
        limit = next((t for at in agents if (t := settings.positive(*at, "timeout_sec")) is not None), None)
        uploads, setup = self._prepared(step, user)
        least, others = self._minimum(step)
        return plans.Step(
            brief_of(self.task, step.name),
            verify(self.task, settings, step, image, network),
            step.name or "",
            uploads,
            setup,
            env.probe(settings, (*step.at, "healthcheck")) if step.at else None,
            self._oracle(step, user),
            limit,
            user,
            least,
            others,
        )

    def _prepared(self, step: Step, user: str | None) -> tuple[tuple[Upload, ...], Command | None]:
        """A step's workdir/ goes to the working folder, and its setup.sh is run there."""
        folder = f"{step.prefix}workdir"
        if not step.name or not self.tree.has_dir(folder):
            return (), None
        target = self._known_workdir(f"{folder}/ goes there")
        script = f"{target.rstrip('/')}/setup.sh" if f"{folder}/setup.sh" in self.tree else None
        setup = Command(("bash", script), user=user) if script else None
        return (Upload(folder_in(self.task, folder), target),), setup

    def _minimum(self, step: Step) -> tuple[float | None, tuple[tuple[str, float], ...]]:
        if not step.at or not isinstance(self.settings.data.get(*step.at, "min_reward"), dict):
            return (self.settings.number(*step.at, "min_reward") if step.at else None), ()
        keys = self.settings.table(*step.at, "min_reward")
        found = {key: self.settings.number(*step.at, "min_reward", key) or 0.0 for key in keys}
        return found.pop("reward", None), tuple(found.items())

    def _oracle(self, step: Step, user: str | None) -> Oracle | None:
        """solve.sh of the step, or of the task where the step has no solution/ of its own."""
        folder = f"{step.prefix}solution" if self.tree.has_dir(f"{step.prefix}solution") else "solution"
        if f"{folder}/{SCRIPT}" not in self.tree:
            return None
        file_in(self.task, f"{folder}/{SCRIPT}")
        variables = passed_on(self.settings.table("solution", "env"), self.task.policy, "[solution.env]")
        upload = Upload(
            folder_in(self.task, folder), SOLUTION, executable=True, exclude=tuple(left_out(self.tree, folder))
        )
        line = f"({SOLUTION}/{SCRIPT}) > /logs/agent/oracle.txt 2>&1"
        command = bash(f"{line}; code=$?; cat /logs/agent/oracle.txt; exit $code", user)
        return Oracle((upload,), replace(command, env=(("DEBIAN_FRONTEND", "noninteractive"), *variables)))
