"""Recognise and blank out secrets, so that no output of scenlint ever shows one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.source.regex import regex

# What a secret is called -> texts one of which stands in every such secret, in lower case, and its form.
KINDS: dict[str, tuple[tuple[str, ...], re.Pattern[str]]] = {
    "AWS access key": (("akia", "asia"), regex(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])")),
    "GitHub token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        regex(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b"),
    ),
    "OpenAI key": (("sk-",), regex(r"(?<![A-Za-z0-9])sk-(?:proj-|ant-|svcacct-)?[A-Za-z0-9_-]{32,}\b")),
    "Slack token": (("xox",), regex(r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}\b")),
    "Google API key": (("aiza",), regex(r"(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}\b")),
    "Stripe key": (("k_live_",), regex(r"(?<![A-Za-z0-9])[rs]k_live_[0-9a-zA-Z]{20,}\b")),
    "Hugging Face token": (("hf_",), regex(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}\b")),
    "AWS secret key": (
        ("secret_access_key", "secretaccesskey"),
        regex(r"(?i:(?<=secret_access_key)|(?<=secretaccesskey))[\"'\s:=]{1,6}[A-Za-z0-9/+]{40}(?![\w/+=])"),
    ),
    "npm token": (("npm_",), regex(r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}\b")),
    "PyPI token": (("pypi-agei",), regex(r"(?<![A-Za-z0-9])pypi-AgEI[A-Za-z0-9_-]{50,}")),
    "SendGrid key": (("sg.",), regex(r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b")),
    "Slack webhook": (
        ("hooks.slack.com",),
        regex(r"(?<![A-Za-z0-9])hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"),
    ),
    "Groq key": (("gsk_",), regex(r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{40,}\b")),
    "DigitalOcean token": (("_v1_",), regex(r"(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}\b")),
    "GitLab token": (("glpat-",), regex(r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}\b")),
    "JSON web token": (
        ("eyj",),
        regex(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}\b"),
    ),
    "private key": (
        ("private key-",),
        regex(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)"),
    ),
}


PASSWORD_IN_URL = regex(
    r"\b[a-z][a-z0-9+]*://[^\s/:@\"'<>{}$]+:(?P<value>[^\s/@\"'<>{}$*]{8,})@(?P<host>[\w-]+(?:\.[\w-]+)+)", re.I
)

# What is left of a secret where a message cuts it off.
_CUT_OFF = re.compile(
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|sk-|xox[abeoprs]-|AIza|[rs]k_live_|hf_|npm_|pypi-AgEI|SG\.|"
    r"gsk_|do[opr]_v1_|glpat-|eyJ)[A-Za-z0-9_.-]{8,}(?=…)"
)


def find_secrets(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Every secret of a text, with what it is called."""
    folded = text.lower()
    for kind, (signs, pattern) in KINDS.items():
        if any(sign in folded for sign in signs):
            yield from ((kind, found) for found in pattern.finditer(text))


def redact(text: str) -> str:
    """The text with every secret's value replaced by stars of the same length, so that columns stay right."""
    folded = text.lower()
    for signs, pattern in KINDS.values():
        if any(sign in folded for sign in signs):
            text = pattern.sub(lambda m: re.sub(r"[^\n]", "*", m[0]), text)
    if "…" in text:
        text = _CUT_OFF.sub(lambda m: "*" * len(m[0]), text)
    if "://" in text:
        text = PASSWORD_IN_URL.sub(lambda m: m[0].replace(f":{m['value']}@", f":{'*' * len(m['value'])}@"), text)
    return text


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis: secrets are blanked out first, as half of one is not recognised."""
    text = redact(text)
    return text if len(text) <= width else text[: width - 1] + "…"
