"""What pip, uv, pipx and their like are asked to install."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scenlint.source.regex import regex
from scenlint.task.hosts import host_of, is_near
from scenlint.task.installs.model import (
    UNKNOWN,
    Arg,
    Install,
    Origin,
    Parsed,
    base_name,
    is_local,
    parse_options,
    ref_problem,
    url_problem,
)

_PIP_VALUED = """
    -r --requirement -c --constraint -e --editable -t --target -i --index-url --extra-index-url -f --find-links
    --platform --python-version --implementation --abi --root --prefix --src --upgrade-strategy -C
    --config-settings --config-setting --global-option --build-option --no-binary --only-binary --progress-bar
    --report --group --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert
    --cache-dir -d --dest --root-user-action --use-feature --use-deprecated --build-constraint -b --build -w
    --wheel-dir --python --requirements --constraints --build-constraints -p --torch-backend --index
    --default-index --index-strategy --exclude-newer --resolution --prerelease --link-mode --override --overrides
    --excludes --refresh-package -P --upgrade-package --reinstall-package --no-build-package --no-binary-package
    --extra --keyring-provider --config-file --directory --project --color --allow-insecure-host --fork-strategy
    --no-build-isolation-package --upgrade-group
"""
_UV_VALUED = """
    -p --python -w --with --with-requirements --with-editable --from --directory --project --env-file --extra
    --group --index --index-url -i --default-index --extra-index-url --package -c --constraint --constraints
    --exclude-newer --cache-dir --find-links -f --refresh-package --link-mode --torch-backend --overrides
    --override -b --build-constraints --python-platform --resolution --prerelease --index-strategy
    --upgrade-package -P --reinstall-package --config-setting -C --no-group --only-group --no-extra --config-file
    --color --allow-insecure-host --keyring-provider --branch --tag --rev --optional -r --requirements
    --requirement --script -m --module -s --bounds --marker
