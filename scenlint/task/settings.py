"""Where a brief states a time limit, folder, user, port or version otherwise than metadata, Dockerfile and compose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenlint.source import dockerfile
from scenlint.source.data import listed
from scenlint.source.text import Span
from scenlint.task import statements
from scenlint.task.images import find_images
from scenlint.task.model import Place
from scenlint.task.statements import Sentence

if TYPE_CHECKING:
    from scenlint.task.model import Environment, Task


_FOREVER = 1e12  # seconds; what is stated as more is no limit


@dataclass(frozen=True)
class Clash:
    """What the brief states, where, and the place of the setting that denies it; `sure`: both are exact."""

    stated: Span
    message: str
    declared: Span | None = None
    sure: bool = True


def find_clashes(task: Task, sentence: Sentence) -> Iterator[Clash]:
    """The settings that a sentence states otherwise than they are."""
    yield from _limit(task, sentence)
    if task.environment is not None:
        yield from _folder_and_user(task.environment, sentence)
        yield from _port(task, sentence)
        yield from _version(task, sentence)


def _limit(task: Task, sentence: Sentence) -> Iterator[Clash]:
    agent = next((k for k in task.budget.limits if k.name == "agent"), None) if task.budget else None
    seconds = agent.value.value if agent else None
    if agent is None or not isinstance(seconds, int | float) or not 0 < seconds < _FOREVER:
        return
    limit = statements.stated_limit(sentence)
    if limit is None or not isinstance(limit.value, int | float):
        return
    if abs(limit.value - seconds) > 0.01 * seconds:
        message = f"the brief gives the agent {limit.value:g} seconds, {agent.where} says {seconds:g}"
        yield Clash(limit.span, message, agent.value.span)


def _folder_and_user(environment: Environment, sentence: Sentence) -> Iterator[Clash]:
    folder = statements.stated_workdir(sentence)
    if folder and environment.workdir and folder.value != environment.workdir.rstrip("/"):
        yield Clash(
            folder.span, f"the brief says the working directory is `{folder.value}`, it is `{environment.workdir}`"
        )
    user, actual = statements.stated_user(sentence), environment.user
    if user and actual and isinstance(actual.value, str) and user.value != actual.value.partition(":")[0]:
        message = f"the brief says the agent works as `{user.value}`, the environment sets `{actual.value}`"
        yield Clash(user.span, message, actual.span)


def _port(task: Task, sentence: Sentence) -> Iterator[Clash]:
    """Only a port that nothing in the environment names at all."""
    port = statements.stated_port(sentence)
    declared = _ports(task) if port else {}
    if port is None or not declared or task.visible.unlisted:
        return
    if not any(n.value == port.value for text in task.visible.texts if not text.brief for n in text.numbers):
        known = ", ".join(map(str, sorted(declared)))
        message = f"the brief says that something listens on port {port.value}, the environment names {known} only"
        yield Clash(port.span, message, next(iter(declared.values())), sure=False)


def _version(task: Task, sentence: Sentence) -> Iterator[Clash]:
    version = statements.stated_version(sentence)
    if version is None or not isinstance(version.value, tuple):
        return
    tool, number = version.value
    for image in find_images(task):
        name, tag = image.reference.name.rpartition("/")[2], image.reference.tag.partition("-")[0]
        agrees = f"{tag}.".startswith(f"{number}.") or f"{number}.".startswith(f"{tag}.")
        if image.base and image.place is not Place.VERIFIER and name == tool and tag[:1].isdigit() and not agrees:
            message = f"the brief says {tool} {number}, the image is `{image.reference.text}`"
            yield Clash(version.span, message, image.span, sure=False)


def _ports(task: Task) -> dict[int, Span]:
    """The ports that Dockerfiles and compose files declare."""
    found: dict[int, Span] = {}
    environment = task.environment
    if environment is None:
        return found
    for build in environment.builds:
        for stage in dockerfile.parse(build.fragment, build.arguments).used(build.target):
            for step in stage.history:
                if step.keyword == "EXPOSE":
                    found |= {int(port): step.span for port in re.findall(r"(?<![\w/])\d{2,5}", step.span.text)}
    for document in environment.compose:
        services = document.data.get("services")
        for name, service in services.items() if isinstance(services, dict) else ():
            for key in ("ports", "expose") if isinstance(service, dict) else ():
                for number, entry in enumerate(listed(service.get(key))):
                    span = document.data.span("services", name, key, number)
                    found |= {int(port): span for port in re.findall(r"\d{2,5}", str(entry))}
    return found
