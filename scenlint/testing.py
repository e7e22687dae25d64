"""What authors of rules and formats test with: run a rule page's examples, lint a folder, check a format's conformance.

A page's examples stand under `## Bad` and `## Good`; each is a run of fenced blocks `LANG path=RELPATH`, laid over the
sound base task of its format (`format=`, default harbor). `# !rule-name` at the end of a line marks an expected finding
(`<!-- !rule-name -->` in Markdown, `// !rule-name` where `//` comments), `expect=3,7` or `expect=file` in the first
line of a block does where no comment may stand, and `delete` removes the file from the base. Rules about trials judge
a block `json records=trials.json`: a list of trial records, of which only what matters need be there, with the expected
places as `expect=tests/test.sh:1`; `"repeat": 8` stands for so many trials with one attempt after the other.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenlint.config import Settings
from scenlint.formats.conformance import check_format
from scenlint.lint.discover import Finder
from scenlint.lint.engine import Engine
from scenlint.lint.run import check
from scenlint.rules.base import Rule
from scenlint.task.finding import Finding
from scenlint.task.model import Task
from scenlint.task.policy import Policy, Profile
from scenlint.task.record import Status, TrialRecord

__all__ = [
    "Example",
    "base_task",
    "check_format",
    "examples",
    "judge",
    "lay",
    "lint",
    "load_task",
    "records",
    "run_example",
]

BASES = Path(__file__).parent / "formats" / "scaffold"
_MARK = re.compile(r"[ \t]*(?:#|//|<!--)[ \t]*!([a-z0-9-]+(?:,[a-z0-9-]+)*)(?:[ \t]*-->)?[ \t]*$")


@dataclass
class Example:
    """One example of a page: the files laid over the base, the lines where findings are due, and how it is set up."""

    title: str
    good: bool
    format: str = "harbor"
    profile: str = "seed"
    name: str = ""  # of the task's folder, where the default does not serve
    files: dict[str, str | None] = field(default_factory=dict)  # None: removed
    expected: set[tuple[str, int]] = field(default_factory=set)  # (path, line); line 0: the file or folder as a whole
    records: list[dict[str, Any]] | None = None  # recorded trials, for rules about them


def base_task(format: str, target: Path) -> Path:
    """Copy the sound base task of a format to `target` and return the folder that is the task's (or the suite's)."""
    shutil.copytree(BASES / format, target)
    return target


def examples(page: str) -> Iterator[Example]:
    """The examples of a page, in order."""
    from markdown_it import MarkdownIt

    section, title, current = "", "", None
    for token in (tokens := iter(MarkdownIt().parse(page))):
        if token.type == "heading_open":
            text = next(tokens).content.strip()
            if current:
                yield current
            current = None
            section, title = (text.lower(), text) if token.tag == "h2" else (section, text)
        elif (
            token.type == "fence" and section in ("bad", "good") and ("path=" in token.info or "records=" in token.info)
        ):
            current = current or Example(f"{section}: {title}", section == "good")
            _add(current, token.info.split(), token.content)
    if current:
        yield current


def _add(example: Example, info: list[str], content: str) -> None:
    options = dict(part.partition("=")[::2] for part in info[1:])
    path = options.get("path", "")
    example.format = options.get("format", example.format)
    example.profile = options.get("profile", example.profile)
    example.name = options.get("name", example.name)
    if "records" in options:
        example.records = json.loads(content)
        places = (place.partition(":") for place in options.get("expect", "").split(",") if place)
        example.expected |= {(file, int(line or 0)) for file, _, line in places}
        return
    if "delete" in options:
        example.files[path] = None
    if "expect" in options:
        lines = options["expect"].split(",")
        example.expected |= {(path, 0 if line == "file" else int(line)) for line in lines}
    if "delete" in options:
        return
    lines = []
    for number, line in enumerate(content.splitlines(), 1):
        mark = _MARK.search(line)
        if mark:
            example.expected.add((path, number))
            line = line[: mark.start()]
        lines.append(line)
    example.files[path] = "\n".join(lines) + "\n"


def run_example(example: Example, rule: Rule, folder: Path) -> None:
    """Lay the example over its base below `folder`, lint it with the rule alone, and compare with what is marked."""
    root, task = lay(example, folder)
    if example.records is not None:
        found = judge(root, example.records, rule.name)
    else:
        # What suppressions did shows only when the rules they speak of run too.
        found = lint(root, *([] if rule.late else [rule.name]), profile=example.profile)
        found = [f for f in found if f.rule == rule.name]
    base = task if not any((root / p).exists() and p.startswith("tasks/") for p, _ in example.expected) else root
    got = {(_inside(f.location.path, base), f.location.line if f.location.excerpt else 0) for f in found}
    shown = "\n".join(f"  {f.location.path.name}:{f.location.line} {f.message}" for f in found) or "  nothing"
    assert got == example.expected, (
        f"{rule.name}, {example.title}: expected {sorted(example.expected)}, found {sorted(got)}:\n{shown}"
    )


def lay(example: Example, folder: Path) -> tuple[Path, Path]:
    """Lay the example over its base below `folder`: the folder to lint, and that of the task."""
    # A packet's id equals its folder's name.
    root = base_task(example.format, folder / (example.name or example.format))
    task = next(root.glob("tasks/*/*/*"), root) if example.format == "saas-bench" else root
    for path, text in example.files.items():
        target = root / path if path == "apps.yaml" or path.startswith("tasks/") else task / path
        if text is None:
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
    return root, task


def _inside(path: Path, base: Path) -> str:
    try:
        return path.relative_to(base).as_posix()
    except ValueError:
        return path.name


def lint(folder: Path, *rules: str, profile: str = "seed") -> list[Finding]:
    """The findings of the named rules (all, where none is named) for the tasks in a folder."""
    settings = Settings(root=folder, policy=Policy(profile=Profile(profile)))
    report = check([folder], settings.override(select=list(rules) or None), jobs=1)
    assert not report.crashes, report.crashes
    assert report.tasks, f"no task in {folder}: {report.skipped}"
    return report.findings


def load_task(folder: Path) -> Task:
    """The one task in a folder."""
    from scenlint.lint.discover import format_named

    settings = Settings(root=folder)
    (ref,) = Finder(settings).discover([folder]).refs
    return format_named(ref.format).load(ref, Engine(settings).settings.policy)


def judge(folder: Path, trials: Sequence[Mapping[str, Any]], *rules: str) -> list[Finding]:
    """The findings of rules about trials for the one task in a folder and its recorded trials."""
    task = load_task(folder)
    engine = Engine(Settings(root=folder).override(select=list(rules) or None))
    about = {r.command for r in engine.selection.rules}
    outcome = engine.judge_trials(task, records(trials, task), calibration=about == {"calibrate"})
    assert not outcome.crashes, outcome.crashes
    return outcome.findings


def records(trials: Sequence[Mapping[str, Any]], task: Task | None = None) -> list[TrialRecord]:
    """Trial records of which only what matters is given: the rest is what a trial with such a reward would have."""
    out = []
    repeated = [(n, given) for given in trials for n in range(given.get("repeat", 1))]
    for number, (again, given) in enumerate(repeated, 1):
        reward = given.get("reward")
        ended = Status.NO_VERDICT if reward is None else Status.PASSED if reward == 1.0 else Status.FAILED
        why = given.get("failure_evidence", "")
        whole: dict[str, Any] = {
            "id": f"{given['agent']}-{number}",
            "task": task.id if task else "task",
            "format": task.format if task else "harbor",
            "status": ended,
            "strict": {"reward": reward, "passed": reward == 1.0, "reason": why},
            **given,
            "attempt": given.get("attempt", 1) + again,
        }
        out.append(TrialRecord.from_json(whole))
    return out
