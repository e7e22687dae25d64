"""Recognise and blank out secrets, so that no output of scenlint ever shows one."""

from __future__ import annotations

import re

from scenlint.source.regex import regex

PATTERNS: dict[str, re.Pattern[str]] = {
    "AWS access key": regex(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    "GitHub token": regex(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b"),
    "OpenAI key": regex(r"(?<![A-Za-z0-9])sk-(?:proj-|ant-|svcacct-)?[A-Za-z0-9_-]{32,}\b"),
    "Slack token": regex(r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}\b"),
    "Google API key": regex(r"(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}\b"),
    "Stripe key": regex(r"(?<![A-Za-z0-9])[rs]k_live_[0-9a-zA-Z]{20,}\b"),
    "Hugging Face token": regex(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}\b"),
    "AWS secret key": regex(
        r"(?i:(?<=secret_access_key)|(?<=secretaccesskey))[\"'\s:=]{1,6}[A-Za-z0-9/+]{40}(?![\w/+=])"
    ),
    "npm token": regex(r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}\b"),
    "PyPI token": regex(r"(?<![A-Za-z0-9])pypi-AgEI[A-Za-z0-9_-]{50,}"),
    "SendGrid key": regex(r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    "Slack webhook": regex(r"(?<![A-Za-z0-9])hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"),
    "Groq key": regex(r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{40,}\b"),
    "DigitalOcean token": regex(r"(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}\b"),
    "GitLab token": regex(r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}\b"),
    "JSON web token": regex(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}\b"),
    "private key": regex(
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)"
    ),
}


PASSWORD_IN_URL = re.compile(
    r"\b[a-z][a-z0-9+]*://[^\s/:@\"'<>{}$]+:(?P<value>[^\s/@\"'<>{}$*]{8,})@(?P<host>[\w-]+(?:\.[\w-]+)+)", re.I
)

# What is left of a secret where a message cuts it off.
_CUT_OFF = re.compile(
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|sk-|xox[abeoprs]-|AIza|[rs]k_live_|hf_|npm_|pypi-AgEI|SG\.|"
    r"gsk_|do[opr]_v1_|glpat-|eyJ)[A-Za-z0-9_.-]{8,}(?=…)"
)


def redact(text: str) -> str:
    """The text with every secret's value replaced by stars of the same length, so that columns stay right."""
    for pattern in PATTERNS.values():
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
