"""The verdict of a verifier whose first script is a shell script: every end it can come to, and the verdict there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from scenlint.source.secrets import cut
from scenlint.source.shell import Command, Node, parse
from scenlint.source.text import Fragment, Span
from scenlint.task.model import Contract, Grader, Task, Verifier
from scenlint.task.verdict_flow.effects import Effects, Files, SummaryEffects
from scenlint.task.verdict_flow.interpret import Interpreter
from scenlint.task.verdict_flow.programs import programs
from scenlint.task.verdict_flow.roles import Purpose, Setting
from scenlint.task.verdict_flow.statuses import TooManyPathsError
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

    def outcome(self, end: State) -> object:
        """What the harness makes of an end: the reward that it finds, or whether the script succeeded."""
        if self.contract is Contract.EXIT_STATUS:
            return end.status.ok if end.status.ok is not None or end.status.mask else end.status
        return _text(value) if (value := self.verdict(end)) is None or value.text is not None else value

    def hangs_on(self, check: Command) -> bool:
        """Whether ends with different outcomes differ in the outcome of this check."""
        chosen: dict[int, set[object]] = {}
        for end in self.ends:
            for taken in {d[0] for way in end.ways for key, d in way.items() if key[-1] == id(check)}:
                chosen.setdefault(taken, set()).add(self.outcome(end))
        return len(chosen) > 1 and len({frozenset(v) for v in chosen.values()}) > 1

    @property
    def masked(self) -> list[Use]:
        """Where a status decides the verdict that is not the check's own: lost in a pipe, or of another command."""
        if not self.complete:
            return []
        out: dict[Node, Use] = {}
        for use in sorted(self.uses, key=lambda u: (u.at.start, u.mask.kind)):
            lost = use.mask.kind in ("pipe", "status")
            silent = not use.explicit and self.constant is not None
            if lost and (silent or (use.explicit and self.hangs_on(use.mask.check))):
                out.setdefault(use.mask.by if use.mask.kind == "pipe" else use.at, use)
        if self.contract is Contract.EXIT_STATUS:
            for end in self.ends:
                mask = end.status.mask
                if mask is not None and mask.kind in ("pipe", "status"):
                    out.setdefault(mask.by, Use(mask, end.ended_by or mask.by, True))
        return list(out.values())

    @property
    def always_passes(self) -> bool:
        """Whether the script's exit status is 0 wherever it ends."""
        return self.complete and bool(self.ends) and all(end.status.ok for end in self.ends)

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

    @property
    def written(self) -> set[str | None]:
        """The rewards that are written, None for what only a run would show."""
        return {_text(value) for end in self.ends if (value := self.verdict(end)) is not None}

    @cached_property
    def missing(self) -> list[tuple[State, State | None]]:
        """Ends without a verdict that the work leads to, each with an end that has one and differs only in that.

        (end, None): no end has a verdict.
        """
        if not self.complete or not self.setting.verdicts or not self.ends:
            return []
        without = [end for end in self.ends if self.verdict(end) is None]
        written = [end for end in self.ends if self.verdict(end) is not None]
        if not written:
            return [(without[0], None)]
        out: list[tuple[State, State | None]] = []
        for end in without:
            for other in written:
                ways = end.leads_from(other, Purpose.SETUP, Purpose.OPEN)
                if any(p is Purpose.CHECK for way in ways for _, p in way.values()):
                    out.append((end, other))
                    break
        return out


@dataclass(frozen=True)
class Swallowed:
    """A check whose failure is turned into success: where that happens, the check, and how in words."""

    span: Span
    check: Span | None
    how: str
    by: Node | None = None  # what stands behind `||`


def swallowed_failures(task: Task) -> Iterator[Swallowed]:
    """Where a verifier's shell script turns a failed check into success before the verdict."""
    for flow in flows(task):
        if not flow.complete:
            continue
        deciding = {
            u.mask for u in flow.uses if u.mask.kind == "swallow" and u.explicit and flow.hangs_on(u.mask.check)
        }
        if flow.contract is Contract.EXIT_STATUS:
            deciding |= {end.status.mask for end in flow.ends if end.status.mask and end.status.mask.kind == "swallow"}
            if not deciding and flow.always_passes and flow.checks and not flow.masked:
                yield _ends_well(flow)
        elif flow.constant is not None:
            deciding |= flow.swallowed
        for mask in sorted(deciding, key=lambda m: m.by.start):
            how = f"`|| {short(mask.by)}` turns its failure into success"
            yield Swallowed(mask.by.span, mask.check.span, how, mask.by)


def _ends_well(flow: Flow) -> Swallowed:
    """An `exit 0`, or whatever else a script ends with, behind checks that nothing asks about."""
    check = max(flow.checks, key=lambda c: c.start)
    end = next((e for e in flow.ends if isinstance(e.ended_by, Command)), None)
    last = end.ended_by if end is not None else flow.ends[0].status.command
    if end is not None and last is not None:
        return Swallowed(last.span, check.span, f"`{short(last)}` ends the script with success whatever the check said")
    node = last or check
    how = f"the script ends with the status of `{short(node)}`, which is always 0"
    operator, by = check.followed_by or ("", None)
    return Swallowed(node.span, check.span, how, by if operator == "||" else None)


def short(node: Node) -> str:
    text = " ".join(node.span.text.replace("\\\n", " ").split())
    return cut(text, 58)


def _text(value: Value | None) -> str | None:
    return None if value is None or value.text is None else value.text.strip()


_SHELL = (Contract.REWARD_FILE, Contract.EXIT_STATUS, Contract.TEST_SUMMARY)


def flows(task: Task) -> list[Flow]:
    """The flow of every grader that is a shell script; followed once per task."""
    verifier = task.verifier
    if verifier is None or verifier.contract not in _SHELL:
        return []
    out = []
    for grader in verifier.graders:
        script = grader.script
        if script is not None and script.language == "shell":
            out.append(script.memo("verdict flow", partial(_follow, task, verifier, grader, script)))
    return out


def _follow(task: Task, verifier: Verifier, grader: Grader, script: Fragment) -> Flow:
    setting = Setting.of(verifier, task.environment.files if task.environment else ())
    flow = Flow(grader, script, verifier.contract, setting)
    parsed = parse(script)
    if parsed.error is not None:
        flow.complete = False
        return flow
    files = Files(task, verifier, script)
    try:
        kind = SummaryEffects if verifier.contract is Contract.TEST_SUMMARY else Effects
        effects = kind(files, setting, programs(task))
        flow.ends = Interpreter(setting, effects, files.shell).run(parsed, _start(task, verifier))
    except (TooManyPathsError, RecursionError):
        flow.complete = False
    return flow


def _start(task: Task, verifier: Verifier) -> State:
    # A packet's checks are run by `bash -o pipefail -c`.
    return State(cwd=verifier.workdir, pipefail=task.format == "packet")
