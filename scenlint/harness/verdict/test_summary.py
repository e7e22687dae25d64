"""Legacy Terminal-Bench: the table of pytest's short test summary; the harness wants each line to be a pass."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scenlint.harness.environment import Ran
from scenlint.harness.verdict.model import Reading, both_none, broken, excerpt, none
from scenlint.task.plan import Check, Verify
from scenlint.task.record import CheckResult, Verdict

_HEADER = re.compile(r"=+\s*short test summary info\s*=+", re.IGNORECASE)
_HARNESS = {"PASSED": True, "XFAIL": True, "SKIPPED": True, "FAILED": False, "XPASS": False, "ERROR": False}
# A skipped test and an expected failure show nothing about the work.
_STRICT = {**_HARNESS, "XFAIL": None, "SKIPPED": None}
# With a file or a test: what other programs print after the table ("ERROR: no such package") is none of pytest's.
_LINE = re.compile(rf"({'|'.join(_HARNESS)})\s+(\S.*(?:::|\.py).*)")
_ENDS = re.compile(r"=+ (?=\d)([^=\n]*) in [\d.:]+s\b.*=*")
_COUNT = re.compile(r"(\d+) (failed|errors?)\b")


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    if verify.parser != "pytest":
        return both_none(f"the parser `{verify.parser}` of Terminal-Bench is not supported; supported is `pytest`")
    if not ran:
        return both_none("the verifier did not run")
    for check, how in ran:
        if why := broken(how):
            reason = f"the verifier `{check.id}` {why}"
            # Its own harness counts a task whose tests ran out of time as unresolved.
            harness = Verdict(0.0, reason=reason) if how.timed_out else none(reason)
            differs = f"Terminal-Bench would count it as unresolved, but {reason}" if how.timed_out else ""
            return Reading(none(reason), harness, differs=differs)
    text = "\n".join(_text(how) for _, how in ran)
    checks = tests(text)
    harness, strict = _harness(text), _strict(text, checks)
    if harness.reward == strict.reward or harness.reward is None:
        return Reading(strict, harness, checks)
    resolved = "resolved" if harness.passed else "unresolved"
    return Reading(strict, harness, checks, f"Terminal-Bench would count it as {resolved}, but {strict.reason}")


def tests(text: str) -> list[CheckResult]:
    """The tests of the table after the first header, in their order; `passed` None: skipped or expected to fail."""
    parts = _HEADER.split(text, maxsplit=1)
    out: dict[str, CheckResult] = {}
    for line in parts[1].splitlines() if len(parts) == 2 else ():
        if found := _LINE.fullmatch(line.strip()):
            status, rest = found.groups()
            name, _, why = rest.partition(" - ")
            passed = _STRICT[status]
            known = out.get(name)
            if known is None:
                out[name] = CheckResult(name.strip(), passed, label=name.strip(), detail=excerpt(why or status))
            elif known.passed is not passed:  # two runs in one output: the worse one stands
                known.passed = False if False in (known.passed, passed) else None
    return list(out.values())


def _text(how: Ran) -> str:
    return how.stdout.decode("utf-8", "replace") + "\n" + how.stderr.decode("utf-8", "replace")


def _harness(text: str) -> Verdict:
    """As the format's parser does it: names without their file, the last line of a name wins, and all() of nothing."""
    parts = _HEADER.split(text, maxsplit=1)
    if len(parts) < 2:
        return Verdict(0.0, reason="no short test summary in the output (parse error)")
    table: dict[str, bool] = {}
    for line in parts[1].splitlines():
        if line.startswith("FAILED") and " - " in line:
            line = line.rpartition(" - ")[0]
        words = line.split(maxsplit=1)
        if len(words) == 2 and (status := words[0].strip(":")) in _HARNESS:
            name = words[1].strip().split("::", maxsplit=1)[-1]
            if name:
                table[name] = _HARNESS[status]
    passed = all(table.values())
    return Verdict(1.0 if passed else 0.0, passed)


def _strict(text: str, checks: Sequence[CheckResult]) -> Verdict:
    if not _HEADER.search(text):
        return none("the output has no short test summary (run pytest with `-rA`)")
    if not checks:
        return none("the short test summary lists no test")
    failed = [c.id for c in checks if c.passed is False]
    if failed:
        return Verdict(0.0, reason=f"failed: {', '.join(failed[:10])}")
    if counted := _failures(text):
        return none(f"the last line of pytest says `{counted}`, but the summary lists no such test")
    shown = [c.id for c in checks if c.passed is None]
    if shown:
        return none(f"{len(shown)} of {len(checks)} tests were skipped or expected to fail: {', '.join(shown[:10])}")
    return Verdict(1.0, True)


def _failures(text: str) -> str:
    """Failures that a closing line of pytest counts, "0 failed" not among them."""
    for line in text.splitlines():
        if ends := _ENDS.fullmatch(line.strip()):
            for count, what in _COUNT.findall(ends[1]):
                if int(count):
                    return f"{count} {what}"
    return ""
