"""What an agent is told where a task has apps: their URLs before the brief, and a list of things to do made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Where a list of steps begins and ends, as the format's own harness finds it: it is the contract that briefs keep to.
_BEGIN = (re.compile(r"\*\*\s*Steps?\s*:\s*\*\*", re.I), re.compile(r"^#+\s*Steps?\s*$", re.I | re.M))
_END = re.compile(r"\n\s*(?:\*\*[^*]+\*\*|#+\s+\S)")
_STEP = re.compile(r"^\s*\d+\.\s+(.*\S)\s*$")

_URLS = """\
## Application Access URLs

⚠️ CRITICAL — USE THESE EXACT URLs. Do NOT construct URLs from app names,
brand documentation, or default port numbers (those are WRONG here).
After landing on an app, navigate within it via UI clicks only.

"""
_TODO = """\
# Task: {task}

## Plan (you may adjust as needed)

{steps}

## Notes
- Mark items [x] when done, [-] when skipped.
- Add new items if you discover sub-steps.
- Do not block on missing required form fields — fill reasonable defaults and continue.
"""
_NO_STEPS = "(No structured steps detected; build your own plan from <user_request>.)"


def brief_for(brief: str, urls: Mapping[str, str]) -> str:
    """The whole prompt: where each app answers, then the brief."""
    if not urls:
        return brief.strip() + "\n"
    lines = "".join(f"- {app}: {url}\n" for app, url in sorted(urls.items()))
    return (_URLS + lines + "\n" + brief).strip() + "\n"


def todo_list(task: str, brief: str) -> str:
    """The pre-filled list: one open item for each numbered step of the brief."""
    items = "\n".join(f"- [ ] {step}" for step in steps(brief) or [_NO_STEPS])
    return _TODO.format(task=task, steps=items)


def steps(brief: str) -> list[str]:
    """The numbered lines of the brief's list of steps."""
    begin = next((found for pattern in _BEGIN if (found := pattern.search(brief))), None)
    if begin is None:
        return []
    rest = brief[begin.end() :]
    end = _END.search(rest)
    lines = rest[: end.start()] if end else rest
    return [found[1].strip() for line in lines.splitlines() if (found := _STEP.match(line))]