"""
_UV_OPTIONS = frozenset(_UV_VALUED.split())
# Bringing these up to date is how pip itself is set up, not what the task depends on.
_TOOLING = frozenset({"pip", "setuptools", "wheel"})
_REQUIREMENT = regex(r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?P<rest>.*)", re.S)
_DIRECT = regex(r"[\w.-]+\s*(?:\[[^\]]*\])?\s*@\s*(?P<address>[\w+]+:\S+|\.{0,2}/\S*)")
_VCS = regex(r"(?:git|hg|svn|bzr)\+")


def read_python(args: Sequence[Arg]) -> Iterator[Install]:
    """The installs of a pip, uv, uvx, pipx or `python -m pip` command line, all others giving none."""
    program = base_name(args[0])
    if re.fullmatch(r"python[\d.]*|pypy3?", program):
        at = next((n for n, a in enumerate(args) if a.text == "-m"), None)
        if at is not None and at + 1 < len(args) and args[at + 1].text in ("pip", "pip3", "uv", "pipx"):
            yield from read_python(args[at + 1 :])
    elif re.fullmatch(r"pip[\d.]*", program):
        yield from _pip(args[1:], "pip")
    elif program == "uv":
        yield from _uv(args[1:])
    elif program == "uvx":
        yield from _uvx(args[1:])
    elif program in ("pipx", "pipx3"):
        yield from _pipx(args[1:])
    elif program in ("poetry", "pdm", "pipenv", "rye", "hatch"):
        yield from _project(program, args[1:])


def read_requirement(text: str, arg: Arg, manager: str, *, offline: bool = False) -> Install:
    """One requirement as pip takes it: a name with versions, a repository, an address or a path."""
    text = text.strip()
    direct = _DIRECT.match(text)
    address = direct["address"] if direct else text
    if _VCS.match(address):
        path = address.partition("://")[2].partition("/")[2].partition("#")[0]
        ref = path.rpartition("@")[2] if "@" in path else ""
        offline = offline or is_near(host_of(address.partition("+")[2]))
        return Install(manager, text, arg.span, ref.replace(UNKNOWN, "") or None, ref_problem(ref), Origin.VCS, offline)
    if "://" in address and not address.startswith("file:"):
        offline = offline or is_near(host_of(address))
        return Install(manager, text, arg.span, None, url_problem(address), Origin.URL, offline)
    if is_local(address) or "/" in address:
        return Install(manager, text, arg.span, origin=Origin.LOCAL, offline=offline)
    version, why = _versions(text)
    return Install(manager, text, arg.span, version, why, Origin.INDEX, offline)


def _versions(text: str) -> tuple[str | None, str]:
    """The exact version of a requirement, and what leaves it open."""
    found = _REQUIREMENT.match(text)
    if not found or text.startswith(UNKNOWN):
        return None, ""  # an unknown word: nothing can be said about it
    wanted = found["rest"].partition(";")[0].partition(" --")[0].partition(" #")[0].strip().strip("()")
    if found["name"].lower() in _TOOLING and not wanted:
        return None, ""
    if not wanted:
        return None, "names no version"
    if UNKNOWN in wanted:
        return None, ""
    for clause in wanted.split(","):
        exact = re.fullmatch(r"\s*={2,3}\s*([^*\s]+)\s*", clause)
        if exact:
            return exact[1], ""
    return None, f"leaves its version open (`{wanted}`)"


def _pip(args: Sequence[Arg], manager: str, valued: str = _PIP_VALUED) -> Iterator[Install]:
    parsed = parse_options(args, valued)
    if not parsed.rest or parsed.rest[0].text not in ("install", "download", "wheel", "sync"):
        return
    offline = parsed.has("--no-index", "--offline") or _local_index(parsed)
    fixed = parsed.has("--require-hashes", "--exclude-newer")
    if parsed.rest[0].text == "sync":
        yield from (_manifest(manager, file, offline) for file in parsed.rest[1:])
        return
    for arg in [*parsed.rest[1:], *parsed.values("-e", "--editable")]:
        install = read_requirement(arg.text, arg, manager, offline=offline)
        yield _pinned(install) if fixed or _constrained(parsed) else install
    for file in parsed.values("-r", "--requirement", "--requirements"):
        yield _manifest(manager, file, offline)


def _constrained(parsed: Parsed) -> bool:
    """Whether a constraints file decides the versions; what it leaves open is not looked into."""
    return bool(parsed.values("-c", "--constraint", "--constraints"))


def _local_index(parsed: Parsed) -> bool:
    """Whether every index asked is one of the task's own."""
    named = ("-i", "--index-url", "--default-index", "--extra-index-url", "--index")
    indexes = parsed.values(*named)
    replaced = parsed.has("-i", "--index-url", "--default-index")
    return replaced and all(is_near(host_of(index.text)) for index in indexes)


def _pinned(install: Install) -> Install:
    return Install(install.manager, install.package, install.span, install.version, "", install.origin, install.offline)


def _manifest(manager: str, file: Arg, offline: bool) -> Install:
    return Install(manager, file.text, file.span, origin=Origin.MANIFEST, offline=offline)


def _uv(args: Sequence[Arg]) -> Iterator[Install]:
    # Options may stand before the sub-command: `uv --no-cache pip install`.
    at = 0
    while at < len(args) and args[at].text.startswith("-"):
        at += 2 if args[at].text in _UV_OPTIONS else 1
    head = [a.text for a in args[at : at + 2]]
    if head[:1] == ["pip"]:
        yield from _pip(args[at + 1 :], "uv pip")
    elif head[:1] == ["add"]:
        parsed = parse_options(args[at + 1 :], _UV_VALUED)
        ref = next(iter(parsed.values("--rev", "--tag")), None)
        for arg in parsed.rest:
            install = read_requirement(arg.text, arg, "uv add", offline=parsed.has("--offline"))
            fixed = ref is not None or parsed.has("--exclude-newer") or _constrained(parsed)
            yield _pinned(install) if fixed else install
        for file in parsed.values("-r", "--requirements", "--requirement"):
            yield _manifest("uv add", file, parsed.has("--offline"))
    elif head[:1] == ["run"]:
        yield from _with(args[at + 1 :], "uv run", tool=False)
    elif head == ["tool", "run"]:
        yield from _uvx(args[at + 2 :])
    elif head == ["tool", "install"]:
        yield from _with(args[at + 2 :], "uv tool install", tool=True)
    elif head[:1] == ["sync"]:
        offline = any(a.text == "--offline" for a in args)
        yield Install("uv sync", "pyproject.toml", args[at].span, origin=Origin.MANIFEST, offline=offline)


