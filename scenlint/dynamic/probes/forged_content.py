"""Does the work in an app, but stores the lines by which a verifier reports success in every text that it sends."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground

# Stands between the oracle and each app, and changes what is sent.
_PROXY = r"""
import http.client
import json
import os
import subprocess
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FORGED = sys.argv[1]
HOST = os.environ.get("SERVER_HOSTNAME", "127.0.0.1")


def leaves(value, path=()):
    # Where texts stand that may be changed.
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    return [path] if isinstance(value, str) and len(value) > 2 and not value.isdigit() else []


def changed(value, path, where):
    if path in where:
        return value + "\n" + FORGED
    if isinstance(value, dict):
        return {k: changed(v, (*path, k), where) for k, v in value.items()}
    return value


def bodies(body, kind):
    # What to try in turn, until the app takes one: all texts changed, one of them, none.
    try:
        if "json" in kind:
            value, pack = json.loads(body), lambda v: json.dumps(v).encode()
        elif "form-urlencoded" in kind:
            value = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
            pack = lambda v: urllib.parse.urlencode(v).encode()
        else:
            return [body]
    except ValueError:
        return [body]
    found = leaves(value)
    tries = [found, *([leaf] for leaf in found[:8])]
    return [*(pack(changed(value, (), where)) for where in tries if where), body]


def serve(port):
    class Between(BaseHTTPRequestHandler):
        def handle_all(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.headers.get("Content-Type") or ""
            tries = bodies(body, kind) if self.command in ("POST", "PUT", "PATCH") else [body]
            dropped = ("content-length", "host", "connection")
            headers = {k: v for k, v in self.headers.items() if k.lower() not in dropped}
            headers["Host"] = f"{HOST}:{port}"
            for name in ("Origin", "Referer"):
                if name in headers:
                    headers[name] = headers[name].replace(str(self.server.server_port), str(port))
            for text in tries:
                there = http.client.HTTPConnection(HOST, port, timeout=30)
                there.request(self.command, self.path, text or None, headers)
                reply = there.getresponse()
                data = reply.read()
                if reply.status < 400:
                    break
            self.send_response(reply.status)
            for k, v in reply.getheaders():
                if k.lower() not in ("transfer-encoding", "content-length", "connection", "server", "date"):
                    self.send_header(k, v)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_all

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Between)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


env = dict(os.environ)
for name, value in os.environ.items():
    if name.endswith("_PORT") and value.isdigit():
        env[name] = str(serve(int(value)))
env["SERVER_HOSTNAME"] = "127.0.0.1"
sys.exit(subprocess.run(sys.argv[2:], env=env).returncode)
"""


@probe("forged-content", TAMPERED)
def forged_content(ground: Ground) -> Iterator[Attack]:
    oracle = ground.step.oracle
    if not ground.plan.apps or oracle is None or oracle.command is None:
        return
    argv = " ".join(shlex.quote(word) for word in oracle.command.argv)
    script = f"exec python3 -I -c {shlex.quote(_PROXY)} {shlex.quote(ground.forged)} {argv}\n"
    yield ground.attack(
        script,
        "stored the lines by which the verifier reports success in every text of the app",
        uploads=oracle.uploads,
        earns=True,
    )
