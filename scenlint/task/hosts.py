"""Whether an address leads out of the task: loopback, the task's own services and unknown hosts do not count."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

from scenlint.source.regex import regex

_ADDRESS = regex(
    r"(?:[a-z][a-z0-9+.-]*://)(?:[^@/\s]*@)?(?P<host>\[[^\]]*\]|[^/:?#\s]*)|(?:[\w.-]+@)(?P<ssh>[\w.-]+):", re.I
)
# Names that no public resolver answers.
_PRIVATE = (".local", ".localhost", ".internal", ".test", ".example", ".invalid", ".lan", ".home.arpa", ".localdomain")


def host_of(address: str) -> str:
    """The host of a URL or of `user@host:path`, in lower case; "" where there is none or it is not known."""
    found = _ADDRESS.match(address.strip())
    host = (found["host"] or found["ssh"] or "") if found else ""
    return host.strip("[]").lower() if re.fullmatch(r"\[?[\w.:-]+\]?", host) else ""


def is_near(host: str, services: Collection[str] = ()) -> bool:
    """Whether a host is the machine itself, a service of the task, a private name or address, or not known."""
    if not host or host in services or ("." not in host.strip(".") and ":" not in host) or host.endswith(_PRIVATE):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
