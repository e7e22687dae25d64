"""The image built a second time without the cache: which files differ by more than the time of the build?"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scenlint.dynamic.experiments import Context, Planned, conclude, skipped
from scenlint.harness import compose
from scenlint.harness.agents import OracleAgent
from scenlint.harness.archive import stream
from scenlint.harness.compose import ComposeEnvironment
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.engine import connect, faults
from scenlint.harness.environment import Environment, Fault, Ran
from scenlint.harness.scene import Scene
from scenlint.task.plan import NotRunnableError, RunPlan, Step
from scenlint.task.record import Experiment, PhaseName, TrialRecord

if TYPE_CHECKING:
    from scenlint.harness.engine import Engine

NAME = "built-again"
_FILE = "drift.json"
_SHOWN = 12
# Traces of the build itself, which no work and no verifier depends on.
_TRACES = re.compile(
    r"^(?:proc|sys|dev|run|tmp|var/tmp|var/log|var/cache|var/lib/apt/lists|etc/(?:hostname|hosts|resolv\.conf|mtab|"
    r"machine-id|ld\.so\.cache|passwd-|group-|shadow-|gshadow-|\.pwd\.lock|ssh/ssh_host_[^/]*)|\.dockerenv|root/\.cache|"
    r"var/lib/dpkg/(?:[^/]*-old|lock[^/]*)|var/lib/systemd|etc/ssl/certs/java|home/[^/]+/\.cache)(?:/|$)|"
    r"(?:^|/)(?:__pycache__|\.pytest_cache|\.npm/_logs)(?:/|$)|\.py[co]$|\.dist-info/(?:RECORD|direct_url\.json)$"
)

Census = dict[str, list[Any]]  # path -> kind, mode, owner, group, content or target


@dataclass(frozen=True)
class Comparer:
    """Compares the files of images built before with those of this trial's, built anew; then the oracle works."""

    first: str  # the image that was built before
    name: str = f"world:{NAME}"

    def check(self, plan: RunPlan) -> None:
        OracleAgent().check(plan)

    def act(self, step: Step, environment: Environment, scene: Scene) -> Ran | None:
        if not isinstance(environment, ContainerEnvironment):
            raise NotRunnableError("the environment is no container")
        if not (scene.folder / _FILE).exists():
            engine, paths, differ, made = environment.engine, 0, list[str](), list[str]()
            try:
                for service, first, second in self._pairs(environment, scene):
                    made.append(second)
                    before, after = census(engine, first, scene), census(engine, second, scene)
                    paths += len(after)
                    where = f"in `{service}`: " if service else ""
                    differ += [where + one for one in drift(before, after)]
            except Fault as exc:
                raise NotRunnableError(f"the two images could not be compared: {exc}") from exc
            told = {"paths": paths, "differ": differ, "made": made}
            (scene.folder / _FILE).write_text(json.dumps(told), "utf-8")
        return OracleAgent().act(step, environment, scene)

    def _pairs(self, environment: ContainerEnvironment, scene: Scene) -> Iterator[tuple[str, str, str]]:
        """Service ("" for the one container), its first image, its second."""
        if not isinstance(environment, ComposeEnvironment):
            yield "", self.first, environment.image
            return
        assert scene.plan.compose is not None
        plan = replace(scene.plan, compose=replace(scene.plan.compose, anew=False))
        first = compose.prepare(replace(scene, plan=plan, folder=scene.folder / "first")).images
        for service, second in environment.images.items():
            if second.id != first[service].id and second.reference != first[service].reference:
                yield service, first[service].id, second.reference


def built_again(about: Context) -> Planned:
    """The image built twice; of a compose project those of all services for which one is built."""
    plan = about.plan
    if plan.apps:
        return skipped("world", NAME, "the apps' images are taken as they are; nothing is built for this task")
    image = "image"
    if plan.compose is not None:
        plan, image = replace(plan, compose=replace(plan.compose, anew=True)), "images of all services"
    elif plan.container is None or plan.container.image.build is None:
        return skipped("world", NAME, "nothing is built for this task")
    else:
        built = replace(plan.container.image, build=replace(plan.container.image.build, anew=True))
        plan = replace(plan, container=replace(plan.container, image=built))
    did = f"built the {image} a second time without the cache, and compared all files with those of the first"
    experiment = Experiment("world", NAME, expected="same", did=did)
    return Planned(experiment, Comparer(about.oracle.record.image), plan=plan, judge=_judge)


