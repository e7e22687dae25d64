"""Recognise and blank out secrets, so that no output of scenlint ever shows one."""

from __future__ import annotations

import re

PATTERNS: dict[str, re.Pattern[str]] = {
    "AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b"),
    "OpenAI key": re.compile(r"\bsk-(?:proj-|ant-|svcacct-)?[A-Za-z0-9_-]{32,}\b"),
    "Slack token": re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}\b"),
    "Google API key": re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b"),
    "Stripe key": re.compile(r"\b[rs]k_live_[0-9a-zA-Z]{20,}\b"),
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}\b"),
    "AWS secret key": re.compile(r"(?i:(?<=secret_access_key)|(?<=secretaccesskey))[\"'\s:=]{1,6}[A-Za-z0-9/+]{40}(?![\w/+=])"),
    "npm token": re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"),
    "PyPI token": re.compile(r"\bpypi-AgEI[A-Za-z0-9_-]{50,}"),
    "SendGrid key": re.compile(r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    "Slack webhook": re.compile(r"\bhooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"),
    "Groq key": re.compile(r"\bgsk_[A-Za-z0-9]{40,}\b"),
    "DigitalOcean token": re.compile(r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    "GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}\b"),
    "JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}\b"),
    "private key": re.compile(
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)"
    ),
}


def redact(text: str) -> str:
    """The text with every secret's value replaced by stars of the same length, so that columns stay right."""
    for pattern in PATTERNS.values():
        text = pattern.sub(lambda m: re.sub(r"[^\n]", "*", m[0]), text)
    return text
