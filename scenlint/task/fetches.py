"""What commands download: addresses (curl, wget), repositories (git), images (docker), package lists (apt)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scenlint.source.text import Span
from scenlint.task.hosts import host_of, is_near
from scenlint.task.installs.model import UNKNOWN, Arg, base_name, parse_options

_CURL = """
    -o --output -H --header -d --data --data-raw --data-binary --data-urlencode -X --request -u --user -A
    --user-agent -b --cookie -c --cookie-jar -e --referer -F --form -m --max-time --connect-timeout --retry
    --retry-delay --retry-max-time -w --write-out -x --proxy -T --upload-file --cacert --capath -E --cert --key -r
    --range -C --continue-at --limit-rate --resolve --connect-to --unix-socket --interface -K --config -D
    --dump-header -Y -y -z --time-cond --url --output-dir --tls-max --ciphers --json --noproxy --stderr --trace
    --trace-ascii --max-redirs --dns-servers --aws-sigv4 --oauth2-bearer --url-query --rate
"""
_WGET = """
    -O --output-document -P --directory-prefix -o --output-file -a --append-output -t --tries -T --timeout -w
    --wait -U --user-agent --header --user --password --post-data --post-file --method --body-data -e --execute -l
    --level -A --accept -R --reject -D --domains -Q --limit-rate --waitretry --retry-connrefused -i --input-file
    -B --base --ca-certificate --certificate --private-key
"""
_GIT_CLONE = """
    -b --branch --depth -o --origin -u --upload-pack -c --config --reference --reference-if-able
    --separate-git-dir -j --jobs --filter --template --shallow-since --shallow-exclude --server-option
    --bundle-uri --revision
"""


Reader = Callable[[Sequence["Arg"]], Iterator["Fetch"]]


@dataclass(frozen=True)
class Fetch:
    """One download: the tool, what it gets (`host` "" where not known), and a repository's branch, tag or commit."""

    tool: str
    what: str
    span: Span
    host: str = ""
    ref: str = ""
    public: bool = True  # it leaves the machine and the task's own services


def read_fetches(args: Sequence[Arg]) -> Iterator[Fetch]:
    """What a command with these arguments downloads, package managers left to `installs`."""
    if len(args) > 2 and re.fullmatch(r"python[\d.]*", base_name(args[0])) and args[1].text == "-m":
        args = args[2:]
    reader = _READERS.get(base_name(args[0])) if args else None
    if reader is not None:
        yield from reader(args)


def _curl(args: Sequence[Arg]) -> Iterator[Fetch]:
    parsed = parse_options(args[1:], _CURL)
    # Sent to an address of its own choosing, or through something on this machine: not a download.
    if parsed.has("--unix-socket", "--resolve", "--connect-to", "-x", "--proxy", "--version", "-V"):
        return
    for arg in [*parsed.rest, *parsed.values("--url")]:
        yield _address("curl", arg)


def _wget(args: Sequence[Arg]) -> Iterator[Fetch]:
    parsed = parse_options(args[1:], _WGET)
    for arg in parsed.rest:
        yield _address(base_name(args[0]), arg)


def _address(tool: str, arg: Arg, ref: str = "") -> Fetch:
    text = arg.text
    # curl and wget take a bare `example.org/x` too.
    bare = "://" not in text and re.match(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?:[:/]|$)", text, re.I)
    host = host_of(f"https://{text}" if bare and not tool.startswith("git") else text)
    return Fetch(tool, text.replace(UNKNOWN, "…"), arg.span, host, ref, public=not is_near(host))


def _git(args: Sequence[Arg]) -> Iterator[Fetch]:
    at = 1
    while at < len(args) and args[at].text.startswith("-"):
        at += 2 if args[at].text in ("-C", "-c", "--git-dir", "--work-tree") else 1
    verb = args[at].text if at < len(args) else ""
    parsed = parse_options(args[at + 1 :], _GIT_CLONE if verb == "clone" else "")
    if verb == "clone" and parsed.rest:
        ref = next((v.text for v in parsed.values("-b", "--branch", "--revision")), "")
        yield _address("git clone", parsed.rest[0], ref)
    elif verb in ("fetch", "pull", "ls-remote") and parsed.rest:
        yield _address(f"git {verb}", parsed.rest[0])


def _verb(*verbs: str) -> Reader:
    """A tool that downloads under these sub-commands, what it gets being the next word."""

    def read(args: Sequence[Arg]) -> Iterator[Fetch]:
        words = [a for a in args[1:] if not a.text.startswith("-")]
        if words and words[0].text in verbs:
            what = words[1] if len(words) > 1 else words[0]
            name = base_name(args[0])
            yield Fetch(f"{name} {words[0].text}", words[1].text.replace(UNKNOWN, "…") if words[1:] else "", what.span)

    return read


_READERS: dict[str, Reader] = {
    "curl": _curl,
    "wget": _wget,
    "aria2c": _wget,
    "git": _git,
    **dict.fromkeys(("docker", "podman"), _verb("pull")),
    **dict.fromkeys(("apt-get", "apt", "apk"), _verb("update", "upgrade", "dist-upgrade", "full-upgrade")),
    "playwright": _verb("install", "install-deps"),
    **dict.fromkeys(("huggingface-cli", "hf", "modelscope", "kaggle"), _verb("download")),
    "nltk.downloader": lambda args: iter([Fetch("nltk.downloader", "", args[0].span)]),
}
