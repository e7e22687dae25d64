"""As whom the agent works."""

from __future__ import annotations

from scenlint.source import dockerfile
from scenlint.task.model import Place, Task


def agent_is_root(task: Task) -> bool:
    """Whether the agent is root in its container, as far as metadata and Dockerfiles say (their silence says so)."""
    environment = task.environment
    if environment is None:
        return True
    if environment.user is not None and environment.user.value is not None:
        return str(environment.user.value) in ("root", "0")
    builds = [b for b in environment.builds if b.place is Place.AGENT]
    finals = [dockerfile.parse(b.fragment, b.arguments).final(b.target) for b in builds]
    return all(stage is None or (stage.user or "root") in ("root", "0") for stage in finals)
