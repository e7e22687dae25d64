"""The conformance check: every format passes it, and it finds formats that do not hold to the rules."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.formats.base import TaskRef, context_files, language_of, sniff
from scenlint.formats.conformance import check_format
from scenlint.formats.harbor import Harbor
from scenlint.lint.discover import load_formats
from scenlint.source.files import FileTree
from scenlint.source.text import Source, Span
from scenlint.task.model import Claim, Limit, Role, Value
from scenlint.task.plan import NotRunnableError
from scenlint.testing import base_task

FORMATS = load_formats()


@pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
def test_built_in_formats_conform(form, tmp_path):
    sample = base_task(form.name, tmp_path / form.name)
    others = [base_task(other.name, tmp_path / "others" / other.name) for other in FORMATS if other is not form]
    check_format(form, sample, others)


class Greedy(Harbor):
    def find(self, folder, names):
        return [TaskRef(self.name, folder, suite=folder.parent)] if names else []


class Blind(Harbor):
    def find(self, folder, names):
        return []


class Shy(Harbor):
    """Overlooks a task whose metadata cannot be parsed."""

    def find(self, folder, names):
        refs = super().find(folder, names)
        return [] if "]}" in sniff(folder / "task.toml") else refs


class Damaging(Harbor):
    def load(self, ref, policy):
        (ref.folder / "seen").write_text("x")
        return super().load(ref, policy)


class Silent(Harbor):
    def load(self, ref, policy):
        task = super().load(ref, policy)
        task.oracle = None
        task.absent.pop(Role.ORACLE, None)
        return task


class Misplaced(Harbor):
    def load(self, ref, policy):
        task = super().load(ref, policy)
        source = Source(Path("elsewhere"), b"text")
        task.claims.append(Claim("id", "x", Span(source, 2, 9), "x"))
        return task


class Misquoting(Harbor):
    def load(self, ref, policy):
        task = super().load(ref, policy)
        span = task.metadata.data.span("verifier", "timeout_sec")
        task.budget.limits.append(Limit("agent", Value(17, span), "somewhere"))
        return task


class Fickle(Harbor):
    count = 0

    def load(self, ref, policy):
        task = super().load(ref, policy)
        type(self).count += 1
        task.known_files.add(f"file{self.count}")
        return task


class Fragile(Harbor):
    def load(self, ref, policy):
        assert (ref.folder / "task.toml").read_bytes().decode()
        return super().load(ref, policy)


class Planless(Harbor):
    def plan(self, task):
        raise NotRunnableError("not today")


class Mute(Harbor):
    """Refuses a task without tests and keeps the reason to itself."""

    def plan(self, task):
        try:
            return super().plan(task)
        except NotRunnableError:
            raise NotRunnableError("") from None


class Careless(Harbor):
    def plan(self, task):
        assert task.metadata.data.value["verifier"]
        return super().plan(task)


class Silenced(Harbor):
    def plan(self, task):
        plan = super().plan(task)
        return replace(plan, steps=(replace(plan.steps[0], brief=" "),))


class Local(Harbor):
    """Takes its digests from where the task lies."""

    def plan(self, task):
        plan = super().plan(task)
        return replace(plan, digests=tuple((part, f"{digest}{task.folder}") for part, digest in plan.digests))


class Forgetful(Harbor):
    def plan(self, task):
        plan = super().plan(task)
        return replace(plan, digests=tuple((part, "" if part == "verifier" else d) for part, d in plan.digests))


class Entangled(Harbor):
    """Counts the tests as a part of the environment."""

    def plan(self, task):
        plan = super().plan(task)
        parts = dict(plan.digests)
        return replace(plan, digests=tuple((parts | {"environment": "".join(parts.values())}).items()))


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Planless, "has no plan for its own sample"),
        (Mute, "does not say why"),
        (Careless, "raises"),
        (Silenced, "is told nothing"),
        (Local, "change with the place"),
        (Forgetful, "does not change the digest of the verifier"),
        (Entangled, r"\(verifier\) changes the digest of \['environment'\]"),
        (Greedy, "none of its tasks"),
        (Blind, "does not claim its own sample"),
        (Shy, "no longer found"),
        (Damaging, "loading changed files"),
        (Silent, "does not say why"),
        (Misplaced, "lies outside"),
        (Misquoting, "the file says '60.0'"),
        (Fickle, "two different tasks"),
        (Fragile, "raises"),
    ],
)
def test_what_does_not_conform_is_found(kind, says, tmp_path):
    sample = base_task("harbor", tmp_path / "harbor")
    other = base_task("packet", tmp_path / "packet")
    with pytest.raises(AssertionError, match=says):
        check_format(kind(), sample, [other])


def test_a_sample_that_breaks_its_schema_is_refused(tmp_path):
    sample = base_task("harbor", tmp_path / "harbor")
    (sample / "task.toml").write_text("[agent]\ntimeout_sec = -1\n")
    with pytest.raises(AssertionError, match="breaks its schema"):
        check_format(Harbor(), sample)


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a/Dockerfile", "", "dockerfile"),
        ("Dockerfile.test", "", "dockerfile"),
        ("x.py", "", "python"),
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/bin/sh\n", "shell"),
        ("x.bash", "", "shell"),
        ("x.csv", "", "data"),
        ("x.md", "", "markdown"),
        ("noext", "hello", "text"),
    ],
)
def test_languages_are_told_by_name_or_first_line(path, text, language):
    assert language_of(path, Source(Path(path), text.encode())) == language


def test_dockerignore_patterns_count_from_the_context(tmp_path):
    for path in ("a.pyc", "deep/a.pyc", "keep/x", "keep/y", "node_modules2/z", "docs/a.md", "docs/b.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / ".dockerignore").write_text("# comment\n*.pyc\ndocs/*\n!docs/a.md\n/keep/y\n")
    kept = context_files(FileTree(tmp_path), "")
    assert sorted(kept) == [".dockerignore", "deep/a.pyc", "docs/a.md", "keep/x", "node_modules2/z"]
    shutil.rmtree(tmp_path / "docs")
    (tmp_path / ".dockerignore").write_text("**/*.pyc\n")
    assert sorted(context_files(FileTree(tmp_path), "")) == [".dockerignore", "keep/x", "keep/y", "node_modules2/z"]
