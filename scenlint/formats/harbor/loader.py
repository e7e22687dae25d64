"""Reads a Harbor task's folder into a Task."""

from __future__ import annotations

import os
import re

from scenlint.formats.base import (
    TaskRef,
    below,
    context_files,
    fragment_of,
    fragments_of,
    image_settings,
    language_of,
    read_document,
    require,
    text_at,
    value_at,
    variables_at,
)
from scenlint.formats.compose import read_compose
from scenlint.formats.harbor.steps import Step, left_out, read_steps
from scenlint.source.data import Data
from scenlint.source.files import FileTree
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task.finding import Severity
from scenlint.task.model import (
    Brief,
    Budget,
    BuildFile,
    Claim,
    Contract,
    Environment,
    Grader,
    ImageUse,
    Isolation,
    Limit,
    Oracle,
    Place,
    Requirement,
    Role,
    Task,
    Value,
    Verifier,
)
from scenlint.task.policy import Policy

# Harbor's own: leading comment lines that name a canary, and the blank lines behind them, are not told to the agent.
CANARY = regex(r"(?:(?:<!--.*?canary.*?-->|#.*?canary.*)[ \t]*(?:\r\n|\n|\r|$)(?:[ \t]*(?:\r\n|\n|\r))*)+", re.I)
VERDICTS = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
VERIFIER_TIMEOUT, BUILD_TIMEOUT = 600, 600
_SETTINGS = regex(
    r"(?:^|/)(?:requirements[^/]*\.txt|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|\.[^/]+|README[^/]*)$"
)
COMPOSE = "docker-compose.yaml"


