"""What a command is for in a verifier's script: a check of the work, setting up, output only, or unknown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from scenlint.source.regex import regex
from scenlint.source.shell import Command
from scenlint.task.model import Contract, Verifier

SUMMARY = "\0summary"  # stands for pytest's short summary on the terminal, which legacy Terminal-Bench reads
HEADER = "short test summary info"


class Purpose(StrEnum):
    CHECK = "check"  # its outcome depends on the agent's work
    SETUP = "setup"  # its outcome depends on the machine only
    OUTPUT = "output"  # it prints or keeps house; its status says nothing
    OPEN = "open"


_OUTPUT = frozenset(
    """
    echo printf : true cat tee date set unset export local declare readonly typeset shift trap sleep sync cd
    pushd popd umask ulimit shopt alias type hash head tail sed sort tr cut uniq column fold nl less more ts
    stdbuf deactivate mkdir touch chmod chown pwd ls basename dirname seq disown jobs env printenv tput clear
    wait
    """.split()  # noqa: SIM905
)
_SETUP = frozenset(
    """
    apt apt-get apk yum dnf pip pip3 pipx conda micromamba mamba curl wget git service systemctl command which
    type tar unzip gunzip xz useradd usermod groupadd id whoami hostname nproc rustup nvm fnm volta corepack gem
    bundle composer ssh-keygen openssl locale-gen update-alternatives ln rm cp mv install rsync kill pkill
    killall read source . mount umount sysctl ifconfig ip nohup venv virtualenv ensurepip http.server uv docker
    Xvfb getent free df
    """.split()  # noqa: SIM905
)
_CHECK = frozenset(
    """
    pytest py.test unittest nose2 tox nox jest vitest mocha ava tap karma cypress playwright rspec minitest
    phpunit ctest cargo make cmake ninja gcc g++ cc clang javac mvn mvnw gradle gradlew ant sbt dotnet ghc stack
    cabal mix rebar3 diff cmp comm grep egrep fgrep rg jq yq awk gawk perl ruby node deno bun php Rscript python
    python2 python3 lua julia java sqlite3 psql mysql md5sum sha256sum sha1sum shellcheck mypy ruff eslint tsc
    behave bats expect xmllint nosetests go npm yarn pnpm
    """.split()  # noqa: SIM905
)
# Sub-commands that only fetch or prepare.
_PREPARING = regex(
    r"(?:go (?:mod|get|clean|env|version|install|work|tool)|"
    r"(?:npm|yarn|pnpm) (?:ci|install|i|add|config|link|-v|--version)|"
    r"cargo (?:fetch|install|update|--version)|(?:mvn|gradle|mvnw|gradlew) .*(?:--version|dependencies|go-offline)|"
    r"python\d?\S* --?(?:V|version)|node (?:-v|--version)|mix (?:deps|local)\S*|dotnet restore|"
    r"cmake (?!--build)|stack setup)"
)
_ENVIRONMENT = regex(
    r"/(?:usr|opt|etc|bin|sbin|lib|proc|dev|sys|run|root/\.(?:local|cargo|nvm|bashrc)|home/\w+/\.)(?:/|$)"
)


@dataclass(frozen=True)
class Setting:
    """Where things lie when the script runs."""

    mount: str | None = None  # of the verifier's own folder
    workdir: str | None = None
    verdicts: tuple[str, ...] = ()
    own: frozenset[str] = field(default_factory=frozenset)  # base names of the verifier's own files
    given: frozenset[str] = field(default_factory=frozenset)  # base names of the files that the agent finds

    @classmethod
    def of(cls, verifier: Verifier, given: Iterable[str] = ()) -> Setting:
        names = frozenset(f.path.name for f in verifier.files)
        verdicts = (SUMMARY,) if verifier.contract is Contract.TEST_SUMMARY else verifier.verdict_paths
        given = frozenset(posixpath.basename(path) for path in given)
        return cls(verifier.mount, verifier.workdir, verdicts, names, given)

    def is_verdict(self, path: str) -> bool:
        """Whether a path (`*` for unknown parts) is one that the harness reads the verdict from."""
        if path in self.verdicts:
            return True
        folder, _, name = path.rpartition("/")
        return "*" in folder and name in {posixpath.basename(v) for v in self.verdicts}

    def is_work(self, path: str) -> bool:
        """Whether a path can be of the agent's making: neither the verifier's own nor the system's."""
        if not re.match(r"[~./*\w]", path) or self.is_own(path) or path.startswith(("/logs", "/tmp/", "~/.", "/dev/")):
            return False
        return not _ENVIRONMENT.match(path)

    def is_own(self, path: str) -> bool:
        """Whether a path is one of the verifier's own files or folders."""
        if self.mount and (path == self.mount or path.startswith(self.mount.rstrip("/") + "/")):
            return True
        return "*" in path and posixpath.basename(path) in self.own


