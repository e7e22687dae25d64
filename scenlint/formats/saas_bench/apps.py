"""The applications of SaaS-Bench: the published ones, the apps.yaml at hand, and the variables the harness sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from scenlint.formats.compose import read_compose
from scenlint.source import trace
from scenlint.source.data import Data, parse
from scenlint.source.files import Entry, FileTree, read_source
from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task.model import Environment, HarnessVariable, HarnessVariables, ImageUse, Place

# The published apps, and whether the harness names a database container for them (verify_runner.SITE_CONFIG).
PUBLISHED = {
    "code-server": False, "openproject": True, "metabase": True, "baserow": True, "twenty": True, "bigcapital": True,
    "hrms": True, "pretix": True, "openemr": True, "opnform": False, "onlyoffice": True, "mattermost": True,
    "owncloud": True, "roundcubemail": True, "grocy": False, "recipya": False, "farmos": False, "e-label": True,
    "siyuan": False, "watcharr": False, "booklore": False, "mediacms": False, "photoprism": False,
}  # fmt: skip

PLACES = ("apps.yaml", "saas_bench/apps.yaml")  # where the list lies, seen from the folders above a task
_LEVELS = 6  # folders above a task that are searched

# Options of `docker run` that stand alone; every other one written without `=` takes the next word.
_FLAGS = regex(r"--(?:detach|rm|init|privileged|interactive|tty|read-only|no-healthcheck|publish-all)|-[ditP]+")


def find_apps(folder: Path, configured: str | None) -> Path | None:
    """The apps.yaml of a task: the configured one, else the nearest above it inside the same repository."""
    if configured is not None:
        return Path(configured) if trace.is_file(configured) else None
    for above in list(folder.resolve().parents)[:_LEVELS]:
        for place in PLACES:
            if trace.is_file(above / place):
                return above / place
        if trace.exists(above / ".git"):
            break
    return None


@dataclass(frozen=True)
class Apps:
    """An apps.yaml: the names it lists."""

    path: Path
    data: Data

    @classmethod
    def read(cls, path: Path | None) -> Apps | None:
        source = read_source(path) if path else None
        if path is None or source is None:
            return None
        data = parse(Fragment.of(source, "yaml"))
        return cls(path, data) if isinstance(data.get("apps"), dict) else None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.data.get("apps", default={}))

    @property
    def root(self) -> Path:
        """The root of the repository, from which compose templates are named."""
        above = self.path.parent
        return above.parent if above.name == "saas_bench" else above


def stem(app: str) -> str:
    """`E_LABEL` for `e-label`: what the app's variables begin with."""
    return app.upper().replace("-", "_")


def variables(sites: Iterable[str], listed: Iterable[str]) -> HarnessVariables:
    """What verify.py is promised for these sites; an app that only the list at hand knows may have a database."""
    sites = set(sites)
    known = [*PUBLISHED, *(name for name in listed if name not in PUBLISHED)]
    out = HarnessVariables({"SERVER_HOSTNAME": HarnessVariable("SERVER_HOSTNAME")})
    for app in known:
        suffixes = ["PORT", "CONTAINER", *(["DB_CONTAINER"] if PUBLISHED.get(app, True) else [])]
        group = out.given if app in sites else out.available
        group.update({(name := f"{stem(app)}_{suffix}"): HarnessVariable(name, app) for suffix in suffixes})
    stems = "|".join(sorted(re.escape(stem(app)) for app in known))
    out.pattern = rf"SERVER_\w+|[A-Z][A-Z0-9_]*_(?:PORT|CONTAINER)|(?:{stems})_\w+"
    return out


def environment(apps: Apps, tree: FileTree, used: Set[str]) -> Environment:
    """The images that the apps in use are started from; of the repository's `tree` only what is read is listed."""
    out = Environment()
    for name, app in apps.data.get("apps", default={}).items():
        if name not in used or not isinstance(app, dict):
            continue
        if isinstance(app.get("start"), str):
            command = apps.data.text("apps", name, "start", language="shell")
            for start, end in run_images(command.text):
                out.images.append(ImageUse(command.text[start:end], command.span(start, end), Place.SERVICE, str(name)))
        template = app.get("compose_template_file")
        if isinstance(template, str) and list_file(tree, template):
            compose = read_compose(tree, template, lambda _: Place.SERVICE)
            if compose is not None:
                out.compose.append(compose.document)
                out.images += compose.images
    return out


def list_file(tree: FileTree, path: str) -> bool:
    """Take a file into a tree that was not walked; False where it is not there."""
    place = tree.root / path
    if not trace.is_file(place) or not place.resolve().is_relative_to(tree.root.resolve()):
        return False
    tree.entries[path] = Entry(path, place.stat().st_size)
    return True


def run_images(command: str) -> Iterator[tuple[int, int]]:
    """Where the images of the `docker run` and `docker pull` commands in a shell line stand."""
    words = [(m.start(), m.end(), m[0]) for m in re.finditer(r"""(?:[^\s"'\\]|\\.|"[^"]*"|'[^']*')+""", command)]
    at = 0
    while at < len(words) - 1:
        if words[at][2] not in ("docker", "podman") or words[at + 1][2] not in ("run", "create", "pull"):
            at += 1
            continue
        at += 2
        while at < len(words) and words[at][2].startswith("-"):
            at += 1 if "=" in words[at][2] or _FLAGS.fullmatch(words[at][2]) else 2
        if at < len(words):
            yield words[at][0], words[at][1]
