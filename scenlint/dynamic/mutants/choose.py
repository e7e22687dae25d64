"""Makes the mutants of all that the oracle made, leaves out what changes nothing, and draws a fair sample by seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import PurePosixPath
from random import Random

from scenlint.dynamic.mutants.canonical import canonical
from scenlint.dynamic.mutants.code import code
from scenlint.dynamic.mutants.databases import database
from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.lines import lines
from scenlint.dynamic.mutants.model import Label, Mutant, Operators, Result
from scenlint.dynamic.mutants.tables import table
from scenlint.dynamic.mutants.trees import tree
from scenlint.dynamic.mutants.whole import whole_file
from scenlint.task.checks.model import How
from scenlint.task.model import Task
from scenlint.task.mutation import CRUDE

OPERATORS: tuple[Operators, ...] = (whole_file, table, tree, lines, code, database)
BUDGET = 40  # mutants of a task
_LARGEST = 4 * 1024 * 1024  # bytes of a file that is mutated


def mutants(task: Task, results: Iterable[Result], *, seed: int = 0, budget: int = BUDGET) -> list[Mutant]:
    """At most `budget` mutants, the same for the same seed: the crude ones first, then each operator in turn."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    every = list(results)
    for result in sorted(wanted(task, every), key=lambda r: r.path):
        settled = _settled(result, every)
        for mutant in _of(task, result, Random(f"{seed}:{result.path}")):
            if settled and mutant.label is Label.LIVE:
                mutant = replace(mutant, label=Label.OPEN, reason=settled)
            groups.setdefault((mutant.operator, mutant.path), []).append(mutant)
    crude = [m for (operator, _), group in groups.items() if operator in CRUDE for m in group]
    rest = [group for (operator, _), group in sorted(groups.items()) if operator not in CRUDE]
    Random(seed).shuffle(rest)
    turns = [m for turn in zip_longest(*rest) for m in turn if m is not None]
    # What a person has to judge comes last: it is not scored.
    turns.sort(key=lambda m: m.label is Label.OPEN)
    return (crude + turns)[:budget]


def _settled(result: Result, every: Iterable[Result]) -> str:
    """Why even a change of form may be wrong in this file, whatever the brief says; "" if nothing speaks for it."""
    if not result.new:
        return "the file was there before: whether what was not asked for may change is not said"
    digests = [hashlib.new(name, result.content).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")]
    for other in every:
        text = (other.text or "").lower()
        if other is not result and any(digest in text for digest in digests):
            return f"{other.path} holds the file's digest"
    return ""


def wanted(task: Task, results: Iterable[Result]) -> list[Result]:
    """The results that brief or verifier name; without any, all: by-products are the solution's own business."""
    every = [r for r in results if len(r.content) <= _LARGEST]
    read = {
        PurePosixPath(a.path).name for check in task.checks for a in check.accesses if a.how in (How.READ, How.EXISTS)
    }
    named = [r for r in every if PurePosixPath(r.path).name in read or Form(task, r.path).named]
    return named or every


def _of(task: Task, result: Result, random: Random) -> Iterator[Mutant]:
    form = Form(task, result.path)
    same = canonical(result.path, result.content)
    seen = {result.content}
    for operators in OPERATORS:
        for mutant in operators(result, form, random):
            if mutant.content is not None:
                if mutant.content in seen:
                    continue
                seen.add(mutant.content)
                if mutant.label is Label.DIE and canonical(mutant.path, mutant.content) == same:
                    continue
            yield mutant