def purpose(command: Command, setting: Setting, *, made: frozenset[str] = frozenset()) -> Purpose:
    """What a command is for. `made`: the files that the script has written itself."""
    program, tool = command.program, command.tool
    if program is None:
        return Purpose.OPEN if command.argv else Purpose.OUTPUT
    words = [w.pattern for w in command.arguments]
    line = " ".join([tool or "", *(w.pattern for w in command.tool_words[1:])])
    if program in ("[", "[[", "test", "(("):
        return _test_purpose(words, setting)
    if program == "command" or tool in ("pip", "venv", "ensurepip", "http.server", "virtualenv"):
        return Purpose.SETUP
    if _PREPARING.match(line):
        return Purpose.SETUP
    if tool in _CHECK:
        return Purpose.CHECK
    script = command.script_word
    if script is not None and program not in ("source", "."):
        path = script.pattern
        if any(file.endswith("/" + path.removeprefix("./")) for file in made):
            return Purpose.OPEN  # the script has written it itself
        return Purpose.CHECK if setting.is_own(path) or setting.is_work(path) else Purpose.OPEN
    if program == "cat" and any(setting.is_work(w) and w not in made for w in words if not w.startswith("-")):
        return Purpose.OPEN
    if program in ("curl", "wget", "nc", "http") and any(
        re.search(r"localhost|127\.0\.0\.1|0\.0\.0\.0", w) for w in words
    ):
        return Purpose.CHECK
    if program in _OUTPUT:
        return Purpose.OUTPUT
    if program in _SETUP or tool in _SETUP:
        return Purpose.SETUP
    if command.inline is not None or command.heredoc is not None:
        return Purpose.CHECK
    return Purpose.OPEN


def is_runner(command: Command) -> bool:
    """Whether a check is a program that judges, not one that reads a text for numbers or words."""
    return command.tool not in (
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "awk",
        "gawk",
        "jq",
        "yq",
        "comm",
        "sqlite3",
        "psql",
        "[",
        "[[",
        "test",
        "((",
    )


def _test_purpose(words: list[str], setting: Setting) -> Purpose:
    operands = [
        w
        for w in words
        if w not in ("]", "]]", "))", "!", "(", ")") and not re.fullmatch(r"-\w+|[=!<>]=?|=~|&&|\|\|", w)
    ]
    tests_a_file = any(re.fullmatch(r"-[defrswxLhpbc]", w) for w in words)
    if tests_a_file and any(posixpath.basename(w) in setting.given for w in operands):
        return Purpose.OPEN  # it was there from the start
    if any("/" in w and setting.is_work(w) for w in operands):
        return Purpose.CHECK
    if tests_a_file and any(re.match(r"[\w.*]", w) and setting.is_work(w) and "*" not in w for w in operands):
        return Purpose.CHECK if setting.workdir else Purpose.OPEN
    if tests_a_file and all(not setting.is_work(w) for w in operands):
        return Purpose.SETUP
    return Purpose.OPEN