def _uvx(args: Sequence[Arg]) -> Iterator[Install]:
    yield from _with(args, "uvx", tool=True)


def _with(args: Sequence[Arg], manager: str, *, tool: bool) -> Iterator[Install]:
    """`uvx tool`, `uv run --with a,b script`: the options end at the first word, which is the tool or the script."""
    end = 0
    while end < len(args) and args[end].text.startswith("-") and args[end].text != "--":
        end += 2 if args[end].text in _UV_OPTIONS else 1
    parsed = parse_options(args[:end], _UV_VALUED)
    offline, fixed = parsed.has("--offline"), parsed.has("--exclude-newer")
    wanted = [Arg(part, a.span) for a in parsed.values("-w", "--with") for part in re.split(r",(?![^\[]*\])", a.text)]
    first = args[end] if end < len(args) else None
    sources = parsed.values("--from")
    if tool and (sources or first):
        wanted += sources or [Arg(re.sub(r"(?<=[\w\]])@(?=[\w.\0]+$)", "==", first.text), first.span)] if first else []
        if manager == "uv tool install":
            rest = parse_options(args[end + 1 :], _UV_VALUED)
            wanted += [Arg(p, a.span) for a in rest.values("-w", "--with") for p in a.text.split(",")]
    found = [read_requirement(arg.text, arg, manager, offline=offline) for arg in wanted]
    exact = {i.name for i in found if i.version not in (None, "latest")}
    for install in found:
        if install.version == "latest":
            install = replace(
                install, package=install.package.replace("==", "@"), version=None, why="is whatever is newest"
            )
        # `uvx --with pytest==8 pytest` runs the version that --with names.
        yield _pinned(install) if fixed or install.name in exact or _constrained(parsed) else install
    for file in parsed.values("--with-requirements", "--requirements"):
        yield _manifest(manager, file, offline)
    for path in parsed.values("--with-editable"):
        yield Install(manager, path.text, path.span, origin=Origin.LOCAL, offline=offline)


def _pipx(args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "--spec --python --pip-args -i --index-url --suffix --preinstall")
    head, rest = (parsed.rest[0].text if parsed.rest else ""), parsed.rest[1:]
    if head == "inject":
        rest = rest[1:]
    elif head == "run":
        rest = parsed.values("--spec") or rest[:1]
    elif head != "install":
        return
    for arg in rest:
        yield read_requirement(arg.text, arg, f"pipx {head}")


def _project(program: str, args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "-G --group -E --extras -C --directory -P --project --python")
    if not parsed.rest:
        return
    head, rest = parsed.rest[0], parsed.rest[1:]
    if head.text == "add" or (head.text == "install" and program == "pipenv" and rest):
        for arg in rest:
            text = re.sub(r"(?<=\w)@(?=[\d^~])", "==", arg.text)
            install = read_requirement(text, arg, f"{program} {head.text}")
            yield install if not re.search(r"==[\^~]", text) else read_requirement(text.partition("=")[0], arg, program)
    elif head.text in ("install", "sync"):
        yield Install(f"{program} {head.text}", "pyproject.toml", head.span, origin=Origin.MANIFEST)
