"""`scenlint watch` as a process: looks for cron, a follower, its state, and alerts that are sent to a real server."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scenlint.grading.watch.settings import Webhook
from scenlint.grading.watch.webhook import deliver
from scenlint.harness.ledger import Ledger
from scenlint.task.record import Status, TrialRecord

SECRET = "Bearer s3cr3t-of-the-test"


def write(path, count: int, *, seed: int = 1, fail: float = 0.1, task_type: str = "refund") -> None:
    rng = random.Random(seed)
    with path.open("a") as file:
        for _ in range(count):
            file.write(json.dumps({"task_type": task_type, "success": rng.random() >= fail, "cost": 0.2}) + "\n")


@pytest.fixture
def stream(tmp_path):
    """A stream in which something has gone wrong."""
    path = tmp_path / "outcomes.jsonl"
    write(path, 300)
    write(path, 100, seed=2, fail=0.6)
    return path


class Server:
    """A receiver of alerts that keeps what it was sent and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict, dict]] = []
        self.status, self.location, self.release = 204, "", threading.Event()
        self.silent = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), data))
                if outer.silent:
                    outer.release.wait(60)
                self.send_response(outer.status)
                if outer.location:
                    self.send_header("Location", outer.location)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.release.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    found = Server()
    yield found
    found.close()


@pytest.fixture
def configure(tmp_path):
    """Write a configuration that sends alerts to a server."""

    def made(server: Server, *, timeout: float = 30, path: str = "/hooks/T0K3N") -> dict[str, str]:
        text = f"""[watch.webhook]
url-env = "ALERTS_URL"
header = "Authorization"
secret-env = "ALERTS_TOKEN"
timeout = {timeout}
"""
        (tmp_path / "scenlint.toml").write_text(text)
        return {**os.environ, "ALERTS_URL": server.url + path, "ALERTS_TOKEN": SECRET}

    return made


def test_one_look_says_what_is_wrong_and_how_often_that_is_false(stream, scenlint):
    done = scenlint("watch", stream, "--once")
    assert done.returncode == 1
    assert "outcomes.jsonl: 400 outcomes (400 new), 1 task type" in done.stdout
    assert "ALERT (new): refund: the success rate has fallen" in done.stdout
    assert "at most one in 10,000 outcomes of a type for each signal" in done.stdout
    again = scenlint("watch", stream, "--once")
    assert again.returncode == 1
    assert "400 outcomes (0 new)" in again.stdout
    assert "\nALERT: refund" in again.stdout


def test_the_same_as_json(stream, scenlint):
    done = scenlint("watch", stream, "--once", "--format", "json")
    told = json.loads(done.stdout)
    (alert,) = told["alerts"]
    assert (alert["signal"], alert["task_type"], alert["new"]) == ("success", "refund", True)
    assert told["false_alarms"] == {"outcomes_between_per_signal": 10000, "expected_per_1000_outcomes_at_most": 0.2}
    success = told["types"][0]["signals"]["success"]
    assert success["low"] < success["rate"] < success["high"] < success["usual"]
    assert 0 < success["sum"] <= success["limit"]


def test_nothing_wrong_is_status_0_and_it_comes_back_to_it(tmp_path, scenlint):
    path = tmp_path / "outcomes.jsonl"
    write(path, 400)
    done = scenlint("watch", path, "--once")
    assert (done.returncode, "no alert is open" in done.stdout) == (0, True)
    write(path, 80, seed=2, fail=0.7)
    assert scenlint("watch", path, "--once").returncode == 1
    write(path, 400, seed=3)
    done = scenlint("watch", path, "--once")
    assert (done.returncode, "ended: refund: the success rate is back" in done.stdout) == (0, True)


def test_an_alert_is_sent_once_with_the_secret_from_the_environment(stream, server, configure, scenlint):
    environment = configure(server)
    first, second = (scenlint("watch", stream, "--once", env=environment) for _ in range(2))
    assert (first.returncode, second.returncode) == (1, 1)
    ((path, headers, data),) = server.requests
    assert (path, headers["Authorization"]) == ("/hooks/T0K3N", SECRET)
    assert data["source"] == "outcomes.jsonl"
    assert data["text"].startswith("scenlint watch: ALERT: refund: the success rate has fallen")
    assert data["alerts"][0]["change"] == "raised"
    state = "".join(p.read_text() for p in (stream.parent / ".scenlint" / "watch").iterdir())
    for text in (first.stdout, first.stderr, second.stdout, state):
        assert "s3cr3t" not in text
        assert "T0K3N" not in text


