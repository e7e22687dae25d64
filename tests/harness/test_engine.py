"""Reaching an engine, and what is said where there is none."""

import http.server
import json
import socketserver
import threading
import time

import pytest

from scenlint.harness import builder
from scenlint.harness.capture import Capture
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.engine import Engine, EngineError, connect, faults, moment
from scenlint.harness.execution import Stream
from scenlint.harness.reap import reap
from scenlint.task.plan import Command


@pytest.mark.engine
def test_the_engine_is_found_and_says_what_it_is(engine):
    assert engine.name.split()[0] in ("Docker", "Podman")
    assert engine.info["NCPU"] >= 1
    assert (engine.free_mb() or 1) > 0


@pytest.mark.engine
def test_clients_are_for_one_thread_each(engine):
    seen = {id(engine.api)}
    thread = threading.Thread(target=lambda: seen.add(id(engine.api)))
    thread.start()
    thread.join()
    assert len(seen) == 2


@pytest.mark.engine
def test_a_runs_network_is_made_once_and_again_after_its_removal(engine, options):
    for _ in range(2):
        assert engine.public_network(options) == engine.public_network(options)
        assert len(engine.api.networks(names=[f"scenlint-{options.run}"])) == 1
        assert reap(engine, run=options.run).networks == [f"scenlint-{options.run}"]


def test_without_an_engine_what_was_tried_and_what_to_do_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(
        EngineError, match=r"no container engine answers; tried .*none\.sock \(no answer\).*start Docker"
    ):
        connect()


def test_a_socket_that_may_not_be_opened_is_said(monkeypatch, tmp_path, modes_hold):
    path = tmp_path / "closed.sock"
    with socketserver.UnixStreamServer(str(path), socketserver.BaseRequestHandler):
        path.chmod(0)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        with pytest.raises(EngineError, match=r"permission denied.*group `docker`"):
            connect()


@pytest.mark.engine
def test_docker_host_and_the_chosen_context_are_respected(engine, monkeypatch, tmp_path):
    from hashlib import sha256

    socket = engine.url
    folder = tmp_path / "docker/contexts/meta" / sha256(b"chosen").hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": "chosen", "Metadata": {}, "Endpoints": {"docker": {"Host": f"unix://{tmp_path}/of-context.sock"}}}
    (folder / "meta.json").write_text(json.dumps(meta))
    (tmp_path / "docker/config.json").write_text(json.dumps({"currentContext": "chosen"}))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("DOCKER_HOST", socket)
    assert connect().url == socket
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONTEXT", "chosen")
    with pytest.raises(EngineError, match=r"of-context\.sock"):
        connect()


def test_an_engine_that_breaks_off_is_infrastructure(tmp_path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/version":
                body = json.dumps({"ApiVersion": "1.41"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            else:
                self.connection.close()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        engine = Engine(f"tcp://127.0.0.1:{server.server_port}")
        with pytest.raises(EngineError, match="asking the engine about itself: the engine did not answer"):
            _ = engine.info
        server.shutdown()


class Silent(http.server.BaseHTTPRequestHandler):
    """An engine that says its version and nothing else."""

    def do_GET(self):
        if self.path != "/version":
            return self.do_POST()
        body = json.dumps({"ApiVersion": "1.41"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        time.sleep(5)
        self.close_connection = True

    do_HEAD = do_POST  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    "ask",
    [
        lambda engine, folder: ContainerEnvironment(engine, "x", "x").read("/file"),
        lambda engine, folder: ContainerEnvironment(engine, "x", "x").collect("/folder", folder / "out"),
        lambda engine, folder: ContainerEnvironment(engine, "x", "x").run(Command(("true",)), None),
        lambda engine, folder: Stream(engine.api, "1", Capture(None), b""),
        lambda engine, folder: builder.client(engine),
    ],
)
def test_an_engine_that_falls_silent_holds_nothing_up(tmp_path, ask):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        engine = Engine(f"tcp://127.0.0.1:{server.server_port}")
        engine.api.timeout = 0.2
        began = time.monotonic()
        with pytest.raises(EngineError, match="did not answer"), faults("asking"):
            ask(engine, tmp_path)
        assert time.monotonic() - began < 4
        server.shutdown()


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T00:00:01.123456789Z", 1.123456),
        ("1970-01-01T01:00:01.5+01:00", 1.5),
    ],
)
def test_time_stamps_of_engines_are_read(stamp, seconds):
    assert moment(stamp) == pytest.approx(seconds, abs=1e-6)
