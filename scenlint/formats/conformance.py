"""What every format must hold to, as one check that authors of formats run in their tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from scenlint.formats.base import Format, TaskRef, load_schema
from scenlint.formats.plan_checks import check_plan, planned
from scenlint.source.text import Fragment, Span
from scenlint.task.finding import Severity
from scenlint.task.model import Role, Task, Value
from scenlint.task.policy import Policy


def check_format(format: Format, sample_folder: Path, lookalikes: Iterable[Path] = ()) -> None:
    """Check a format against a sound sample of its own (a task's folder, or one that holds a suite).

    `lookalikes` are folders that resemble its tasks and are none. Raises AssertionError with what is wrong.
    """
    for folder in lookalikes:
        claimed = _find(format, folder)
        assert not claimed, f"{format.name} claims {claimed[0].folder}, which is none of its tasks"
    refs = _find(format, sample_folder)
    assert refs, f"{format.name} does not claim its own sample in {sample_folder}"
    assert len(set(refs)) == len(refs), f"{format.name} finds the same task twice: {refs}"
    _check_schemas(format)
    before = _state(sample_folder)
    ids = set()
    for ref in refs:
        assert ref.format == format.name, f"a task of {format.name} is found as one of {ref.format}"
        task = format.load(ref, Policy())
        _check_identity(task, ref)
        _check_roles(task)
        _check_places(task)
        _check_documents(task)
        ids.add(task.id)
        again = format.load(ref, Policy())
        assert _facts(task) == _facts(again), f"loading {ref.folder} twice gives two different tasks"
        check_plan(format, task, ref, sample_folder)
    assert len(ids) == len(refs), f"{len(refs)} tasks of the sample have {len(ids)} different ids"
    for shared in format.shared(refs, Policy()):
        assert shared.shared, "shared() returns a task that is not marked as shared"
        _check_places(shared)
    assert _state(sample_folder) == before, f"loading changed files in {sample_folder}"
    _check_broken(format, sample_folder, refs)


def _find(format: Format, folder: Path) -> list[TaskRef]:
    """The tasks in a folder or below it, found as `scenlint check` finds them."""
    out: list[TaskRef] = []
    for root, folders, files in os.walk(folder):
        folders.sort()
        found = format.find(Path(root), frozenset([*folders, *files]))
        for ref in found:
            assert ref.folder == Path(root), f"find({root}) returns a task in another folder, {ref.folder}"
        out += found
        if found:
            folders.clear()
    return out


def _check_schemas(format: Format) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    for document, name in format.schemas.items():
        try:
            Draft202012Validator.check_schema(load_schema(name))
        except (OSError, ValueError) as exc:
            raise AssertionError(f"the schema `{name}` of {document} cannot be read: {exc}") from exc
        except SchemaError as exc:
            raise AssertionError(f"the schema `{name}` of {document} is no JSON Schema: {exc.message}") from exc


def _check_identity(task: Task, ref: TaskRef) -> None:
    assert task.id, f"the task in {ref.folder} has no id"
    wanted = (ref.format, ref.folder.resolve(), ref.key, ref.suite)
    got = (task.format, task.folder.resolve(), task.key, task.suite)
    assert got == wanted, f"format, folder, key and suite of the task are {got}, those of its reference {wanted}"
    for claim in task.claims:
        assert claim.value == claim.expected, f"the sample's {claim.name} is {claim.value!r}, not {claim.expected!r}"


def _check_roles(task: Task) -> None:
    for role in Role:
        # Few formats have work lists and sites; nobody wonders where they are.
        if role not in (Role.STEPS, Role.SITES) and task.lacks(role) is not None:
            assert task.absent.get(role), f"{role} is absent from {task.id}, and task.absent does not say why"
    for required in task.requirements:
        relative = not PurePosixPath(required.path).is_absolute()
        assert relative, f"the required path {required.path} is not relative to the task"
        sound = required.met or required.severity is not Severity.ERROR
        assert sound, f"the sample lacks {required.path}, which the format requires"
    lists = {"known_files": task.known_files}
    if task.environment is not None:
        lists["environment.files"] = set(task.environment.files)
    if task.verifier is not None:
        lists["verifier.truth"] = set(task.verifier.truth)
    for name, paths in lists.items():
        for path in paths:
            assert not PurePosixPath(path).is_absolute(), f"{name} holds {path}, which is not relative to the task"
            exists = path in task.files or name == "known_files"
            assert exists, f"{name} holds {path}, which is no file of the task"


def _check_documents(task: Task) -> None:
    from jsonschema import Draft202012Validator

    for document in task.documents:
        error = document.data.error
        assert error is None, f"{document.name} of the sample cannot be parsed: {error}"
        if document.schema is not None:
            found = next(Draft202012Validator(document.schema).iter_errors(document.data.value), None)
            assert found is None, f"{document.name} of the sample breaks its schema: {found.message if found else ''}"


def _check_places(task: Task) -> None:
    for role, fragment in _fragments(task):
        _check_fragment(role, fragment)
    for role, span in _spans(task):
        size = len(span.source.text)
        inside = 0 <= span.start <= span.end <= size
        assert inside, f"{role}: [{span.start}, {span.end}) lies outside of {span.source.path} ({size} characters)"
    for role, value in _values(task):
        if value.span is not None:
            _check_value(role, value.value, value.span)


def _check_fragment(role: str, fragment: Fragment) -> None:
    """Runs of a fragment that are copied unchanged must stand in the file where its pieces say."""
    host = fragment.source.text
    ends = [begin for begin, _ in fragment.pieces[1:]] + [len(fragment.text)]
    for (begin, at), end in zip(fragment.pieces, ends, strict=True):
        run = fragment.text[begin:end]
        # A single character may stand for an escape or a folded line end.
        same = len(run) <= 1 or host[at : at + len(run)] == run
        assert same, f"{role}: {run[:40]!r} does not stand at offset {at} of {fragment.path}"


def _check_value(role: str, value: Any, span: Span) -> None:
    text = span.text
    if isinstance(value, bool | None) or "\\" in text or "\n" in text:
        return
    if isinstance(value, int | float):
        try:
            same = float(text.replace("_", "").strip("'\"")) == value
        except ValueError:
            same = True  # hexadecimal and the like
        assert same, f"{role}: the value is {value!r}, the file says {text!r} there"
    elif isinstance(value, str):
        assert value in text, f"{role}: the value is {value!r}, the file says {text!r} there"


def _fragments(task: Task) -> Iterator[tuple[str, Fragment]]:
    yield from (("metadata", d.fragment) for d in task.documents)
    yield from (("brief", b.prose) for b in task.briefs)
    if task.environment is not None:
        yield from (("environment", b.fragment) for b in task.environment.builds)
        yield from (("environment", d.fragment) for d in task.environment.compose)
        yield from (("environment", f) for f in task.environment.inline.values())
    if task.verifier is not None:
        yield from (("verifier", f) for f in task.verifier.files)
        yield from (("verifier", g.script) for g in task.verifier.graders if g.script is not None)
    if task.oracle is not None:
        yield from (("oracle", f) for f in [task.oracle.entry, *task.oracle.files])


def _values(task: Task) -> Iterator[tuple[str, Value]]:
    if task.environment is not None:
        yield from (("image", Value(i.reference, i.span)) for i in task.environment.images)
    if task.verifier is not None:
        yield from (("argument", v) for g in task.verifier.graders for v in g.argv)
        yield from ((f"variable {name}", v) for name, v in task.verifier.env.items())
    for limit in task.budget.limits if task.budget else []:
        yield limit.where, limit.value


def _spans(task: Task) -> Iterator[tuple[str, Span]]:
    yield from (("claim", c.span) for c in task.claims if c.span)
    yield from (("site", s.span) for s in task.sites if s.span)
    for brief in task.briefs:
        if brief.work_list is not None:
            yield from (("step", s.span) for s in brief.work_list.steps)
            yield from (("dropped step", span) for span, _ in brief.work_list.dropped)
    yield from (("grader", g.span) for g in (task.verifier.graders if task.verifier else []) if g.span)
    yield from ((role, v.span) for role, v in _values(task) if v.span)
    yield from ((role, f.span()) for role, f in _fragments(task))


def _facts(task: Task) -> list[Any]:
    """What two loads of one task must agree on."""
    places = [(role, str(s.source.path), s.start, s.end) for role, s in _spans(task)]
    texts = [(role, f.language, f.text) for role, f in _fragments(task)]
    values = [(role, repr(v.value)) for role, v in _values(task)]
    files = task.environment.files if task.environment else []
    return [task.id, places, texts, values, files, task.requirements, sorted(task.known_files), task.absent]


def _state(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p): sha256(p.read_bytes()).hexdigest() for p in files}


def _check_broken(format: Format, sample: Path, refs: list[TaskRef]) -> None:
    """No file, whatever is wrong with it, may make a format fail; a syntax error must not hide the task."""
    metadata = {d.fragment.path for ref in refs for d in format.load(ref, Policy()).documents[:1]}
    for path in sorted(p for p in sample.rglob("*") if p.is_file()):
        content = path.read_bytes()
        damages = {"missing": None, "empty": b"", "cut in two": content[: len(content) // 2], "no text": b"\xff\0\xfe["}
        damages["with a syntax error at its end"] = content + b"\n]}: {[\n"
        for damage, left in damages.items():
            with tempfile.TemporaryDirectory() as temporary:
                copy = Path(temporary) / sample.name
                shutil.copytree(sample, copy, symlinks=True)
                target = copy / path.relative_to(sample)
                target.unlink() if left is None else target.write_bytes(left)
                what = f"with {path.relative_to(sample)} {damage}"
                try:
                    found = _find(format, copy)
                    for ref in found:
                        task = format.load(ref, Policy())
                        _check_places(task)
                        assert planned(format, task), f"{format.name} refuses to plan it and does not say why"
                except AssertionError as exc:
                    raise AssertionError(f"{what}: {exc}") from exc
                except Exception as exc:
                    raise AssertionError(f"{what}, {format.name} raises {type(exc).__name__}: {exc}") from exc
                if path in metadata and damage.startswith("with"):
                    assert found, f"{what}, the task is no longer found, so nobody is told"