def test_an_alert_that_cannot_be_delivered_is_shown_kept_and_sent_later(stream, server, configure, scenlint):
    environment = configure(server)
    server.status = 503
    done = scenlint("watch", stream, "--once", env=environment)
    assert done.returncode == 1
    assert "ALERT (new): refund" in done.stdout
    assert "127.0.0.1 answered with status 503; 1 alert is kept" in done.stderr
    server.status = 200
    done = scenlint("watch", stream, "--once", "--format", "json", env=environment)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["undelivered"]) == (1, "", 0)
    assert [len(data["alerts"]) for _, _, data in server.requests] == [1, 1]
    scenlint("watch", stream, "--once", env=environment)
    assert len(server.requests) == 2


def test_a_receiver_that_is_away_or_gives_no_answer(stream, server, configure, scenlint):
    environment = configure(server, timeout=0.3)
    server.silent = True
    assert "127.0.0.1" in scenlint("watch", stream, "--once", env=environment).stderr
    server.close()
    done = scenlint("watch", stream, "--once", env=environment)
    assert (done.returncode, "could not be delivered: 127.0.0.1" in done.stderr) == (1, True)
    del environment["ALERTS_TOKEN"]
    assert "the variable `ALERTS_TOKEN` is not set" in scenlint("watch", stream, "--once", env=environment).stderr


def test_a_receiver_that_answers_byte_by_byte_is_given_up():
    """Each byte comes in time, the answer never."""
    given_up = threading.Event()

    def answer(listening):
        client, _ = listening.accept()
        with client, suppress(OSError):
            client.sendall(b"HTTP/1.1 200 ")
            for _ in range(100):
                client.sendall(b"O")
                if given_up.wait(0.05):
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        told = deliver(Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}/", timeout=0.3), (), "x")
        given_up.set()
        thread.join()
    assert told == "127.0.0.1 gave no answer within 0.3 s"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path, scenlint):
    os.mkfifo(tmp_path / "outcomes.jsonl")
    done = scenlint("watch", "outcomes.jsonl", "--once")
    assert (done.returncode, "is a pipe" in done.stderr) == (2, True)


def test_the_secret_goes_to_no_other_address(stream, server, configure, scenlint):
    other = Server()
    server.status, server.location = 307, other.url + "/elsewhere"
    done = scenlint("watch", stream, "--once", env=configure(server))
    other.close()
    assert "answered with status 307" in done.stderr
    assert other.requests == []


def test_what_is_forgotten_is_learnt_anew(stream, scenlint):
    scenlint("watch", stream, "--once")
    write(stream, 200, seed=5, fail=0.6)
    done = scenlint("watch", stream, "--once", "--forget", "refund")
    assert (done.returncode, "200 new" in done.stdout) == (0, True)
    done = scenlint("watch", stream, "--once", "--forget", "refunds")
    assert (done.returncode, "no type of task is called `refunds`" in done.stderr) == (2, True)


def test_a_stream_with_other_names_is_read_again_when_they_are_known(tmp_path, scenlint):
    path = tmp_path / "out.jsonl"
    path.write_text('{"kind": "a", "success": true}\n' * 3)
    done = scenlint("watch", path, "--once")
    assert done.returncode == 2
    assert "nothing of `out.jsonl` is an outcome (3 lines or records are no outcomes: it has no text" in done.stderr
    (tmp_path / "scenlint.toml").write_text('[watch.fields]\ntask-type = "kind"\n')
    assert "3 outcomes (3 new)" in scenlint("watch", path, "--once").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[watch]\nlearn = 3\n", "watch.learn"),
        ("[watch.webhook]\nurll = 'x'\n", "did you mean `url`?"),
        ("[watch.types.a.success]\nusual = 0.5\nalert = 0.6\n", "has to be below"),
    ],
)
def test_a_wrong_configuration_is_said(stream, scenlint, text, said):
    (stream.parent / "scenlint.toml").write_text(text)
    done = scenlint("watch", stream, "--once")
    assert (done.returncode, said in done.stderr) == (2, True)


