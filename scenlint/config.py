"""scenlint.toml or [tool.scenlint] in pyproject.toml -> Settings; the file's JSON Schema comes from the same table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenlint import config_agents, config_watch
from scenlint.source import data
from scenlint.source.text import Fragment, Source, Span
from scenlint.task import locks
from scenlint.task.finding import Location, Severity
from scenlint.task.policy import DEFAULT_APPROVED_IMAGES, Policy, Profile
from scenlint.task.suggest import closest

FILE_NAME = "scenlint.toml"
_STRINGS = {"type": "array", "items": {"type": "string"}}
_SEVERITY = {"enum": [s.value for s in Severity]}

# Key -> (JSON Schema, default shown in the reference, what it does). The one place where the file's keys are defined.
KEYS: dict[str, tuple[dict[str, Any], str, str]] = {
    "profile": ({"enum": [p.value for p in Profile]}, '"seed"', "Settles the places where the field disagrees."),
    "select": (_STRINGS, '["ALL"]', "Rules to run: names, codes, code prefixes (SL3), families (brief) or ALL."),
    "extend-select": (_STRINGS, "[]", "Rules to run beside those of `select` (preview rules, say)."),
    "ignore": (_STRINGS, "[]", "Rules not to run."),
    "fail-on": (_SEVERITY, '"error"', "The mildest severity that makes the exit status 1."),
    "baseline": (
        {"type": "string"},
        '""',
        "File of findings that are known and do not fail (`scenlint baseline` writes it), relative to this file.",
    ),
    "exclude": (_STRINGS, "[]", "Paths that are never checked, as in .gitignore."),
    "severity": (
        {"type": "object", "additionalProperties": _SEVERITY},
        "{}",
        "Severity overrides: rule name or code -> error, warning or info.",
    ),
    "per-path-ignores": (
        {"type": "object", "additionalProperties": _STRINGS},
        "{}",
        "Path pattern -> rules that are ignored there.",
    ),
    "suppressions": (
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "rule": {"type": "string", "description": "Rule name or code."},
                    "path": {"type": "string", "description": "File or pattern, relative to this file."},
                    "reason": {"type": "string", "description": "Why the finding does not hold here."},
                },
                "required": ["rule", "path", "reason"],
                "additionalProperties": False,
            },
        },
        "[]",
        "Single findings set aside, for files without comments such as meta.json.",
    ),
    "images": (
        {
            "type": "object",
            "properties": {
                "approved": {**_STRINGS, "description": "Base images in use here: repository names or patterns."},
                "substitutes": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Pinned reference -> the site's own mirror or local image.",
                },
                "digests": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "pattern": locks.DIGEST_PATTERN},
                    "description": "Reference by tag -> the digest to pin it by (see also `scenlint pin`).",
                },
            },
            "additionalProperties": False,
        },
        "{}",
        "Approved base images, mirrors, and known digests.",
    ),
    "dependencies": (
        {
            "type": "object",
            "properties": {
                "locks": {
                    **_STRINGS,
                    "description": "Lock files of Python packages, relative to this file: uv.lock, poetry.lock, "
                    "or requirements with `==` as `pip freeze` prints them. `check --fix` takes versions from them.",
                },
            },
            "additionalProperties": False,
        },
        "{}",
        "Where the versions stand that dependencies are pinned to.",
    ),
    "saas-bench": (
        {
            "type": "object",
            "properties": {"apps": {"type": "string", "description": "Path of apps.yaml, relative to this file."}},
            "additionalProperties": False,
        },
        "{}",
        "Where SaaS-Bench tasks find their list of applications.",
    ),
    "oracles": (
        {"type": "object", "additionalProperties": {"type": "string"}},
        "{}",
        "Solutions of tasks whose format has no place for one: id or pattern -> script, relative to this file; `{id}` "
        "in it stands for the task's id.",
    ),
    "agents": (
        config_agents.SCHEMA,
        "{}",
        "Agents for `--agent NAME`, beside `oracle` and `nop`; each has one of `command`, `llm` and `harbor`.",
    ),
    "watch": (config_watch.SCHEMA, "{}", config_watch.WORDS),
    "pass-env": (
        _STRINGS,
        "[]",
        "Variables of this machine that tasks are given where they ask for them as `${NAME}`.",
    ),
}


class ConfigError(Exception):
    """The configuration cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Named:
    """A rule as it was named in configuration (or on the command line: no span)."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class ConfigSuppression:
    """One entry of [[suppressions]]."""

    rule: Named
    path: str
    reason: str


@dataclass(frozen=True)
class Settings:
    """What one run works by. `root` is the folder of the configuration file, to which its patterns are relative."""

    root: Path
    file: Path | None = None
    select: tuple[Named, ...] | None = None  # None: every rule that is not in preview
    extend_select: tuple[Named, ...] = ()
    ignore: tuple[Named, ...] = ()
    fail_on: Severity = Severity.ERROR
    exclude: tuple[str, ...] = ()
    severity: tuple[tuple[Named, Severity], ...] = ()
    per_path_ignores: tuple[tuple[str, tuple[Named, ...]], ...] = ()
    suppressions: tuple[ConfigSuppression, ...] = ()
    no_ignores: bool = False
    baseline: Path | None = None
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name -> its table
    watch: Mapping[str, Any] = field(default_factory=dict)  # the table [watch]
    policy: Policy = field(default_factory=Policy)

    def override(
        self,
        *,
        profile: str | None = None,
        select: list[str] | None = None,
        extend_select: list[str] | None = None,
        ignore: list[str] | None = None,
        fail_on: Severity | None = None,
        exclude: list[str] | None = None,
        no_ignores: bool = False,
        baseline: Path | None = None,
        no_baseline: bool = False,
    ) -> Settings:
        """These settings with what the command line says on top."""
        changes: dict[str, Any] = {"no_ignores": no_ignores}
        if profile:
            changes["policy"] = replace(self.policy, profile=_profile(profile))
        if select:
            changes["select"] = _names(select)
        if extend_select:
            changes["extend_select"] = self.extend_select + _names(extend_select)
        if ignore:
            changes["ignore"] = self.ignore + _names(ignore)
        if fail_on:
            changes["fail_on"] = fail_on
        if exclude:
            changes["exclude"] = self.exclude + tuple(exclude)
        if baseline or no_baseline:
            changes["baseline"] = None if no_baseline else baseline
        return replace(self, **changes)


def _names(texts: list[str]) -> tuple[Named, ...]:
    return tuple(Named(part.strip()) for text in texts for part in text.split(",") if part.strip())


def _profile(text: str) -> Profile:
    try:
        return Profile(text)
    except ValueError:
        known = [p.value for p in Profile]
        raise ConfigError(f"unknown profile `{text}`; {_did_you_mean(text, known)}") from None


def _did_you_mean(word: str, known: list[str]) -> str:
    close = closest(word, known)
    return f"did you mean `{close[0]}`?" if close else "known are " + ", ".join(f"`{k}`" for k in known)


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of scenlint.toml."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "scenlint configuration",
        "description": "scenlint.toml, or the table [tool.scenlint] of pyproject.toml.",
        "type": "object",
        "properties": {
            key: {**part, "description": f"{words} Default: {default}"} for key, (part, default, words) in KEYS.items()
        },
        "additionalProperties": False,
    }


def find(start: Path) -> Path | None:
    """The nearest configuration file at or above a folder: scenlint.toml before pyproject.toml."""
    start = start.resolve()
    for folder in (start, *start.parents):
        own, project = folder / FILE_NAME, folder / "pyproject.toml"
        if os.path.isfile(own):  # unlike Path.is_file, False where a folder may not be entered
            return own
        if os.path.isfile(project) and "[tool.scenlint" in project.read_text("utf-8", "replace"):
            return project
    return None


def load(start: Path, file: Path | None = None) -> Settings:
    """Settings from `file`, else from the nearest configuration at or above `start`, else the defaults."""
    if file is not None and not os.path.isfile(file):
        raise ConfigError(f"{file}: no such configuration file")
    found = file or find(start)
    if found is None:
        return Settings(root=start.resolve(), policy=Policy(digests=_digests(start.resolve(), configured=False)))
    return read(found)


def lock_file(root: Path, *, configured: bool) -> Path:
    """Where scenlint.lock lies, or would: beside the configuration, else in the nearest folder above that has one."""
    folders = [root] if configured else [root, *root.parents]
    found = (folder / locks.FILE_NAME for folder in folders if os.path.isfile(folder / locks.FILE_NAME))
    return next(found, root / locks.FILE_NAME)


def _digests(root: Path, *, configured: bool) -> dict[str, str]:
    lock = lock_file(root, configured=configured)
    return _unlocked(locks.read_images, lock) if os.path.isfile(lock) else {}


def _unlocked(read: Callable[[Path], dict[str, str]], file: Path) -> dict[str, str]:
    try:
        return read(file)
    except locks.LockError as exc:
        raise ConfigError(str(exc)) from None


def read(file: Path) -> Settings:
    """Settings from one file; ConfigError names file, line and column of what is wrong."""
    try:
        source = Source(file, file.read_bytes())
    except OSError as exc:
        raise ConfigError(f"{file}: {exc.strerror}") from None
    parsed = data.parse(Fragment.of(source, "toml"))
    if parsed.error:
        raise ConfigError(f"{_place(parsed.error.span)}: {parsed.error.message}")
    table: tuple[str, ...] = ("tool", "scenlint") if file.name == "pyproject.toml" else ()
    values = parsed.get(*table, default={})
    _validate(parsed, table, values)
    return _settings(file, parsed, table, values)


def _place(span: Span) -> str:
    location = Location.of(span)
    return f"{location.path}:{location.line}:{location.column}"


def _validate(parsed: data.Data, table: tuple[str, ...], values: Any) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    if isinstance(values, Mapping):
        for key in values:
            if key not in KEYS:
                where = _place(parsed.key_span(*table, key))
                raise ConfigError(f"{where}: unknown key `{key}`; {_did_you_mean(key, list(KEYS))}")
    error = best_match(Draft202012Validator(schema()).iter_errors(values))
    if error is not None:
        where = _place(parsed.span(*table, *error.absolute_path))
        raise ConfigError(f"{where}: {_wrong(error)}")
    for name, agent in values.get("agents", {}).items():
        for key, wrong in config_agents.misplaced(agent):
            raise ConfigError(f"{_place(parsed.key_span(*table, 'agents', name, key))}: `agents.{name}`: {wrong}")


def _wrong(error: Any) -> str:
    """What jsonschema found, with the key it is about."""
    key = ".".join(str(part) for part in error.absolute_path if isinstance(part, str)) or "scenlint"
    match error.validator:
        case "type":
            words = {"array": "a list", "object": "a table", "string": "a text", "boolean": "true or false"}
            return f"`{key}` has to be {words.get(str(error.validator_value), error.validator_value)}"
        case "enum":
            return f"`{key}` is {error.instance!r}, which is not one of {', '.join(map(str, error.validator_value))}"
        case "required":
            return f"`{key}` lacks {', '.join(f'`{k}`' for k in error.validator_value if k not in error.instance)}"
        case "oneOf":
            kinds = [part["required"][0] for part in error.validator_value]
            found = [f"`{k}`" for k in kinds if k in error.instance]
            told = ", ".join(f"`{k}`" for k in kinds)
            return f"`{key}` has {' and '.join(found) or 'no kind'}: an agent has exactly one of {told}"
        case "additionalProperties":
            known = list(error.schema.get("properties", ()))
            other = next(k for k in error.instance if k not in known)
            return f"unknown key `{other}` in `{key}`; {_did_you_mean(other, known)}"
    return f"`{key}`: {error.message}"


def _settings(file: Path, parsed: data.Data, table: tuple[str, ...], values: Mapping[str, Any]) -> Settings:
    root = file.resolve().parent

    def named(*path: str | int) -> tuple[Named, ...]:
        items = parsed.get(*table, *path, default=[])
        return tuple(Named(text, parsed.span(*table, *path, n)) for n, text in enumerate(items))

    images = values.get("images", {})
    apps = values.get("saas-bench", {}).get("apps")
    policy = Policy(
        profile=_profile(values.get("profile", Profile.SEED.value)),
        approved_images=tuple(images.get("approved", DEFAULT_APPROVED_IMAGES)),
        substitutes=dict(images.get("substitutes", {})),
        oracles={task: str(root / path) for task, path in values.get("oracles", {}).items()},
        pass_env=tuple(values.get("pass-env", ())),
        apps=str(root / apps) if apps else None,
        digests={**_digests(root, configured=True), **images.get("digests", {})},
        packages={
            name: version
            for lock in reversed(values.get("dependencies", {}).get("locks", ()))  # the first counts most
            for name, version in _unlocked(locks.read_packages, root / lock).items()
        },
    )
    return Settings(
        root=root,
        file=file,
        select=named("select") if "select" in values else None,
        extend_select=named("extend-select"),
        ignore=named("ignore"),
        fail_on=Severity(values.get("fail-on", Severity.ERROR)),
        baseline=root / values["baseline"] if values.get("baseline") else None,
        exclude=tuple(values.get("exclude", ())),
        severity=tuple(
            (Named(rule, parsed.key_span(*table, "severity", rule)), Severity(value))
            for rule, value in values.get("severity", {}).items()
        ),
        per_path_ignores=tuple((glob, named("per-path-ignores", glob)) for glob in values.get("per-path-ignores", {})),
        suppressions=tuple(
            ConfigSuppression(
                Named(entry["rule"], parsed.span(*table, "suppressions", n, "rule")), entry["path"], entry["reason"]
            )
            for n, entry in enumerate(values.get("suppressions", ()))
        ),
        agents=values.get("agents", {}),
        watch=values.get("watch", {}),
        policy=policy,
    )


if (
    __name__ == "__main__"
):  # regenerates the checked-in schema: python -m scenlint.config > scenlint/scenlint.schema.json
    print(json.dumps(schema(), indent=2))
