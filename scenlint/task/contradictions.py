"""Near misses between brief and verifier: the brief states one path or key, the verifier demands another like it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from scenlint.source import markdown
from scenlint.source.data import Data, parse
from scenlint.source.regex import regex
from scenlint.source.text import Fragment, Span
from scenlint.task import demands
from scenlint.task.demands import Demand
from scenlint.task.demands.base import Ground
from scenlint.task.model import Task
from scenlint.task.suggest import closest

_HOLE = regex(r"[*<>{}$=]")
_CALLED = regex(r"\b(?:keys?|columns?|fields?|headers?|propert\w+|attributes?)\b|键|字段|列", re.IGNORECASE)


@dataclass(frozen=True)
class Contradiction:
    """A demand that nothing states, and the like thing that the brief states and no check uses."""

    demand: Demand
    stated: str
    stated_at: Span


def keys(task: Task) -> list[Contradiction]:
    """Keys of the brief's own examples that no check reads, beside a key that only the verifier knows."""
    return task.memo("contradicted keys", lambda: list(_keys(task)))


def _keys(task: Task) -> Iterator[Contradiction]:
    stated = {name: span for brief in task.briefs for name, span in _stated_keys(brief.prose)}
    read = {key.name for check in task.checks for key in check.keys}
    idle = [name for name in stated if name not in read]
    for demand in demands.keys(task, shown=False):
        if demand.visible.states_key(demand.what, loose=True):
            continue
        others = [n for n in idle if not _filled(n, demand.what)]
        like = [n for n in others if _alike(n, demand.what)] or closest(demand.what, others, 1)
        if like:
            yield Contradiction(demand, like[0], stated[like[0]])


def _filled(stated: str, read: str) -> bool:
    """Whether one name stands for a row of which the other is one: `district_N_risk` and `district_north_risk`."""
    parts = re.split(r"(?<![A-Za-z])(?:[A-Z]{1,2}|\d+|[a-z])(?![A-Za-z])", stated)
    return len(parts) > 1 and re.fullmatch(r"\w+".join(map(re.escape, parts)), read) is not None


def _alike(stated: str, read: str) -> bool:
    """Whether one name is the other with words added: `parameter` and `entry_parameter`."""
    a, b = (set(re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", n).lower())) for n in (stated, read))
    return bool(a and b) and (a < b or b < a)


def _stated_keys(prose: Fragment) -> Iterator[tuple[str, Span]]:
    """The keys of a brief's JSON examples, and the names in code marks that it calls keys, columns or fields."""
    for line in re.finditer(r".+", prose.text):
        if _CALLED.search(line.group()):
            for name in re.finditer(r"`([A-Za-z_][\w-]{2,})`", line.group()):
                yield name[1], prose.span(line.start() + name.start(1), line.start() + name.end(1))
    for block in markdown.parse(prose).of(markdown.Part.CODE):
        body = prose.slice(block.start, block.end, "json")
        if body.text.lstrip().startswith(("{", "[")):
            data = parse(body)
            if data.error is None:
                yield from _walk(data, data.value, ())


def _walk(data: Data, value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str, Span]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, data.key_span(*path, key)
            yield from _walk(data, inner, (*path, key))
    elif isinstance(value, list):
        for n, inner in enumerate(value[:3]):
            yield from _walk(data, inner, (*path, n))


def paths(task: Task) -> list[Contradiction]:
    """Paths of the brief that no check opens, beside one of the same name or stem that only the verifier knows."""
    return task.memo("contradicted paths", lambda: list(_paths(task)))


def _paths(task: Task) -> Iterator[Contradiction]:
    opened, ground = {a.path for check in task.checks for a in check.accesses}, Ground.of(task)
    for demand in demands.paths(task, elsewhere=True):
        want = PurePosixPath(demand.what)
        for stated in demand.visible.paths():
            text = stated.text.rstrip("/")
            have = PurePosixPath(text)
            if _HOLE.search(text) or "." not in have.name or demand.visible.exists(text):
                continue
            alike = have.name == want.name or (have.stem == want.stem and len(have.stem) > 2)
            if ground.solution is not None and not ground.solved(want.name):
                # The solution does not make what the verifier opens: then it must make what the brief names.
                misspelt = have.parent == want.parent and bool(closest(want.name, [have.name]))
                alike = (alike or misspelt) and ground.creates(have.name)
            if alike and not any(_same(text, o) for o in opened):
                yield Contradiction(demand, text, stated.span)
                break


def _same(stated: str, opened: str) -> bool:
    """Whether two paths may be one: a relative one may count from any folder if the other is absolute."""
    a, b = stated.removeprefix("./"), opened.rpartition("*")[2].removeprefix("./")
    if "/" not in a:
        return b.rpartition("/")[2] == a  # a bare name lies wherever the brief has spoken of
    if a.startswith("/") is b.startswith("/") and "*" not in opened:
        return a == b
    return a == b or b.endswith("/" + a.lstrip("/")) or a.endswith("/" + b.lstrip("/"))
