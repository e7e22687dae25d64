"""The modules, functions, classes, keyword arguments and options of the agent's programs that a verifier uses."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from scenlint.source.python import PyModule, parse, walk
from scenlint.source.regex import regex
from scenlint.source.text import Span
from scenlint.task.checks.model import Check, How
from scenlint.task.checks.world import setup
from scenlint.task.demands.base import Demand, Ground
from scenlint.task.demands.forms import fits
from scenlint.task.endings import fails
from scenlint.task.model import Task, once_a_task
from scenlint.task.stance import Stance, locate, stance
from scenlint.task.visible import Visible

_GENERATED = regex(r".*_pb2(?:_grpc)?")
# What any object, module or tensor has, and what build scripts take.
_COMMON = """
    loader exec_module name submodule_search_locations origin invoke eval train fit predict forward parameters
    state_dict load_state_dict to cpu cuda numpy tolist item items keys values append copy get close read write shape
    dtype size mean sum min max sort encode decode format strip split join upper lower count index result args kwargs
    named_modules named_parameters named_children children modules buffers view reshape detach backward requires_grad
    grad dim squeeze unsqueeze permute transpose flatten clone contiguous zero_grad apply device predict_proba
    fit_transform main inplace verbose quiet help version
"""
_LOADING = frozenset(_COMMON.split())


@dataclass(frozen=True)
class _Use:
    """A name that the verifier uses; uses of one `place` are tried in turn."""

    name: str
    kind: str
    span: Span
    place: Span

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


@once_a_task
def names(task: Task) -> Iterator[Demand]:
    """Each name once: what is imported from the agent's modules, asked of them, or given to their programs."""
    if task.verifier is None:
        return
    ground = Ground.of(task)
    groups: dict[tuple[str, int, int], list[_Use]] = defaultdict(list)
    for use in (*_followed(ground), *_written(task), *_options(ground)):
        foreign = use.last.startswith("_") or use.last.lstrip("-") in _LOADING or _GENERATED.fullmatch(use.last)
        if not foreign and use.name.split(".")[0] not in ground.cloned:
            groups[str(use.place.source.path), use.place.start, use.place.end].append(use)
    seen: set[tuple[str, str]] = set()
    for group in groups.values():
        visible = ground.visible(group[0].span)
        others = {u.name for u in group if u.name != group[0].name and u.kind == group[0].kind != "option"}
        if others and any(visible.mentions(u.last, word=True) for u in group):
            continue  # tried in turn, and one of them is told
        for use in group[:1] if others else group:
            if (use.last, use.kind) not in seen and _agents(ground, use, visible) and not fits(use.last, visible):
                yield Demand(use.name, use.span, visible, use.kind, tuple(sorted(others)))
            seen.add((use.last, use.kind))


def _agents(ground: Ground, use: _Use, visible: Visible) -> bool:
    """Whether the name is the agent's to choose: the solution makes it, or all that is there was read."""
    if ground.solution is None:
        return not visible.opaque
    if use.kind in ("argument", "option"):
        return ground.solved(use.last.lstrip("-"), word=True) or ground.solved(
            use.last.lstrip("-").replace("-", "_"), word=True
        )
    if use.kind == "module":
        return "." not in use.name and ground.solved(use.name, word=True)
    return ground.defines(use.last)


def _followed(ground: Ground) -> Iterator[_Use]:
    """The names that the checks were seen to use."""
    optional = _asked_for(ground.task)
    for check, _ in ground.checks():
        for name in check.names:
            # Far down a chain it is something of a library's: `model.layer.weight.data.clone()`.
            if "__import__(" in name.span.text or name.span.text.count(".") > 2 or name.name in optional:
                continue
            found = locate(ground.task, check, name.span)
            if found is None or not isinstance(found[1], ast.Constant):
                # `getattr` with a default does without.
                if found is None or not (isinstance(found[1], ast.Call) and len(found[1].args) > 2):
                    yield _Use(name.name, name.kind, name.span, name.span)
                continue
            module, node = found  # in `hasattr(module, "name")`
            asking = next((p for p in module.parents(node) if isinstance(p, ast.Call)), node)
            found_stance = stance(module, asking)
            if found_stance is Stance.EITHER:
                asking = next((p for p in module.parents(node) if isinstance(p, ast.stmt)), asking)
            if found_stance in (Stance.WANTED, Stance.EITHER):
                yield _Use(name.name, name.kind, name.span, module.span(asking))


def _asked_for(task: Task) -> frozenset[str]:
    """Names that the verifier looks for and can do without: `if hasattr(m, "a"): … elif …`, a caught ImportError."""
    out: set[str] = set()
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = parse(fragment)
        for call in module.calls("hasattr"):
            name = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else None
            if isinstance(name, str) and stance(module, call) is Stance.OPEN:
                out.add(name)
        for attempt in module.of(ast.Try):
            caught = {module.dotted(h.type) for h in attempt.handlers if not fails(h.body)}
            if caught & {"ImportError", "ModuleNotFoundError", "AttributeError"}:
                imports = (n for s in attempt.body for n in walk(s) if isinstance(n, ast.ImportFrom))
                out |= {alias.name for found in imports for alias in found.names}
    return frozenset(out)


def _written(task: Task) -> Iterator[_Use]:
    """The names in the verifier's other programs: a driver that it starts as a process of its own."""
    assert task.verifier is not None
    agents, optional = setup(task, task.verifier).agents, _asked_for(task)
    for fragment in task.verifier.code("python"):
        module = parse(fragment)
        bound = set()
        for node in module.of(ast.ImportFrom, ast.Import):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module
                and not node.level
                and agents(node.module.split(".")[0])
            ):
                for alias in (a for a in node.names if a.name not in optional):
                    bound.add(alias.asname or alias.name)
                    yield _Use(alias.name, "attribute", module.span(alias), module.span(alias))
            elif isinstance(node, ast.Import):
                bound |= {a.asname or a.name.split(".")[0] for a in node.names if agents(a.name.split(".")[0])}
        yield from (use for use in _used(module, bound) if use.name not in optional)


def _used(module: PyModule, bound: set[str]) -> Iterator[_Use]:
    for node in module.of(ast.Attribute, ast.Call) if bound else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield _Use(node.attr, "attribute", module.span(node), module.span(node))
        if isinstance(node, ast.Call) and _root(node.func) in bound:
            for keyword in node.keywords:
                if keyword.arg:
                    yield _Use(keyword.arg, "argument", module.span(keyword), module.span(keyword))


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _options(ground: Ground) -> Iterator[_Use]:
    """The `--options` that the verifier gives to programs of the agent's."""
    for check, visible in ground.checks():
        for access in check.accesses:
            if access.how is How.RUN and not visible.exists(access.path):
                yield from _given(ground.task, check, access.span, access.path.rpartition("/")[2])


def _given(task: Task, check: Check, span: Span, program: str) -> Iterator[_Use]:
    found = locate(task, check, span)
    if found is None:
        return
    module, call = found
    constants = sorted((n for n in walk(call) if isinstance(n, ast.Constant)), key=lambda n: (n.lineno, n.col_offset))
    words = [(n.value, module.span(n)) for n in constants if isinstance(n.value, str)]
    at = next((n for n, (word, _) in enumerate(words) if word.rpartition("/")[2] == program), len(words))
    for word, place in words[at + 1 :]:
        if re.fullmatch(r"--[a-z][\w-]+", word):
            yield _Use(word, "option", place, place)
