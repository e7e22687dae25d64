"""Chooses what a plan runs in: one container, a compose project, apps or the local sandbox; and where it is graded."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from scenlint.harness.engine import Options
from scenlint.harness.environment import Environment, Fault, Ran
from scenlint.harness.scene import Prepared, Scene, plain
from scenlint.task.plan import Network, NotRunnableError, RunPlan, Step, Upload, Verify, Where

if TYPE_CHECKING:
    from scenlint.harness.container import ContainerEnvironment
    from scenlint.harness.images import Ready


class Backend(Protocol):
    """A module that makes environments: what takes time and no agent first, then one environment for the trial."""

    def prepare(self, scene: Scene) -> Prepared | Ready: ...
    def start(self, scene: Scene, prepared: Any) -> Environment: ...


def check(plan: RunPlan, options: Options) -> None:
    """Refuse what is unsafe or cannot be done before anything is made."""
    refused = [what for what in plan.unsafe if what not in options.allow_unsafe]
    if refused:
        named = ", ".join(f"`{what}`" for what in refused)
        raise NotRunnableError(
            f"the task asks for {named}, which is unsafe here. If you trust it: `--allow-unsafe {','.join(refused)}`"
        )
    if Network.ALLOWLIST in {plan.network, *(step.verify.network for step in plan.steps)}:
        raise NotRunnableError(
            f"the task allows only some hosts ({', '.join(plan.allowed_hosts) or 'none named'}): this harness has no "
            "network between none and public; ship what is needed in the image and switch the network off"
        )
    if not plan.steps:
        raise NotRunnableError(f"`{plan.task}` has no step to run")
    for step in plan.steps:
        _check_verify(step.verify, plan)


def _check_verify(verify: Verify, plan: RunPlan) -> None:
    if verify.where is Where.CONTAINER and plan.compose and verify.network not in (None, plan.network):
        raise NotRunnableError(
            f"the network is to change from {plan.network} to {verify.network} when the agent has ended, and here that "
            "of a compose project stays: give both phases the same network, or the verifier a container of its own"
        )
    if verify.where is Where.LOCAL and verify.network not in (None, Network.NONE):
        raise NotRunnableError("the verifier's sandbox has no network; a verifier that needs one must name an image")
    named = [*(name for name, _ in verify.service_artifacts), *(hook.service for hook in verify.collect)]
    if not plan.compose and any(named):
        raise NotRunnableError(
            f"the service `{next(filter(None, named))}` is named, and the task has no compose file with services"
        )


def backend(plan: RunPlan) -> Backend:
    """The module for the plan's environment."""
    if plan.container is not None:
        name = "single"
    elif plan.compose is not None:
        name = "compose"
    else:
        name = "apps" if plan.apps else "local"
    return cast(Backend, _module(name))


def prepare_verifiers(scene: Scene) -> dict[str, Ready]:
    """The images of separate verifiers, by step: a missing one is found before the agent has worked for nothing."""
    from scenlint.harness import single

    out = {}
    for step in scene.plan.steps:
        if step.verify.where is Where.SEPARATE and step.verify.container is not None:
            log = f"build-verifier{'-' if step.name else ''}{plain(step.name) if step.name else ''}.log"
            out[step.name] = single.prepare_image(scene, step.verify.container, log)
    return out


def grader(scene: Scene, step: Step, environment: Environment, image: Ready | None) -> Environment:
    """Where a step is graded: the agent's environment, a fresh container with the artifacts, or a local sandbox."""
    verify = step.verify
    if verify.where is Where.SEPARATE:
        return _separate(scene, step, environment, image)
    if verify.where is Where.LOCAL:
        return cast(Environment, _module("local").grader(scene, step, environment))
    give_network(scene, environment, verify.network or scene.plan.network)
    return environment


def give_network(scene: Scene, environment: Environment, network: Network) -> None:
    """See that a container has this network."""
    from scenlint.harness import single

    if other_network(environment, network):
        single.switch(scene, cast("ContainerEnvironment", environment), network)


def other_network(environment: Environment, network: Network) -> bool:
    return getattr(environment, "network", None) not in (None, network)


def service(environment: Environment, name: str) -> Environment:
    """The container of a compose project's service; without a name the environment itself."""
    found: Callable[[str], Environment] | None = getattr(environment, "service", None)
    if not name:
        return environment
    if found is None:
        raise Fault(f"there is no service `{name}`: the environment is no compose project")
    return found(name)


def told(step: Step, agent: Ran | None) -> Step:
    """The step as it is graded: where its verifier wants that, every check is given what the agent printed."""
    verify, said = step.verify, agent.stdout if agent else b""
    if not verify.agent_output:
        return step
    checks = tuple(replace(c, command=replace(c.command, stdin=said)) for c in verify.checks)
    files = tuple((variable, name, _with_output(text, said)) for variable, name, text in verify.private_files)
    return replace(step, verify=replace(verify, checks=checks, private_files=files))


def _with_output(text: str, said: bytes) -> str:
    try:
        content = json.loads(text)
    except ValueError:
        return text
    return json.dumps({**content, "output": said.decode("utf-8", "replace")}) if isinstance(content, dict) else text


def _separate(scene: Scene, step: Step, environment: Environment, image: Ready | None) -> Environment:
    from scenlint.harness import single

    if step.verify.container is None or image is None:
        raise NotRunnableError(f"the separate verifier of `{scene.plan.task}` has no image")
    carried = []
    wanted = [("", path) for path in step.verify.artifacts]
    for n, (name, path) in enumerate((*wanted, *step.verify.service_artifacts)):
        target = scene.log(f"artifacts/{n}", step)
        if service(environment, name).collect(path, target):
            carried.append(Upload(target, path))
    suffix = f"-{plain(step.name)}" if step.name else ""
    network = step.verify.network or scene.plan.network
    made = single.launch(scene, step.verify.container, image, f"scenlint-{scene.trial}-verifier{suffix}", network)
    try:
        made.upload_all(tuple(carried), keep_modes=True)
    except BaseException:
        made.close()
        raise
    return made


def _module(name: str) -> Any:
    """Imported when it is needed: `check` never pays for it."""
    return importlib.import_module(f"scenlint.harness.{name}")
