"""SaaS-Bench: lines `[PASS] (Npt) label  (detail)` and a line `SCORE: …` on stderr."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scenlint.harness.environment import Ran
from scenlint.harness.verdict.model import Reading, both_none, broken, excerpt, none, not_run
from scenlint.task.plan import Check, Verify
from scenlint.task.record import CheckResult, Verdict

_TAGS = ("[PASS]", "[FAIL]")
_HEAD = re.compile(r"\[(PASS|FAIL)\]\s+\((\d+)pt\)\s+")
# From the start of a run of blanks only: trying each blank of a long run would take quadratic time.
_DETAIL = re.compile(r"(?<!\s)\s{2,}\(")
_SCORE = re.compile(r"SCORE:\s*([\d.]+)\s+PASS:\s*(True|False)\s+\((\d+)/(\d+)\)")
_FOREIGN = re.compile(r"\[[A-Z]+\]\s*\([^()]*pts?\)")  # [SKIP] (0/3pt): meant for the protocol, unknown to it
_ROUNDING = 0.0051


@dataclass
class _Told:
    """What the lines say: the checks, and the SCORE line as (score, passed, earned, total)."""

    checks: list[CheckResult] = field(default_factory=list)
    scores: list[tuple[float, bool, int, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def earned(self) -> int:
        return sum(int(c.weight) for c in self.checks if c.passed)

    @property
    def total(self) -> int:
        return sum(int(c.weight) for c in self.checks)


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    if not ran:
        return both_none("there is no verify.py (SKIP)")
    check, how = ran[-1]
    harness = _harness(how)
    told = _lines(how.stderr.decode("utf-8", "replace")) if not broken(how) else _Told()
    strict = _strict(check, how, told)
    if harness.reward is not None and harness.passed is strict.passed and _close(harness.reward, strict.reward):
        harness.reward = strict.reward  # the SCORE line only rounds
    if harness.reward is None or (harness.passed is strict.passed and harness.reward == strict.reward):
        return Reading(strict, harness, told.checks)
    status = "PASS" if harness.passed else "FAIL" if told.checks and not harness.reason else "ERROR"
    why = strict.reason or f"the checks earned {told.earned} of {told.total} points"
    return Reading(strict, harness, told.checks, f"SaaS-Bench would record {status} with {harness.reward:g}, but {why}")


def _close(a: float, b: float | None) -> bool:
    return b is not None and abs(a - b) <= _ROUNDING


# What the evidence bears


def _lines(text: str) -> _Told:
    """Each line for itself: what is none of the protocol's is free text."""
    told = _Told()
    for line in (raw.strip() for raw in text.replace("\r", "\n").split("\n")):
        if line.startswith(_TAGS):
            check = _check(line)
            told.checks += [check] if check else []
            told.problems += [] if check else [f"malformed line `{excerpt(line, 80)}`"]
        elif line.startswith("SCORE:"):
            score = _score(line)
            told.scores += [score] if score else []
            told.problems += [] if score else [f"malformed line `{excerpt(line, 80)}`"]
        elif _FOREIGN.match(line):
            told.problems.append(f"unknown line `{excerpt(line, 80)}`")
    return told


def _strict(check: Check, how: Ran, told: _Told) -> Verdict:
    if why := broken(how) or not_run(how):
        return none(f"`{check.id}` {why}")
    if told.problems:
        return none(f"`{check.id}` printed a {told.problems[0]}")
    if not told.checks:
        return none(f"`{check.id}` printed no check (exit status {how.exit_code})")
    if not told.total:
        return none(f"the checks of `{check.id}` are worth no points")
    if how.exit_code and not told.scores:
        return none(f"`{check.id}` ended with exit status {how.exit_code} before its SCORE line")
    passed = all(c.passed for c in told.checks)
    for score, claimed, earned, total in told.scores:
        if (claimed, earned, total) != (passed, told.earned, told.total) or not _close(score, earned / total):
            shown = f"{told.earned}/{told.total}, {'all' if passed else 'not all'} passed"
            return none(f"the SCORE line says {score:g} {claimed} ({earned}/{total}), its checks say {shown}")
    confidence = "high" if told.scores and not how.exit_code else "medium"
    return Verdict(told.earned / told.total, passed, confidence=confidence)


def _check(line: str) -> CheckResult | None:
    """A check line, or one with other lines glued to it. As the format's own expression, but in linear time."""
    head = _HEAD.match(line)
    rest = line[head.end() :] if head else ""
    if head is None or not rest:
        return None
    label, detail = rest.rstrip(), ""
    if label.endswith(")"):
        for found in _DETAIL.finditer(label):
            if found.end() < len(label) - 1:
                label, detail = rest[: found.start()], label[found.end() : -1]
                break
    weight, label = int(head[2]), label.strip()
    return CheckResult(label, head[1] == "PASS", label=label, weight=weight, detail=detail.strip())


def _score(line: str) -> tuple[float, bool, int, int] | None:
    found = _SCORE.match(line)
    try:
        return (float(found[1]), found[2] == "True", int(found[3]), int(found[4])) if found else None
    except ValueError:
        return None


# What its own harness records


def _harness(how: Ran) -> Verdict:
    if how.timed_out:
        return Verdict(0.0, reason=f"ERROR: timeout after {how.duration:.0f} s")
    if broken(how) and how.exit_code is None:
        return none("the run did not end by itself")
    try:
        how.stdout.decode("utf-8")
        text = how.stderr.decode("utf-8")
    except UnicodeDecodeError:
        return Verdict(0.0, reason="ERROR: the output is not UTF-8")
    try:
        told = _glued(text.replace("\r\n", "\n").replace("\r", "\n"))
    except ValueError as exc:
        return none(f"the harness itself failed: {exc}")
    if told.scores:
        score, passed, *_ = told.scores[-1]
        return Verdict(score, passed)
    if not told.checks:
        return Verdict(0.0, reason="ERROR: no check line")
    return Verdict(told.earned / told.total if told.total else 0.0, all(c.passed for c in told.checks))


def _glued(text: str) -> _Told:
    """The lines as its parser takes them: free lines are glued to the check before, a malformed check eats a line."""
    told = _Told()
    lines = [line.strip() for line in text.splitlines()]
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(_TAGS):
            record = [line]
            while at < len(lines) and not lines[at].startswith((*_TAGS, "SCORE:")):
                record.append(lines[at])
                at += 1
            check = _check("\n".join(record).strip())
            told.checks += [check] if check else []
            at += check is None
        elif found := _SCORE.match(line):
            told.scores.append((float(found[1]), found[2] == "True", int(found[3]), int(found[4])))
    return told
