"""What package managers other than Python's are asked to install."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from scenlint.source.regex import regex
from scenlint.task.installs.model import (
    UNKNOWN,
    Arg,
    Install,
    Origin,
    base_name,
    is_local,
    parse_options,
    ref_problem,
    url_problem,
)

# Distributions' package managers: a pinned version vanishes from the mirror, so a pin is no answer there.
SYSTEM = frozenset({"apt-get", "apt", "aptitude", "apk", "dnf", "yum", "microdnf", "zypper", "pacman", "tdnf"})

_SEMVER = regex(r"[v=]?\d+\.\d+\.\d+[\w.+-]*")


def read_other(args: Sequence[Arg]) -> Iterator[Install]:
    """The installs of a command line of npm, gem, cargo, go, conda or a distribution, all others giving none."""
    program = base_name(args[0])
    if program in SYSTEM:
        yield from _system(program, args[1:])
    elif reader := _READERS.get(program):
        yield from reader(program, args[1:])


def _system(program: str, args: Sequence[Arg]) -> Iterator[Install]:
    valued = "-t --target-release --default-release -o --option -c --config-file --virtual --repository --root"
    valued += " --repositories-file --arch --cache-dir --enablerepo --disablerepo --releasever --setopt --installroot"
    parsed = parse_options(args, valued + (" -a -p -X" if program == "apk" else ""))
    verb = parsed.rest[0].text if parsed.rest else ("-S" if program == "pacman" and parsed.has("-S") else "")
    if verb not in ("install", "add", "in", "-S", "satisfy", "localinstall", "groupinstall"):
        return
    for arg in parsed.rest[(verb != "-S") :]:
        text = arg.text
        if is_local(text) or (text.startswith(UNKNOWN) and len(text) == 1):
            yield Install(program, text, arg.span, origin=Origin.LOCAL if is_local(text) else Origin.INDEX)
            continue
        exact = re.match(r"[^=<>~\s]+(?:=|~=)(?P<version>.+)|.+?-(?P<rpm>\d[\w.:+~^]*-\d[\w.]*)$", text)
        version = (exact["version"] or exact["rpm"]) if exact else None
        yield Install(program, text, arg.span, version, "" if version else "names no version")


def _npm(program: str, args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "--prefix -C --registry --cache -w --workspace --tag --cwd --dir")
    words = [a for a in parsed.rest if a.text != "global"]
    verb = words[0].text if words else ("install" if program == "yarn" else "")
    offline = parsed.has("--offline")
    if program == "bun" and verb not in ("add", "install", "i"):
        return
    if verb not in ("install", "i", "in", "add", "ci", "clean-install", "isntall"):
        return
    if verb in ("ci", "clean-install") or len(words) < 2:
        span = words[0].span if words else args[0].span if args else None
        if span is not None:
            frozen = verb in ("ci", "clean-install") or parsed.has("--frozen-lockfile", "--immutable")
            name = "a lock file" if frozen else "package.json"
            yield Install(f"{program} {verb}", name, span, origin=Origin.MANIFEST, offline=offline)
        return
    for arg in words[1:]:
        yield _npm_package(program, arg, offline)


def _npm_package(program: str, arg: Arg, offline: bool) -> Install:
    text = arg.text
    if is_local(text) or text.startswith(("link:", "workspace:")):
        return Install(program, text, arg.span, origin=Origin.LOCAL, offline=offline)
    if "://" in text or text.startswith(("github:", "gitlab:", "git@")) or re.fullmatch(r"[\w.-]+/[\w.-]+(#.*)?", text):
        address, _, ref = text.partition("#")
        if re.search(r"\.t(?:ar\.)?gz$", address):
            return Install(program, text, arg.span, None, url_problem(text), Origin.URL, offline)
        return Install(program, text, arg.span, ref or None, ref_problem(ref), Origin.VCS, offline)
    name, at, version = text[1:].partition("@")
    if not at:
        return Install(program, text, arg.span, None, "" if text == UNKNOWN else "names no version", offline=offline)
    if UNKNOWN in version or _SEMVER.fullmatch(version.removeprefix(f"npm:{text[0]}{name}@")):
        return Install(program, text, arg.span, version, offline=offline)
    return Install(program, text, arg.span, None, f"leaves its version open (`{version}`)", offline=offline)


def _gem(program: str, args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "-v --version -i --install-dir -n --bindir -P -s --source --platform")
    if program == "bundle":
        if parsed.rest and parsed.rest[0].text == "install":
            yield Install("bundle install", "Gemfile", parsed.rest[0].span, origin=Origin.MANIFEST)
        return
    if not parsed.rest or parsed.rest[0].text not in ("install", "i"):
        return
    flag = next((v.text for v in parsed.values("-v", "--version")), "")
    for arg in parsed.rest[1:]:
        name, _, given = arg.text.partition(":")
        wanted = given or flag
        local = is_local(name)
        if local or UNKNOWN in arg.text + wanted or re.fullmatch(r"=?\s*\d+(?:\.\w+)+", wanted):
            yield Install("gem", arg.text, arg.span, wanted or None, origin=Origin.LOCAL if local else Origin.INDEX)
        else:
            why = f"leaves its version open (`{wanted}`)" if wanted else "names no version"
            yield Install("gem", arg.text, arg.span, None, why, offline=parsed.has("--local", "-l"))


def _cargo(_: str, args: Sequence[Arg]) -> Iterator[Install]:
    valued = "--version --vers --git --rev --tag --branch --path --root --index --registry -F --features --target --bin"
    parsed = parse_options(args, valued + " --profile -j --jobs --example --config -Z")
    words = [a for a in parsed.rest if not a.text.startswith("+")]
    if not words or words[0].text not in ("install", "add", "binstall"):
        return
    manager, offline = f"cargo {words[0].text}", parsed.has("--offline", "--frozen")
    repository = next(iter(parsed.values("--git")), None)
    if repository:
        ref = next((v.text for v in parsed.values("--rev", "--tag", "--branch")), "")
        why = "follows a branch" if parsed.values("--branch") else ref_problem(ref)
        yield Install(manager, repository.text, repository.span, ref or None, why, Origin.VCS, offline)
        return
    local = parsed.values("--path")
    yield from (Install(manager, p.text, p.span, origin=Origin.LOCAL, offline=offline) for p in local)
    flag = next((v.text for v in parsed.values("--version", "--vers")), "")
    for arg in [] if local else words[1:]:
        wanted = arg.text.partition("@")[2] or flag
        if UNKNOWN in arg.text + wanted or _SEMVER.fullmatch(wanted):
            yield Install(manager, arg.text, arg.span, wanted or None, offline=offline)
        else:
            why = f"leaves its version open (`{wanted}`)" if wanted else "names no version"
            yield Install(manager, arg.text, arg.span, None, why, offline=offline)


def _go(_: str, args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "-ldflags -tags -mod -modfile -o -p -gcflags -C")
    if not parsed.rest or parsed.rest[0].text not in ("install", "get"):
        return
    verb = parsed.rest[0].text
    for arg in parsed.rest[1:]:
        path, at, version = arg.text.partition("@")
        if is_local(arg.text) or "." not in path.partition("/")[0] or (verb == "install" and not at):
            continue  # a package of the module at hand, whose go.mod decides
        if UNKNOWN in arg.text or re.fullmatch(r"v\d+\.\d+\.\d+[\w.+-]*|[0-9a-f]{7,40}", version):
            why = ""
        elif version in ("", "latest", "upgrade"):
            why = "is whatever is newest"
        else:
            why = f"follows `{version}`"
        yield Install(f"go {verb}", arg.text, arg.span, version or None, why)


def _conda(program: str, args: Sequence[Arg]) -> Iterator[Install]:
    parsed = parse_options(args, "-c --channel -n --name -p --prefix -f --file --solver -r")
    words = parsed.rest[1:] if parsed.rest and parsed.rest[0].text == "env" else parsed.rest
    if not words or words[0].text not in ("install", "create", "update"):
        return
    offline = parsed.has("--offline")
    for arg in words[1:]:
        version = re.search(r"={1,2}\s*([\w.]+)(?:=\w+)?$", arg.text)
        exact = version is not None and version[1].count(".") > 0 and not re.search(r"[<>~!*]", arg.text)
        why = (
            ""
            if exact or UNKNOWN in arg.text
            else f"leaves its version open (`{arg.text}`)"
            if version
            else "names no version"
        )
        yield Install(program, arg.text, arg.span, version[1] if version else None, why, offline=offline)
    for file in parsed.values("-f", "--file"):
        yield Install(program, file.text, file.span, origin=Origin.MANIFEST, offline=offline)


_READERS: dict[str, Callable[[str, Sequence[Arg]], Iterator[Install]]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _npm),
    **dict.fromkeys(("gem", "bundle"), _gem),
    "cargo": _cargo,
    "go": _go,
    **dict.fromkeys(("conda", "mamba", "micromamba"), _conda),
}
