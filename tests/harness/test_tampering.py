"""Requests on their way to an app: all are seen that change something, one can be changed, and none is spoilt."""

import http.client
import http.server
import json
import socket
import threading
import urllib.parse
from contextlib import contextmanager

import pytest

from scenlint.harness.forward import HOST, Ports
from scenlint.harness.tampering import Request, Tampering, Watch, changed, fields

JSON = {"Content-Type": "application/json"}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._say(json.dumps(self.server.got))

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.got.append([self.command, self.path, body.decode()])
        self._say("done")

    do_DELETE = do_POST  # noqa: N815

    def _say(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def app():
    """An application that keeps what it is sent."""
    server = http.server.ThreadingHTTPServer((HOST, 0), _Handler)
    server.got = []
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def through(app, tmp_path):
    """A connection to it that passes a Watch: through(watch)."""
    made = []

    @contextmanager
    def go(watch: Watch):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        ports = Ports(folder, [app.server_port])
        made.append(ports)
        ports.join = watch.join
        connection = http.client.HTTPConnection(HOST)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(folder / str(app.server_port)))
        try:
            yield connection
        finally:
            connection.close()

    yield go
    for ports in made:
        ports.close()


def ask(connection, method, path, body=None, headers=()) -> str:
    connection.request(method, path, body, dict(headers))
    return connection.getresponse().read().decode()


def test_requests_that_change_something_are_kept_and_arrive_as_they_were(app, through):
    watch = Watch()
    with through(watch) as connection:
        assert ask(connection, "POST", "/notes/12?x=1", json.dumps({"a": {"b": [1, "two"]}}), JSON.items()) == "done"
        assert ask(connection, "DELETE", "/notes/12") == "done"
        assert json.loads(ask(connection, "GET", "/")) == app.got
        connection.request("POST", "/big", iter([b"x" * 70000, b"y"]), encode_chunked=True)  # not read, but passed on
        assert connection.getresponse().read() == b"done"
    assert watch.requests == [
        Request("POST", "/notes/12?x=1", (("a.b[0]", "1"), ("a.b[1]", "two"))),
        Request("DELETE", "/notes/12"),
    ]
    assert watch.requests[0].place == "/notes/N"
    assert [("".join(r.answer)).endswith("\r\n\r\ndone") for r in watch.requests] == [True, True]
    assert [body for *_, body in app.got] == ['{"a": {"b": [1, "two"]}}', "", "x" * 70000 + "y"]


@pytest.mark.parametrize(
    ("how", "arrived"),
    [
        ("drop", [["B", 2]]),
        ("twice", [["A", 1], ["A", 1], ["B", 2]]),
        ("change", [["Other", 1], ["B", 2]]),
    ],
)
def test_one_request_is_kept_back_sent_twice_or_changed(app, through, how, arrived):
    answer = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nas it"
    watch = Watch(Tampering(how, "POST", "/notes", "title", "A", "Other", answer))
    with through(watch) as connection:
        for title, number in (("A", 1), ("B", 2)):
            told = ask(connection, "POST", "/notes", json.dumps({"title": title, "n": number}), JSON.items())
            assert told == ("as it" if (how, title) == ("drop", "A") else "done")
    assert watch.done
    assert [list(json.loads(body).values()) for *_, body in app.got] == arrived


def test_what_is_not_met_is_not_done(app, through):
    watch = Watch(Tampering("drop", "POST", "/notes", "title", "C"))
    with through(watch) as connection:
        assert ask(connection, "POST", "/notes", json.dumps({"title": "A"}), JSON.items()) == "done"
    assert not watch.done


def test_a_form_is_read_and_changed_too():
    form, kind = urllib.parse.urlencode({"name": "Ann & Bob", "n": "3"}).encode(), "application/x-www-form-urlencoded"
    assert fields(kind, form) == [("name", "Ann & Bob"), ("n", "3")]
    assert fields(kind, changed(kind, form, "name", "Ann & Bob", "Eve=1")) == [("name", "Eve=1"), ("n", "3")]
    assert fields("text/plain", b"name=x") == []
    assert changed("application/json", b'{"n": 3, "s": "3"}', "n", "3", "4") == b'{"n": 4, "s": "3"}'
