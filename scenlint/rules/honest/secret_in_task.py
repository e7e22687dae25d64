"""A key, token or password of a real service in a task's files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, rule
from scenlint.source.regex import regex
from scenlint.source.secrets import PASSWORD_IN_URL, find_secrets
from scenlint.source.text import Source, Span
from scenlint.task.hosts import is_near

_LARGEST = 500_000  # characters of a file that are searched
# What many test fixtures and certificates hold, and what belongs to no service by itself.
_OWN = frozenset({"private key", "JSON web token"})
_PLACEHOLDER = regex(
    r"example|sample|dummy|fake|test|demo|your|placeholder|change|redacted|secret|password|token|invalid|xxxx|0000|"
    r"(.)\1{4}|(?:[a-z]\d){8}|deadbeef|qwerty|leaked|vulnerable",
    re.I,
)
# Tasks about secrets hold some on purpose.
_ABOUT = regex(
    r"secrets?\b|credential|(?:api|access|private|signing|encryption|hard-?coded)[ _-]keys?|"
    r"(?:auth\w*|access|api|bearer)[ _-]tokens?|"
    r"leak|sensitive|saniti[sz]|redact|exploit|vulnerab|breach|forensic|pentest|\bCTF\b|密钥|凭证",
    re.I,
)


@dataclass(frozen=True)
class _Secret:
    kind: str
    value: str
    span: Span


@rule(
    "secret-in-task",
    "SL414",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    kind=Kind.CLAIM,
    refute="the value is made up, or was revoked and the task is about finding it",
)
def secret_in_task(task: Task) -> Iterator[Finding]:
    brief = "\n".join(b.prose.text for b in task.briefs)
    for entry in task.files:
        source = task.files.read(entry.path) if not entry.problem and entry.size <= _LARGEST else None
        found = list(_secrets(source)) if source is not None and not source.binary else []
        if not found or source is None or (_ABOUT.search(brief) and not _is_machinery(task, source)):
            continue
        seen: set[str] = set()
        for secret in found:
            if secret.value not in seen and secret.value not in brief:
                seen.add(secret.value)
                yield Finding.at(
                    secret.span,
                    f"this looks like a real {secret.kind}, and everybody who gets the task gets it",
                    help="revoke it, take it out of the history too, and let the harness pass such values in",
                )


def _secrets(source: Source) -> Iterator[_Secret]:
    for kind, found in find_secrets(source.text):
        if kind not in _OWN and _is_random(found[0]):
            yield _Secret(kind, found[0], source.span(*found.span()))
    for found in PASSWORD_IN_URL.finditer(source.text) if "://" in source.text and "@" in source.text else ():
        host = found["host"].lower()
        if (
            not is_near(host)
            and not host.endswith(("example.com", "example.org", "example.net"))
            and _is_random(found["value"])
        ):
            yield _Secret(f"password for `{host}`", found["value"], source.span(*found.span("value")))


def _is_random(value: str) -> bool:
    """Whether a text was drawn at random rather than typed as a stand-in."""
    body = re.sub(r"^(?:AKIA|ASIA|gh[pousr]_|github_pat_|sk-\w+-|sk-|[rs]k_live_|hf_|xox\w-|AIza)", "", value)
    mixed = any(c.isdigit() for c in body) and any(c.isalpha() for c in body)
    varied = mixed and len(set(body)) >= min(10, len(body) * 0.6) and body.count("%") * 6 < len(body)
    counted = _steps(body) * 4 >= len(body) or any(
        _steps(part) * 4 >= len(part) * 3
        for part in (re.sub(r"\d", "", body), re.sub(r"\D", "", body))
        if len(part) > 4
    )  # "abcd…", and "a1b2c3d4…"
    return varied and not counted and not _PLACEHOLDER.search(body)


def _steps(text: str) -> int:
    """How often a character follows its neighbour in the alphabet, or is the same."""
    return sum(ord(b) - ord(a) in (0, 1, -1) for a, b in pairwise(text))


def _is_machinery(task: Task, source: Source) -> bool:
    """Whether it is a file that makes the task run rather than one that it is about."""
    environment = task.environment
    own = (
        [b.fragment.path for b in environment.builds] + [d.fragment.path for d in environment.compose]
        if environment
        else []
    )
    own += [d.fragment.path for d in task.documents]
    own += [g.script.path for g in task.verifier.graders if g.script] if task.verifier else []
    return source.path in own