def _judge(record: TrialRecord, folder: Path, about: Context) -> None:
    conclude(record, folder, about)
    experiment = record.experiment
    assert experiment is not None
    _discard(record.image, about)
    failed = next((p for p in record.phases if p.name == PhaseName.BUILD and p.error), None)
    if failed is not None:
        experiment.outcome = "skipped"
        experiment.reason = f"it could not be built again: {failed.error.splitlines()[0][:300]}"
        return
    try:
        found = json.loads((folder / _FILE).read_text("utf-8"))
    except (OSError, ValueError):
        experiment.outcome = "skipped"
        experiment.reason = experiment.reason or "the files could not be compared"
        return
    for made in found.get("made", ()):
        _discard(made, about)
    if not found["paths"]:
        experiment.outcome, experiment.reason = "skipped", "no image is built for this project"
        return
    differ: list[str] = found["differ"]
    if differ:
        more = f" and {len(differ) - _SHOWN} more" if len(differ) > _SHOWN else ""
        experiment.outcome = "differs"
        experiment.evidence = f"{len(differ)} of {found['paths']} paths differ: {', '.join(differ[:_SHOWN])}{more}"
    elif experiment.outcome == "same":
        experiment.evidence = f"none of {found['paths']} paths differs in kind, content, mode or owner"


def census(engine: Engine, image: str, scene: Scene) -> Census:
    """What every path of an image is."""
    name = f"scenlint-{scene.trial}-census"
    labels = engine.labels(scene.options, scene.trial)
    with faults(f"reading the files of `{image}`"):
        engine.api.create_container(image, ["true"], name=name, labels=labels)
        try:
            answer = engine.api._get(engine.api._url("/containers/{0}/export", name), stream=True)
            try:
                engine.api._raise_for_status(answer)
                return _read(stream(answer.iter_content(1 << 16)))
            finally:
                answer.close()
        finally:
            engine.api.remove_container(name, force=True, v=True)


def drift(before: Census, after: Census) -> list[str]:
    """The paths that differ, with how; of a folder that only one has, the folder."""
    out = []
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        above = posixpath.dirname(path)
        if one is None or other is None:
            having = after if one is None else before
            lacking = before if one is None else after
            if above not in having or above in lacking or not above:
                out.append(f"/{path} (only in the {'second' if one is None else 'first'})")
        elif one != other:
            names = ("kind", "mode", "owner", "group", "content")
            how = [name for name, a, b in zip(names, one, other, strict=True) if a != b]
            out.append(f"/{path} ({', '.join(how)})")
    return out


def _read(tar: tarfile.TarFile) -> Census:
    out: Census = {}
    for entry in tar:
        path = entry.name.strip("./").strip("/") if entry.name in (".", "./") else entry.name.strip("/")
        path = path.removeprefix("./")
        if not path or _TRACES.search(path):
            continue
        content = entry.linkname
        if entry.isreg():
            file = tar.extractfile(entry)
            assert file is not None
            content = _shadow(file.read(1 << 20)) if path == "etc/shadow" else _digest(file)
        out[path] = [entry.type.decode("ascii", "replace"), entry.mode, entry.uid, entry.gid, content]
    return out


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def _shadow(text: bytes) -> str:
    """Accounts without the day of the last change, which is that of the build."""
    lines = [line.split(b":") for line in text.splitlines()]
    return hashlib.sha256(b"\n".join(b":".join(line[:2] + line[3:]) for line in lines)).hexdigest()


def _discard(image: str, about: Context) -> None:
    """The second image was made for this alone."""
    if image and image != about.oracle.record.image:
        with suppress(Fault), faults("removing the second image"):
            connect().api.remove_image(image, noprune=False)
