"""The files that a task's graders name and that are not there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scenlint.source.regex import regex
from scenlint.source.shell import Command, Script, Word, parse
from scenlint.source.shell.words import Expansion
from scenlint.source.text import Fragment, Span
from scenlint.task.model import Task, Verifier
from scenlint.task.suggest import closest

_ASKS = {"[", "[[", "test", "ls", "find", "stat"}  # whether something is there
_MAKES = {"mkdir", "touch", "tee", "rm", "rmdir", "truncate", "mkfifo", "echo", "printf"}  # every word
_COPIES = {"cp", "mv", "ln", "install", "rsync", "scp"}  # the last word
_FETCHES = {"git", "tar", "unzip", "curl", "wget", "dvc", "gsutil", "aws", "make", "gcc", "g++", "cc"}
_RUNNERS = {"pytest", "py.test", "unittest", "bats", "jest", "vitest", "mocha", "prove", "shellcheck", "node", "deno"}
_HERE = regex(r"dirname.*(?:\$0|\$\{0|BASH_SOURCE)|BASH_SOURCE.*%/\*")
_WRITES = regex(r"\b(?:open|write\w*|copy\w*|save\w*|dump|move|rename|replace|touch)\s*\(")


@dataclass(frozen=True)
class MissingFile:
    """`name` as written, and the existing files it may have meant."""

    name: str
    span: Span
    grader: str
    near: list[str]


def missing_files(task: Task) -> Iterator[MissingFile]:
    """Every file that a grader is told to run or read and that none of the places it can mean has."""
    verifier = task.verifier
    if verifier is None:
        return
    for grader in verifier.graders:
        for value in grader.missing:
            if value.span is not None:
                yield MissingFile(str(value.value), value.span, grader.name, _near(task, str(value.value)))
        if grader.script is not None and grader.script.language == "shell" and verifier.mount:
            yield from _Reader(task, verifier, grader.script).missing(grader.name)


def _near(task: Task, name: str) -> list[str]:
    base = posixpath.basename(name)
    there = {entry.name: entry.path for entry in task.files}
    return [there[n] for n in closest(base, there)]


class _Reader:
    """One script that runs where the verifier's folder is mounted."""

    def __init__(self, task: Task, verifier: Verifier, script: Fragment) -> None:
        self.task = task
        self.mount = verifier.mount or ""
        self.fixed = {name: str(v.value) for name, v in verifier.env.items()}
        if self.mount.startswith("$"):  # the folder is named by a variable alone
            self.fixed[self.mount[1:]] = self.mount
        self.script: Script = parse(script)
        try:
            own = posixpath.dirname(script.path.relative_to(task.folder).as_posix())
        except ValueError:
            own = ""
        self.folders = [f for f in dict.fromkeys([verifier.folder or "", own]) if f or not verifier.folder]

    def missing(self, grader: str) -> Iterator[MissingFile]:
        seen: set[str] = set()
        for command in self.script.commands:
            for word in self._read(command):
                path = self._inside(command, word)
                if path is None or path in seen or self._exists(path) or self._may_appear(command, path):
                    continue
                seen.add(path)
                yield MissingFile(word.raw.strip("\"'"), word.span, grader, _near(self.task, path))

    def _read(self, command: Command) -> list[Word]:
        """The words of a command that name what is run or read."""
        script = command.script_word
        if command.tool in _RUNNERS:
            return [w for w in command.tool_words[1:] if not w.is_option and re.search(r"\.\w+(?:::.*)?$", w.pattern)]
        words = [script] if script is not None else []
        if command.program in _COPIES:
            words += [w for w in command.arguments[:-1] if not w.is_option]
        elif command.program in ("cat", "diff", "cmp", "sha256sum", "md5sum"):
            words += [w for w in command.arguments if not w.is_option]
        return words

    def _inside(self, command: Command, word: Word) -> str | None:
        """A path relative to the verifier's folder; None for whatever lies elsewhere or is not known."""
        path = self._value(word)
        if path is None or re.search(r"[*?{}]", path):
            return None
        path = path.partition("::")[0]
        if not path.startswith(("/", "$", "<here>")):
            folder = self._folder(command)
            path = posixpath.join(folder, path) if folder else ""
        for start in (self.mount, "<here>"):
            if path.startswith(start + "/"):
                inner = posixpath.normpath(path.removeprefix(start + "/"))
                return None if inner.startswith("..") or inner == "." else inner
        return None

    def _value(self, word: Word) -> str | None:
        """The word's value, with what the harness sets and with `<here>` for the script's own folder."""
        out = []
        for n, part in enumerate(word.parts):
            if isinstance(part, str):
                out.append(part)
            elif isinstance(part, Expansion):
                set_here = [a for a in self.script.assignments if a.name == part.name]
                raw = [a.value.raw if a.value else "" for a in set_here]
                if n == 0 and raw and all(_HERE.search(r) and ".." not in r for r in raw):
                    out.append("<here>")
                elif part.name in self.fixed and not set_here:
                    out.append(self.fixed[part.name])
                else:
                    return word.text
            elif n == 0 and _HERE.search(word.raw) and ".." not in word.raw:
                out.append("<here>")
            else:
                return None
        return "".join(out)

    def _folder(self, command: Command) -> str | None:
        """Where a relative path counts from, if the script has gone to the verifier's folder."""
        before = [
            c for c in self.script.commands if c.program == "cd" and c.start < command.start and c.function is None
        ]
        if not before or len(before[-1].arguments) != 1:
            return None
        value = self._value(before[-1].arguments[0])
        return value if value is not None and (value + "/").startswith((self.mount + "/", "<here>/")) else None

    def _exists(self, path: str) -> bool:
        places = [posixpath.join(folder, path) for folder in self.folders]
        return any(place in self.task.files or self.task.files.has_dir(place) for place in places)

    def _may_appear(self, command: Command, path: str) -> bool:
        """Whether the script, the image or the verifier's code makes the file, or the script can do without it."""
        follow = command.followed_by
        if (
            follow is not None
            and follow[0] == "||"
            and any(c.program in ("true", ":") or self._read(c) for c in follow[1].commands)
        ):
            return True
        name = posixpath.basename(path)
        return any(name in text for text in self._makers) or any(
            path == made or path.startswith(made + "/") for made in self._made
        )

    @cached_property
    def _makers(self) -> list[str]:
        """Texts in which the name of a file suggests that they make it or ask for it."""
        environment = self.task.environment
        texts = [build.fragment.text for build in environment.builds] if environment else []
        for code in self.task.verifier.code("python") if self.task.verifier else ():
            texts += [line for line in code.text.splitlines() if _WRITES.search(line)]
        texts += [c.span.text for c in self.script.commands if c.program in _ASKS | _FETCHES | _MAKES]
        return texts

    @cached_property
    def _made(self) -> set[str]:
        """Files and folders below the verifier's that the script writes, copies or unpacks something to."""
        out = set()
        for command in self.script.commands:
            words = [r.target for r in command.redirects if r.writes and r.target is not None]
            if command.program in _FETCHES | {"mkdir"}:
                words += command.arguments
            elif command.program in _COPIES:
                words += command.arguments[-1:]
            out |= {path for word in words if (path := self._inside(command, word)) is not None}
        return out
