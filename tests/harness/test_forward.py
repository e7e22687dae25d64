"""Ports of apps in a sandbox without network: these are reached, nothing else is."""

import hashlib
import http.server
import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from scenlint.harness import bubblewrap, forward
from scenlint.harness.box import Box, Mount
from scenlint.harness.system import PYTHON
from scenlint.task.plan import NotRunnableError

LARGE = 8 * 1024 * 1024


class Echo(http.server.BaseHTTPRequestHandler):
    """GET says which server it is, POST says what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._say(f"server at {self.server.server_port}".encode() if self.path == "/" else os.urandom(LARGE))

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self._say(hashlib.sha256(data).hexdigest().encode())

    def _say(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Digest", hashlib.sha256(body).hexdigest())
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def servers():
    """Two servers of this machine."""
    made = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) for _ in range(2)]
    for server in made:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    for server in made:
        server.shutdown()
        server.server_close()


@pytest.fixture
def inside(tmp_path: Path):
    """Run Python in a sandbox in which some ports answer: inside(code, ports) -> Ran."""
    try:
        identity = bubblewrap.identity()
    except NotRunnableError as exc:
        if os.environ.get("SCENLINT_REQUIRE_ENGINE") == "1":
            raise
        pytest.skip(str(exc))
    opened = []

    def go(code, ports, argv=None, **more):
        folder = tmp_path / f"{'deep' * 40}/{len(opened)}"  # no path for a socket could be that long
        folder.mkdir(parents=True)
        opened.append(forward.Ports(folder, ports))
        program = Path(forward.__file__)
        mounts = (Mount(folder, forward.INSIDE), Mount(program, f"/.scenlint/{program.name}"))
        argv = argv or ("python3", "-c", "import json, socket, sys, urllib.request as u\n" + code)
        box = Box(mounts, identity=identity)
        return bubblewrap.run(box, [PYTHON, *forward.program(ports), *argv], None, **{"timeout": 60, **more})

    yield go
    for ports in opened:
        ports.close()


def test_the_apps_port_answers_and_no_other_of_this_machine_does(inside, servers):
    ours, other = (server.server_port for server in servers)
    ran = inside(
        f"""
def reach(host, port):
    try:
        return u.urlopen(f"http://{{host}}:{{port}}/", timeout=3).read().decode()
    except OSError as exc:
        return None
print(json.dumps([reach(*p) for p in [("127.0.0.1", {ours}), ("127.0.0.1", {other}), ("172.17.0.1", {other}),
                                      ("1.1.1.1", 80), ("example.com", 80)]]))
""",
        [ours],
    )
    assert json.loads(ran.output) == [f"server at {ours}", None, None, None, None]


def test_nothing_is_reached_without_ports(inside, servers):
    ran = inside(f"u.urlopen('http://127.0.0.1:{servers[0].server_port}/', timeout=3)", [])
    assert ran.exit_code == 1
    assert "Connection refused" in ran.output


def test_two_ports_lead_to_two_apps(inside, servers):
    ports = [server.server_port for server in servers]
    ran = inside(f"for p in {ports}: print(u.urlopen(f'http://127.0.0.1:{{p}}/').read().decode())", ports)
    assert ran.output.splitlines() == [f"server at {port}" for port in ports]


def test_large_bodies_pass_unchanged_in_both_directions(inside, servers):
    port = servers[0].server_port
    ran = inside(
        f"""
import hashlib, os
got = u.urlopen("http://127.0.0.1:{port}/large")
print(hashlib.sha256(got.read()).hexdigest() == got.headers["X-Digest"])
sent = os.urandom({LARGE})
print(u.urlopen("http://127.0.0.1:{port}/", sent).read().decode() == hashlib.sha256(sent).hexdigest())
""",
        [port],
    )
    assert ran.output.split() == ["True", "True"]


def test_many_connections_at_once_and_one_after_another(inside, servers):
    port = servers[0].server_port
    ran = inside(
        f"""
from concurrent.futures import ThreadPoolExecutor
def get(_):
    return u.urlopen("http://127.0.0.1:{port}/", timeout=30).read().decode()
with ThreadPoolExecutor(40) as pool:
    print(set(pool.map(get, range(600))))
""",
        [port],
    )
    assert ran.output.strip() == str({f"server at {port}"})


def test_an_end_of_input_is_passed_on_and_the_answer_still_comes(inside):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                data = b""
                while chunk := connection.recv(100):
                    data += chunk
                connection.sendall(data[::-1])

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        ran = inside(
            f"""
s = socket.create_connection(("127.0.0.1", {port}))
s.sendall(b"abc"); s.shutdown(socket.SHUT_WR)
print(s.makefile("rb").read())
""",
            [port],
        )
    assert ran.output.strip() == "b'cba'"


def test_an_app_that_is_gone_is_a_closed_connection(inside):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    ran = inside(f"print(socket.create_connection(('127.0.0.1', {port}), 5).recv(1))", [port])
    assert ran.output.strip() in ("b''", "") or "reset" in ran.output


def test_the_command_keeps_its_input_output_and_exit_status(inside, servers):
    port = servers[0].server_port
    ran = inside("", [port], argv=("sh", "-c", "cat; echo err >&2; exit 7"), stdin=b"in", split=True)
    assert (ran.stdout, ran.stderr, ran.exit_code) == (b"in", b"err\n", 7)
    missing = inside("", [port], argv=("no-such-program",))
    assert missing.exit_code == 127
    assert "no-such-program" in missing.output


def test_the_relay_does_not_outlive_its_command(inside, servers):
    began = time.monotonic()
    ran = inside("print('done')", [servers[0].server_port])
    assert ran.output == "done\n"
    assert time.monotonic() - began < 5


def test_what_waits_is_cut_off_at_the_end(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ports = forward.Ports(tmp_path, [port])
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(tmp_path / str(port)))
        server.accept()
        ports.close()
        client.settimeout(5)
        assert client.recv(1) == b""
        again = socket.socket(socket.AF_UNIX)
        with pytest.raises(ConnectionRefusedError):
            again.connect(str(tmp_path / str(port)))