def test_a_state_that_is_damaged_is_no_silent_new_beginning(stream, scenlint):
    scenlint("watch", stream, "--once", "--state", "s.json")
    (stream.parent / "s.json").write_text('{"watch": {"version": 1}}')
    done = scenlint("watch", stream, "--once", "--state", "s.json")
    assert done.returncode == 2
    assert "delete it to begin anew" in done.stderr


def test_the_ledger_is_watched_without_a_file(tmp_path, scenlint):
    done = scenlint("watch", "--once")
    assert (done.returncode, "nothing has been run yet" in done.stderr) == (2, True)
    rng = random.Random(1)
    ledger = Ledger(tmp_path / ".scenlint")
    records = [
        TrialRecord(
            f"r-{n}",
            "product",
            "packet",
            "solver",
            status=Status.PASSED if rng.random() < (0.9 if n < 200 else 0.3) else Status.FAILED,
            started=f"2026-11-{1 + n // 24:02}T{n % 24:02}:00:00.000+00:00",
        )
        for n in range(260)
    ]
    ledger.take_in(records)
    ledger.close()
    done = scenlint("watch", "--once")
    assert done.returncode == 1
    assert "260 outcomes (260 new), 1 task type, 2026-11-01 00:00 to 2026-11-11 19:00 UTC" in done.stdout
    assert "ALERT (new): product (solver): the success rate has fallen" in done.stdout
    assert "260 outcomes (0 new)" in scenlint("watch", "--once").stdout


# ---------------------------------------------------------------- a follower


class Follower:
    def __init__(self, path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "scenlint", "watch", str(path), "--interval", "0.1", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=path.parent, env={**os.environ, **environment}, **pipes)
        self.lines = iter(self.process.stdout.readline, "")

    def until(self, text: str) -> str:
        """The next line with this text; what was printed before is passed over."""
        return next(line for line in self.lines if text in line)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def test_a_follower_tells_of_alerts_as_they_come_through_a_rotation(tmp_path, server, configure, scenlint):
    path = tmp_path / "outcomes.jsonl"
    write(path, 300)
    follower = Follower(path, **configure(server))
    try:
        assert "300 outcomes" in follower.until("outcomes.jsonl: ")
        follower.until("false alarms")
        write(path, 40, seed=2, fail=0.7)
        path.rename(path.with_name("outcomes.jsonl.1"))
        write(path, 40, seed=3, fail=0.7)
        follower.until("ALERT: refund: the success rate has fallen")
        second = scenlint("watch", path, "--once")
        assert (second.returncode, "another process watches this stream" in second.stderr) == (2, True)
        write(path, 400, seed=4)
        follower.until("ended: refund: the success rate is back")
        write(path, 100, seed=5, fail=0.9)
        follower.until("ALERT: refund")
        code, errors = follower.end()
    finally:
        follower.process.kill()
    assert code == 1
    assert "its rest was read from `outcomes.jsonl.1`" in errors
    sent = [alert["change"] for _, _, data in server.requests for alert in data["alerts"]]
    assert sent == ["raised", "ended", "raised"]
    done = scenlint("watch", path, "--once")
    assert (done.returncode, "880 outcomes (0 new)" in done.stdout) == (1, True)


def test_a_follower_waits_for_a_file_and_prints_json_lines(tmp_path):
    path = tmp_path / "later.jsonl"
    follower = Follower(path, "--format", "json")
    try:
        assert "later.jsonl` is not there; it is waited for" in follower.process.stderr.readline()
        write(path, 200)
        write(path, 80, seed=2, fail=0.8)
        alert = json.loads(follower.until("raised"))
        assert (alert["signal"], alert["task_type"]) == ("success", "refund")
        code, errors = follower.end(signal.SIGINT)
    finally:
        follower.process.kill()
    assert (code, errors) == (1, "")
