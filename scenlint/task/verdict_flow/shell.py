"""The verdict of a verifier whose first script is a shell script: every end it can come to, and the verdict there."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property, partial

from scenlint.source.shell import Command, parse
from scenlint.source.text import Fragment
from scenlint.task.model import Contract, Grader, Task, Verifier
from scenlint.task.verdict_flow.interpret import Interpreter, TooManyPathsError
from scenlint.task.verdict_flow.roles import Purpose, Setting, purpose
from scenlint.task.verdict_flow.values import Mask, State, Use, Value


@dataclass
class Flow:
    """What is known of one script. Without `complete` it could not be followed and nothing is said."""

    grader: Grader
    script: Fragment
    contract: Contract
    setting: Setting
    ends: list[State] = field(default_factory=list)
    complete: bool = True

    def verdict(self, end: State) -> Value | None:
        """What the harness finds at an end: the reward file's text (None: no file or an empty one)."""
        for path in sorted(self.setting.verdicts, key=lambda p: not p.endswith(".json")):
            value = end.files.get(path)
            if value is not None and (value.text is None or value.text.strip()):
                return value
        return None

    @property
    def uses(self) -> set[Use]:
        return {u for end in self.ends for u in end.uses}

    @property
    def swallowed(self) -> set[Mask]:
        return {m for end in self.ends for m in end.swallowed}

    @property
    def checks(self) -> set[Command]:
        return {c for end in self.ends for c in end.checks}

    @cached_property
    def constant(self) -> Value | None:
        """The one verdict that is written whatever the checks say, or None."""
        if not self.complete or self.contract is not Contract.REWARD_FILE:
            return None
        verdicts = [(end, self.verdict(end)) for end in self.ends]
        written = [(end, v) for end, v in verdicts if v is not None]
        if not written or any(v.text is None for _, v in written):
            return None
        for n, (end, value) in enumerate(verdicts):
            for other, another in verdicts[n + 1 :]:
                differ = _text(value) != _text(another)
                if differ and end.compatible(other, Purpose.SETUP):
                    return None
        return written[-1][1]

    @cached_property
    def missing(self) -> list[tuple[State, State | None]]:
        """Ends without a verdict that the work leads to, each with an end that has one and differs only in that.

        (end, None): no end has a verdict.
        """
        if not self.complete or self.contract is not Contract.REWARD_FILE or not self.ends:
            return []
        without = [end for end in self.ends if self.verdict(end) is None]
        written = [end for end in self.ends if self.verdict(end) is not None]
        if not written:
            return [(without[0], None)]
        out: list[tuple[State, State | None]] = []
        for end in without:
            other = next((o for o in written if end.compatible(o, Purpose.SETUP, Purpose.OPEN)), None)
            if other is not None and any(p is Purpose.CHECK for _, p in end.decisions.values()):
                out.append((end, other))
        return out


def _text(value: Value | None) -> str | None:
    return None if value is None or value.text is None else value.text.strip()


def flows(task: Task) -> list[Flow]:
    """The flow of every grader that is a shell script; followed once per task."""
    verifier = task.verifier
    if verifier is None or verifier.contract not in (Contract.REWARD_FILE, Contract.EXIT_STATUS):
        return []
    out = []
    for grader in verifier.graders:
        script = grader.script
        if script is not None and script.language == "shell":
            out.append(script.memo("verdict flow", partial(_follow, task, verifier, grader, script)))
    return out


def _follow(task: Task, verifier: Verifier, grader: Grader, script: Fragment) -> Flow:
    setting = Setting.of(verifier)
    flow = Flow(grader, script, verifier.contract, setting)
    parsed = parse(script)
    if parsed.error is not None:
        flow.complete = False
        return flow
    files = Files(task, verifier)
    try:
        flow.ends = Interpreter(setting, Effects(files, setting), files.shell).run(parsed, _start(task, verifier))
    except (TooManyPathsError, RecursionError):
        flow.complete = False
    return flow


