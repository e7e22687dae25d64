"""What a team has decided and a rule applies: the profile, approved images, known digests."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Profile(StrEnum):
    """Where the field disagrees, a profile settles it."""

    SEED = "seed"
    HARBOR = "harbor"
    TERMINAL_BENCH_3 = "terminal-bench-3"
    MINIMAL = "minimal"


# Official images of language runtimes and distributions: a fleet that starts from these shares a known surface.
DEFAULT_APPROVED_IMAGES = (
    "debian", "ubuntu", "alpine", "fedora", "rockylinux", "busybox",
    "python", "node", "golang", "rust", "gcc", "openjdk", "eclipse-temurin", "ruby", "php", "perl", "r-base",
    "haskell", "erlang", "elixir", "julia", "swift", "maven", "gradle", "buildpack-deps",
    "postgres", "mysql", "mariadb", "redis", "mongo", "nginx", "httpd",
    "ghcr.io/astral-sh/uv",
)  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """Plain settings that rules may read. `approved_images` are repository names or glob patterns, without tag."""

    profile: Profile = Profile.SEED
    approved_images: tuple[str, ...] = DEFAULT_APPROVED_IMAGES
    substitutes: dict[str, str] = field(default_factory=dict)  # pinned reference -> mirror or local image
    oracles: dict[str, str] = field(default_factory=dict)  # id of a task, or a pattern -> path of its solution
    pass_env: tuple[str, ...] = ()  # variables of this machine that tasks may be given
    digests: dict[str, str] = field(default_factory=dict)  # reference by tag -> the digest that it is pinned by
    packages: dict[str, str] = field(default_factory=dict)  # Python package -> the version that lock files give
    apps: str | None = None  # SaaS-Bench: path of apps.yaml, where it does not lie beside the tasks
