"""Lets servers that know nothing answer on every port where one is asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import SKIPPED, Attack
from scenlint.dynamic.probes.base import COPIED, EMPTY, probe
from scenlint.dynamic.probes.ground import Ground

_PORT = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b"
    r"|\bports?\b[^\w\n]{0,3}(?:number |is |=\s*)?`?(\d{2,5})\b",
    re.I,
)
_MOST = 8
_SERVER = r"""
import http.server
import sys
import threading


class Stub(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not ECHO:
            body = b"{}"
        elif not body:
            body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def log_message(self, *args):
        pass


bound = 0
for port in sys.argv[1:]:
    try:
        server = http.server.ThreadingHTTPServer(("0.0.0.0", int(port)), Stub)
    except OSError:
        continue
    bound += 1
    threading.Thread(target=server.serve_forever).start()
print(bound, flush=True)
"""


@probe("stub-servers", EMPTY)
def stub_servers(ground: Ground) -> Iterator[Attack]:
    if not ground.shared or ground.plan.apps:
        return
    found = (a or b for a, b in _PORT.findall(f"{ground.brief}\n{ground.verifier_text}"))
    ports = [p for p in dict.fromkeys(found) if 0 < int(p) < 65536][:_MOST]
    if not ports:
        return
    listed = ", ".join(ports)
    for variant, did, rule in (
        ("nothing", f"left a server on port {listed} that answers everything with 200 and `{{}}`", EMPTY),
        ("echo", f"left a server on port {listed} that answers everything with what it was sent", COPIED),
    ):
        program = shlex.quote(_SERVER.replace("ECHO", str(variant == "echo")))
        # It is there once the number of its ports was written.
        script = f"""
command -v python3 >/dev/null || {{ note "{SKIPPED}: there is no python3 with which to serve"; exit 0; }}
setsid python3 -c {program} {" ".join(ports)} </dev/null >/tmp/.stub 2>/dev/null &
n=0
while [ ! -s /tmp/.stub ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done
note "servers on $(cat /tmp/.stub) ports"
"""
        yield ground.attack(script, did, variant, rule=rule)