class Loader:
    """One task being read."""

    def __init__(self, ref: TaskRef, policy: Policy) -> None:
        self.tree = FileTree(ref.folder)
        folder_name = os.path.basename(os.path.abspath(ref.folder))
        self.task = Task(folder_name, "harbor", ref.folder, self.tree, ref.key, policy, ref.suite)
        document = read_document(self.tree, "task.toml", "toml", "task.toml", "harbor_task")
        if document is not None:
            self.task.documents.append(document)
        self.data: Data | None = document.data if document and document.data.error is None else None
        self.suffix = ".bat" if text_at(self.data, "environment", "os") == "windows" else ".sh"
        self.steps = read_steps(self.data, self.tree)

    def load(self) -> Task:
        task = self.task
        name = text_at(self.data, "task", "name")
        if self.data is not None and name:
            task.id = name
            task.claims.append(Claim("id", name, self.data.span("task", "name"), name))
        task.requirements.append(require(self.tree, "task.toml", "Harbor reads the task's settings from it"))
        self._briefs()
        self._environment()
        self._verifier()
        self._oracle()
        self._budget()
        self._known()
        task.absent.setdefault(Role.METADATA, "task.toml is missing or cannot be read")
        task.absent.setdefault(Role.STEPS, "Harbor reads no work list from the brief")
        task.absent.setdefault(Role.SITES, "Harbor tasks declare no applications")
        return task

    # ---------------------------------------------------------------- roles

    def _briefs(self) -> None:
        for step in self.steps:
            path = step.prefix + "instruction.md"
            self.task.requirements.append(require(self.tree, path, "the agent is told what it says"))
            fragment = fragment_of(self.tree, path, "markdown")
            if fragment is not None:
                canary = CANARY.match(fragment.text)
                prose = fragment.slice(canary.end(), len(fragment.text), "markdown") if canary else fragment
                self.task.briefs.append(Brief(prose, step.name))
        self.task.absent[Role.BRIEF] = "instruction.md is missing or cannot be read"

    def _environment(self) -> None:
        out = Environment()
        image = text_at(self.data, "environment", "docker_image")
        if self.data is not None and image:
            out.images.append(ImageUse(image, self.data.span("environment", "docker_image")))
        composed = self._container("environment", Place.AGENT, out)
        file = self.tree.has_dir("environment") and "environment/Dockerfile" in self.tree
        if not (file or composed or image):
            why = "the image is built from it, unless [environment] docker_image names one"
            self.task.requirements.append(Requirement("environment/Dockerfile", why, met=False))
        if not (out.builds or out.images or out.compose):
            self.task.absent[Role.ENVIRONMENT] = "environment/ holds no Dockerfile and no docker-compose.yaml"
            return
        out.files = context_files(self.tree, "environment")
        out.files += [path for step in self.steps if step.name for path in below(self.tree, step.prefix + "workdir")]
        self._settings(out)
        self.task.environment = out

    def _container(self, folder: str, place: Place, out: Environment) -> bool:
        """Add the images of a folder's Dockerfile and compose file; whether the compose file makes the main one."""
        compose = read_compose(self.tree, f"{folder}/{COMPOSE}", lambda s: place if s == "main" else Place.SERVICE)
        main = False
        if compose is not None:
            if self.task.documents:  # the first document is the metadata
                self.task.documents.append(compose.document)
            out.compose.append(compose.document)
            main = compose.built("main")
            out.builds += compose.builds
            # Beside a Dockerfile, an image of `main` is no more than the name of what is built.
            own = f"{folder}/Dockerfile" in self.tree
            out.images += [i for i in compose.images if i.service != "main" or not own]
        if not any(b.service == "main" and b.place is place for b in out.builds):
            fragment = fragment_of(self.tree, f"{folder}/Dockerfile", "dockerfile")
            if fragment is not None:
                out.builds.append(BuildFile(fragment, folder, place))
        return main

    def _settings(self, out: Environment) -> None:
        """Working directory, network and user: task.toml first, then the image."""
        agent = next((b for b in out.builds if b.place is Place.AGENT), None)
        out.workdir, out.user = image_settings(agent)
        out.workdir = text_at(self.data, "environment", "workdir") or out.workdir
        if self.data is None:
            return
        if self.data.get("agent", "user") is not None:
            out.user = value_at(self.data, "agent", "user")
        for at in (("agent", "network_mode"), ("environment", "network_mode")):
            mode = text_at(self.data, *at)
            if mode is not None:
                out.network = Value(mode != "no-network", self.data.span(*at))
                return
        allowed = self.data.get("environment", "allow_internet")
        if isinstance(allowed, bool):
            out.network = Value(allowed, self.data.span("environment", "allow_internet"))

    def _verifier(self) -> None:
        graders: list[Grader] = []
        script = "tests/test" + self.suffix
        own_image = bool(text_at(self.data, "verifier", "environment", "docker_image"))
        for step in self.steps:
            own = self.tree.has_dir(step.prefix + "tests") and step.prefix + script in self.tree
            path = step.prefix + script if own else script
            fragment = fragment_of(self.tree, path)
            if fragment is not None:
                timeout = self._limit(step, "verifier", VERIFIER_TIMEOUT)
                graders.append(Grader(path, fragment.span(), script=fragment, timeout=timeout.value))
            elif not own_image:
                self.task.requirements.append(
                    Requirement(step.prefix + script, "it runs the tests and writes the reward", met=path in self.tree)
                )
        files = self._bundle("tests")
        if not graders and not files:
            self.task.absent[Role.VERIFIER] = f"{script} is missing"
            return
        isolation = self._isolation()
        environment = self.task.environment or Environment()
        workdir = environment.workdir
        if isolation is Isolation.SEPARATE:
            workdir = self._verifier_image(environment, workdir)
        self.task.verifier = Verifier(
            graders,
            Contract.REWARD_FILE,
            isolation,
            files=fragments_of(self.tree, files),
            folder="tests",
            mount="/tests",
            workdir=workdir,
            verdict_paths=VERDICTS,
            env=self._variables("verifier"),
            truth=[path for path in files if self._is_data(path)],
        )

    def _isolation(self) -> Isolation:
        mode = text_at(self.data, "verifier", "environment_mode")
        if mode is None:
            image = any(f"tests/{name}" in self.tree for name in ("Dockerfile", COMPOSE))
            stated = self.data is not None and isinstance(self.data.get("verifier", "environment"), dict)
            mode = "separate" if stated or image else "shared"
        return Isolation.SEPARATE if mode == "separate" else Isolation.SHARED

    def _verifier_image(self, environment: Environment, workdir: str | None) -> str | None:
        """Add the verifier's own image to the environment's list, and tell its working directory."""
        folders = ["tests", *(step.prefix + "tests" for step in self.steps if step.name)]
        for folder in folders:
            self._container(folder, Place.VERIFIER, environment)
        image = text_at(self.data, "verifier", "environment", "docker_image")
        if self.data is not None and image:
            at = self.data.span("verifier", "environment", "docker_image")
            environment.images.append(ImageUse(image, at, Place.VERIFIER))
        own = next((b for b in environment.builds if b.place is Place.VERIFIER), None)
        stated = text_at(self.data, "verifier", "environment", "workdir")
        return stated or (image_settings(own)[0] if own else None if image else workdir)

    def _is_data(self, path: str) -> bool:
        code = language_of(path, self.tree.read(path)) in ("python", "shell", "batch", "powershell", "dockerfile")
        return not code and not path.endswith("/" + COMPOSE) and not _SETTINGS.search(path)

    def _oracle(self) -> None:
        script = "solution/solve" + self.suffix
        entries: list[Fragment] = []
        lacking: list[str] = []
        for step in self.steps:
            path = step.prefix + script if step.prefix + script in self.tree else script
            fragment = fragment_of(self.tree, path)
            if fragment is None:
                lacking.append(step.prefix + script)
            else:
                entries.append(fragment)
        self.task.oracle_place = self.steps[0].prefix + script
        if not entries:
            self.task.absent[Role.ORACLE] = f"{self.task.oracle_place} is missing"
            return
        for path in lacking:
            why = "the oracle cannot do this step, so no run shows that the task can be solved"
            self.task.requirements.append(Requirement(path, why, Severity.WARNING, met=False))
        self.task.oracle = Oracle(entries[0], fragments_of(self.tree, self._bundle("solution")), "solution")

    def _bundle(self, name: str) -> list[str]:
        """The files of tests/ or solution/, the steps' own included, that .harborignore does not keep out."""
        out = []
        for folder in [name, *(step.prefix + name for step in self.steps if step.name)]:
            ignored = {f"{folder}/{path}" for path in left_out(self.tree, folder)}
            out += [path for path in below(self.tree, folder) if path not in ignored]
        return out

    def _budget(self) -> None:
        if self.data is None and "task.toml" in self.tree:
            self.task.absent[Role.BUDGET] = "task.toml cannot be read"
            return
        limits = [self._limit(step, "agent", None) for step in self.steps]
        limits += [self._limit(step, "verifier", VERIFIER_TIMEOUT) for step in self.steps]
        build = value_at(self.data, "environment", "build_timeout_sec", default=BUILD_TIMEOUT)
        limits.append(Limit("build", build, "[environment] build_timeout_sec in task.toml"))
        self.task.budget = Budget(limits)

    def _limit(self, step: Step, who: str, default: int | None) -> Limit:
        """A step's own limit, else the task's; a missing one has its table's place."""
        own = value_at(self.data, *step.at, who, "timeout_sec")
        if own.value is None and step.name:
            own = value_at(self.data, who, "timeout_sec")
        if own.value is None:
            own = Value(default, self._table(step, who) if default is None else None)
        where = f"[steps.{who}] timeout_sec of step `{step.name}`" if step.name else f"[{who}] timeout_sec"
        return Limit(who, own, f"{where} in task.toml")

    def _table(self, step: Step, who: str) -> Span | None:
        """Where a limit that is missing would stand."""
        tables = [at for at in ((*step.at, who), step.at, (who,)) if at]
        return next((self.data.span(*at) for at in tables if self.data and self.data.get(*at) is not None), None)

    def _variables(self, who: str) -> dict[str, Value]:
        out = variables_at(self.data, who, "env")
        for step in self.steps:
            if step.name:
                out |= variables_at(self.data, *step.at, who, "env")
        return out

    def _known(self) -> None:
        known = self.task.known_files
        known |= {"task.toml", "trajectory.json"}
        folders = ["environment", "tests", "solution"]
        for step in self.steps:
            known.add(step.prefix + "instruction.md")
            if step.name:
                folders += [step.prefix + part for part in ("tests", "solution", "workdir")]
        for folder in folders:
            known |= {entry.path for entry in self.tree.under(folder)}
