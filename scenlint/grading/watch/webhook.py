"""Sends alerts to an address that the user has configured: one POST with JSON, of which chat services show `text`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import scenlint
from scenlint.grading.watch.model import Alert, Change
from scenlint.grading.watch.settings import Webhook

VERSION = 1


def payload(alerts: Sequence[Alert], source: str) -> dict[str, Any]:
    """What is sent of alerts: in words, and as values."""
    words = {Change.RAISED: "ALERT", Change.ENDED: "ended"}
    return {
        "version": VERSION,
        "scenlint": scenlint.__version__,
        "source": source,
        "text": "\n".join(f"scenlint watch: {words[a.change]}: {a.title} ({source})" for a in alerts),
        "alerts": [asdict(a) for a in alerts],
    }


def deliver(
    hook: Webhook, alerts: Sequence[Alert], source: str, environ: Mapping[str, str] | None = None
) -> str:  # fmt: skip
    """Send alerts in one request; "" if the other side accepted, else why not: no secret and no path is in it."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        """Goes nowhere else: the header's secret is for one address."""

        def redirect_request(self, *args: Any) -> None:
            return None

    environ = os.environ if environ is None else environ
    unset = next((name for name in (hook.url_env, hook.secret_env) if name and not environ.get(name)), "")
    if unset:
        return f"the variable `{unset}` is not set"
    url = hook.url or environ[hook.url_env]
    host = urlsplit(url).hostname or ""
    if not url.startswith(("https://", "http://")) or not host:
        return f"the variable `{hook.url_env}` holds no address"
    headers = {"Content-Type": "application/json", "User-Agent": f"scenlint/{scenlint.__version__}"}
    if hook.header:
        headers[hook.header] = environ[hook.secret_env]
    try:
        request = Request(url, json.dumps(payload(alerts, source)).encode(), headers, method="POST")
    except ValueError as exc:
        return f"{host}: {type(exc).__name__}"

    late = f"{host} gave no answer within {hook.timeout:g} s"

    def send() -> str:
        try:
            with build_opener(Stay).open(request, timeout=hook.timeout):
                return ""
        except HTTPError as exc:
            return f"{host} answered with status {exc.code}"
        except URLError as exc:
            return f"{host}: {getattr(exc.reason, 'strerror', None) or type(exc.reason).__name__}"
        except TimeoutError:
            return late
        except (OSError, HTTPException, ValueError) as exc:
            return f"{host}: {type(exc).__name__}"

    return _within(hook.timeout, send, late)


def _within(seconds: float, send: Callable[[], str], late: str) -> str:
    """What sending came to; `late` after so long. A socket's own limit begins anew with every byte that comes."""
    out: list[str] = []
    worker = Thread(target=lambda: out.append(send()), daemon=True)
    worker.start()
    worker.join(seconds)
    return out[0] if out else late
