#!/usr/bin/env python3
"""Runs a verifier in a sandbox where stand-ins answer in the place of its services. Needs nothing but Python itself.

usage: stand_in.py dead|empty|noise PORT… -- COMMAND…
   or: under the name of a database client or of `docker`, with STAND_IN set to how it is to answer

dead: nothing answers, and every client fails. empty: services answer, and hold nothing. noise: they answer with a 7.
"""

import http.server
import os
import re
import subprocess
import sys
import threading

CLIENTS = (
    "docker", "podman", "psql", "mysql", "mariadb", "mongosh", "mongo", "redis-cli", "sqlite3", "clickhouse-client"
)  # fmt: skip
NOISE = "7"
# What fails where there is nothing: questions for a file, a search, a copy.
_ASKS_FOR_FILE = re.compile(
    r"(?:^|[\s;&|(])(?:test\s+-\w|\[\[?\s+-\w|stat\b|cat\b|head\b|tail\b|e?grep\b|readlink\b|sha\d+sum\b|md5sum\b|wc\b)"
)
_COUNTS = re.compile(r"\bcount\s*\(|\bSELECT\s+EXISTS\b|\bcountDocuments\b|\bsum\s*\(", re.IGNORECASE)


def main() -> int:
    program = os.path.basename(sys.argv[0])
    if program in CLIENTS:
        return answer(program, sys.argv[1:], os.environ.get("STAND_IN", "dead"))
    mode, *rest = sys.argv[1:]
    at = rest.index("--")
    if mode != "dead":
        for port in rest[:at]:
            serve(int(port), b"{}" if mode == "empty" else NOISE.encode())
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    env = {**os.environ, "STAND_IN": mode, "PATH": f"{here}/bin:{os.environ['PATH']}"}
    return subprocess.run(rest[at + 1 :], env=env, check=False).returncode


def answer(program: str, arguments: list[str], mode: str) -> int:
    """What a client prints and ends with."""
    if mode == "dead":
        sys.stderr.write(f"{program}: cannot connect: no such container or server\n")
        return 1
    copies = program in ("docker", "podman") and arguments[:1] == ["cp"]
    if program in ("docker", "podman") and arguments[:1] == ["inspect"]:
        sys.stdout.write("true\n")  # it runs
        return 0
    if mode == "noise":
        sys.stdout.write(NOISE + "\n")
        return int(copies)
    asked = " ".join(arguments)
    if not sys.stdin.isatty():
        asked += " " + piped()
    if _COUNTS.search(asked):
        sys.stdout.write("0\n")
        return 0
    return int(copies or bool(_ASKS_FOR_FILE.search(asked)))


def piped() -> str:
    """A query that comes over standard input, if it is there at once."""
    import select

    if not select.select([sys.stdin], [], [], 0)[0]:
        return ""
    return sys.stdin.buffer.read(65536).decode("utf-8", "replace")


def serve(port: int, body: bytes) -> None:
    """Answer every request on a port with the same document."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __getattr__(self, name: str) -> object:
            """Every method of HTTP is answered alike."""
            if name.startswith("do_"):
                return self.reply
            raise AttributeError(name)

        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()


if __name__ == "__main__":
    raise SystemExit(main())
