"""What a reference solution knows and nobody else can: files, constants and addresses absent from brief and image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex
from scenlint.source.text import Fragment
from scenlint.task import demands
from scenlint.task.demands.base import Ground
from scenlint.task.hosts import host_of, is_near
from scenlint.task.model import Task, once_a_task
from scenlint.task.paths import extension, find_paths

_URL = regex(r"\b(?:https?|ftp)://[^\s\"'`<>()\\]+", re.IGNORECASE)
_COMMENT = regex(r"(?m)^\s*(?:#|//).*$")
_SYSTEM = regex(r"/(?:etc|usr|proc|dev|var|sys|lib|bin|sbin|opt/venv|root/\.)\b.*")
# Sources of packages, and documents that programs name without asking for them.
_USUAL = regex(
    r"(?:.*\.)?(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|debian\.org|ubuntu\.com|crates\.io|rustup\.rs|golang\.org"
    r"|astral\.sh|pytorch\.org|r-project\.org|nodesource\.com|rubygems\.org|maven\.org|w3\.org|json-schema\.org|schemas\.[\w.]+|xmlsoap\.org)"
)


@once_a_task
def oracle_only(task: Task) -> Iterator[tuple[str, str]]:
    """What it is (a file, constant or address in backticks) and the solution's line that has it; each once."""
    if task.oracle is None or not task.briefs:
        return
    fragments = list({id(f): f for f in (task.oracle.entry, *task.oracle.files)}.values())
    fragments = [f for f in fragments if f.path.suffix not in (".patch", ".diff")]
    seen = set[str]()
    for what, kind, place in (*_addresses(task, fragments), *_files(task, fragments), *_demanded(task, fragments)):
        if what not in seen:
            seen.add(what)
            yield f"the {kind} `{what}`", place


def _addresses(task: Task, fragments: list[Fragment]) -> Iterator[tuple[str, str, str]]:
    for fragment in fragments:
        for found in _URL.finditer(fragment.text):
            host = host_of(found[0])
            line = _line(fragment, found.start())
            if not host or is_near(host) or _USUAL.fullmatch(host) or _COMMENT.fullmatch(line):
                continue
            # Where the project behind an address is named, the address can be found.
            name = found[0].rstrip("/").rpartition("/")[2].removesuffix(".git")
            if not task.visible.mentions(host) and not (len(name) > 2 and task.visible.mentions(name, word=True)):
                yield found[0], "address", line


def _files(task: Task, fragments: list[Fragment]) -> Iterator[tuple[str, str, str]]:
    """Files that it names, and that neither exist nor are named to the agent, nor are made by the solution itself."""
    ground, visible = Ground.of(task), task.visible
    if visible.unlisted or ground.solution is None:
        return
    own = {f.path.name for f in fragments}
    for fragment in fragments:
        for token in find_paths(fragment.text):
            path, line = token.plain, _line(fragment, token.start)
            name = path.rpartition("/")[2]
            if not path.startswith("/") or not extension(path) or token.open or name in own or _COMMENT.fullmatch(line):
                continue
            if token.start and (fragment.text[token.start - 1].isalnum() or fragment.text[token.start - 1] in ")]"):
                continue  # a division
            stem = path.rpartition(".")[0]  # what it makes beside a file, it names after that
            if _SYSTEM.fullmatch(path) or ground.creates(name) or not ground.cloned.isdisjoint(path.split("/")):
                continue
            if not visible.states_path(path) and not visible.states_path(stem):
                yield path, "file", line


def _demanded(task: Task, fragments: list[Fragment]) -> Iterator[tuple[str, str, str]]:
    """What the verifier demands and nothing tells, and the solution has all the same."""
    ground = Ground.of(task)
    found = [(d, "file") for d in demands.paths(task)]
    found += [(d, "constant") for d in (*demands.wordings(task), *demands.keys(task))]
    for demand, kind in found:
        text = str(demand.what)
        words = re.findall(r"\w+", text)
        told = demand.visible.mentions(text) or (len(words) > 1 and all(map(demand.visible.mentions, words)))
        place = next((_line(f, f.text.index(text)) for f in fragments if text in f.text), "")
        if place and not told and ground.solved(text, word=True):
            yield text, kind, place


def _line(fragment: Fragment, at: int) -> str:
    text = fragment.text
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)].strip()[:200]
