"""Harbor's reward files: reward.json before reward.txt, written by a script whose exit status counts for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenlint.harness.environment import Ran
from scenlint.harness.verdict import test_summary
from scenlint.harness.verdict.model import REWARD_LIMIT, Reading, both_none, broken, finite, none, result
from scenlint.task.plan import Check, Verify
from scenlint.task.record import CheckResult, Verdict

_KEY = "reward"


def read(verify: Verify, ran: Sequence[tuple[Check, Ran]], rewards: Mapping[str, bytes | None]) -> Reading:
    late = next((f"the verifier `{c.id}` {why}" for c, r in ran if (why := broken(r)) and r.exit_code is None), "")
    checks = [result(c, r, None) for c, r in ran]
    if not ran or late:
        return both_none(late or "the verifier did not run", checks)
    there = {path: content for path in verify.verdict_paths if (content := rewards.get(path)) is not None}
    if not there:
        paths = " or ".join(f"`{p}`" for p in verify.verdict_paths)
        return both_none(f"the verifier wrote no {paths or 'reward file'}", checks)
    harness = _harness(*next(iter(there.items())))
    strict = _strict(there, ran)
    _finish(checks, strict, ran)
    return Reading(strict, harness, [*checks, *_tests(ran)], _differs(strict, harness))


def _finish(checks: list[CheckResult], strict: Verdict, ran: Sequence[tuple[Check, Ran]]) -> None:
    if len(ran) == 1 and strict.reward is not None:
        checks[0].passed = strict.reward == 1.0
        checks[0].detail = f"reward {strict.reward:g}\n{checks[0].detail}".strip()


def _differs(strict: Verdict, harness: Verdict) -> str:
    if harness.reward is None or harness.reward == strict.reward:
        return ""
    shown = f"Harbor would record a reward of {harness.reward:g}"
    return f"{shown}, but {strict.reason}" if strict.reason else shown


# What Harbor records


def _harness(path: str, content: bytes) -> Verdict:
    try:
        values = _harness_json(content) if path.endswith(".json") else {_KEY: _harness_text(content)}
    except ValueError as exc:
        return none(f"`{path}` {exc}")
    reward = values.get(_KEY, next(iter(values.values())) if len(values) == 1 else None)
    reason = "" if reward is not None else f"`{path}` has no key `{_KEY}`"
    return Verdict(reward, reward == 1.0, reason, values)


def _harness_text(content: bytes) -> float:
    if not content:
        raise ValueError("is empty")
    value = float(content.decode("utf-8"))
    if not finite(value):
        raise ValueError("is not finite")
    return value


def _harness_json(content: bytes) -> dict[str, float]:
    values = _loads(content)
    if not isinstance(values, dict):
        raise ValueError("is no object")
    for value in values.values():
        if not isinstance(value, int | float) or not finite(value):
            raise ValueError(f"holds {value!r}, which is no finite number")
    return {str(key): float(value) for key, value in values.items()}  # a bool is a number there


# What the evidence bears


def _strict(there: Mapping[str, bytes], ran: Sequence[tuple[Check, Ran]]) -> Verdict:
    verdicts = []
    for path, content in there.items():
        try:
            verdicts.append(_strict_file(path, content))
        except ValueError as exc:
            verdicts.append(none(f"`{path}` {exc}", invalid=bool(content.strip())))
    first = verdicts[0]
    if first.reward is None:
        return first
    for path, other in list(zip(there, verdicts, strict=True))[1:]:
        if other.reward != first.reward:
            mine, theirs = next(iter(there)), "nothing readable" if other.reward is None else f"{other.reward:g}"
            told = f"two reward files disagree: `{mine}` says {first.reward:g}, `{path}` says {theirs}"
            return none(told, invalid=True)
    for check, how in ran:
        if how.exit_code is not None and how.exit_code > 125 and first.confidence == "high":
            # What was written stands, but something after it went wrong.
            first.confidence = "medium"
            first.reason = f"the verifier `{check.id}` ended with exit status {how.exit_code}"
    return first


def _strict_file(path: str, content: bytes) -> Verdict:
    if len(content) > REWARD_LIMIT:
        raise ValueError(f"is larger than {REWARD_LIMIT // 1024} KB")
    if not content.strip():
        raise ValueError("is empty")
    if not path.endswith(".json"):
        text = content.decode("utf-8", "replace").strip()
        try:
            value: Any = float(text)
        except ValueError:
            raise ValueError(f"holds `{text[:40]}`, which is no number") from None
        return Verdict(_in_range(_checked(_KEY, value)), value == 1.0, "", {_KEY: value})
    values = _loads(content, unique=True)
    if not isinstance(values, dict) or not values:
        raise ValueError("is no JSON object with a number")
    numbers = {key: _checked(key, value) for key, value in values.items()}
    if len(numbers) > 1 and _KEY not in numbers:
        raise ValueError(f"has the keys {', '.join(f'`{k}`' for k in numbers)}, and none of them is `{_KEY}`")
    reward = _in_range(numbers.get(_KEY, next(iter(numbers.values()))))
    confidence = "medium" if any(isinstance(v, bool) for v in values.values()) else "high"
    return Verdict(reward, reward == 1.0, "", numbers, confidence)


def _checked(key: str, value: Any) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"holds {str(value)[:40]!r} for `{key}`, which is no number")
    if not finite(value):
        raise ValueError(f"holds {value} for `{key}`, which is not finite")
    return float(value)


def _in_range(reward: float) -> float:
    if not 0 <= reward <= 1:
        raise ValueError(f"holds {reward:g}, which is outside of [0, 1]")
    return reward


class _TwiceError(ValueError):
    """A key of an object is there twice."""


def _loads(content: bytes, *, unique: bool = False) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in items]
        if unique and len(set(names)) < len(names):
            raise _TwiceError("has a key twice")
        return dict(items)

    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=pairs)
    except _TwiceError:
        raise
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None


def _tests(ran: Sequence[tuple[Check, Ran]]) -> Iterator[CheckResult]:
    """Single tests that the verifier's output lists: evidence only, and only where the output is whole."""
    for _, how in ran:
        if "characters cut" not in how.output and "bytes cut" not in how.output:
            yield from test_summary.tests(how.output)