def _start(task: Task, verifier: Verifier) -> State:
    # A packet's checks are run by `bash -o pipefail -c`.
    return State(cwd=verifier.workdir, pipefail=task.format == "packet")


class Files:
    """The verifier's own files by the path at which its scripts name them."""

    def __init__(self, task: Task, verifier: Verifier) -> None:
        self.by_path: dict[str, Fragment] = {}
        self.by_name: dict[str, list[Fragment]] = {}
        base = task.folder / (verifier.folder or "")
        for fragment in verifier.files:
            self.by_name.setdefault(fragment.path.name, []).append(fragment)
            if fragment.path.is_relative_to(base):
                place = fragment.path.relative_to(base).as_posix()
                self.by_path[posixpath.join(verifier.mount or "", place)] = fragment
        self.all = list(verifier.files)

    def find(self, path: str) -> Fragment | None:
        if path in self.by_path:
            return self.by_path[path]
        named = self.by_name.get(posixpath.basename(path), [])
        return named[0] if len(named) == 1 and ("*" in path or not path.startswith("/")) else None

    def shell(self, path: str) -> Fragment | None:
        found = self.find(path)
        return found if found is not None and found.language == "shell" else None


class Effects:
    """What a program does to the verdict, as far as the code that it runs shows."""

    def __init__(self, files: Files, setting: Setting) -> None:
        self.files = files
        self.setting = setting
        names = "|".join(re.escape(posixpath.basename(v)) for v in setting.verdicts) or r"(?!)"
        self.named = re.compile(names)

    def __call__(self, run: Interpreter, command: Command, state: State) -> list[State] | None:
        if self.setting.verdicts and self.may_write(run, command, state):
            what = purpose(command, self.setting)
            what = Purpose.CHECK if what is Purpose.OUTPUT else what
            end = run.program(command, state, "", what)
            for path in self.setting.verdicts[:1]:
                end.files[path] = Value(purpose=Purpose.CHECK, source=command, sure=False)
            return [end]
        return None

    def may_write(self, run: Interpreter, command: Command, state: State) -> bool:
        """Whether what a command runs can be the one that writes the verdict."""
        if command.program in (
            "ls",
            "chmod",
            "chown",
            "mkdir",
            "test",
            "[",
            "[[",
            "stat",
            "find",
            "grep",
            "head",
            "tail",
            "wc",
        ):
            return False
        texts = [w.pattern for w in command.words] + [a.value.pattern for a in command.assignments if a.value]
        texts += [f.text for f in (command.inline, command.heredoc) if f is not None]
        if any(self.named.search(t) for t in texts):
            return True
        if any(value.text and self.named.search(value.text) for value in state.variables.values()) and self._exported(
            command, state
        ):
            return True
        code = self._code(run, command, state)
        if code is None:
            return False
        return code == "unseen" or bool(self.named.search(code)) or bool(re.search(r"/logs/verifier['\"]", code))

    @staticmethod
    def _exported(command: Command, state: State) -> bool:
        """Whether a program is told the verdict's path by an exported variable."""
        return any(
            c.program == "export"
            and any(
                a.name in state.variables and "reward" in (state.variables[a.name].text or "") for a in c.assignments
            )
            for c in command.script.commands
        ) and purpose(command, Setting()) in (Purpose.CHECK, Purpose.OPEN)

    def _code(self, run: Interpreter, command: Command, state: State) -> str | None:
        """The text of the code that a command runs; "unseen" where it is not at hand, None where it runs none."""
        if command.tool in ("pytest", "unittest", "py.test"):
            # Hooks and fixtures of any file that is collected can write it.
            return "\n".join(f.text for f in self.files.all if f.language == "python")
        word = command.script_word
        if word is None:
            return None
        path = run.path(word, state, command)
        found = self.files.find(path)
        if found is not None:
            return found.text + "\n".join(
                f.text for f in self.files.all if f.language == found.language and f is not found
            )
        return None if self.setting.is_work(path) else "unseen"
