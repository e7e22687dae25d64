"""A real HTTP server that speaks the chat-completions API and gives the replies that a test has written down."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdef"


@dataclass
class Reply:
    """What one request is answered with."""

    body: dict[str, Any]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False  # the connection is dropped in the middle of it
    wait: threading.Event | None = None  # nothing is sent before this is set
    arrives: threading.Event | None = None  # set as the request comes in


def bash(*commands: str, says: str = "Next.", tokens: tuple[int, int] = (100, 10)) -> Reply:
    """The model calls the tool."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": c})}}
        for n, c in enumerate(commands)
    ]
    return message({"role": "assistant", "content": says, "tool_calls": calls}, "tool_calls", tokens)


def text(words: str, finish: str = "stop", **more: Any) -> Reply:
    return message({"role": "assistant", "content": words, **more}, finish)


def message(content: dict[str, Any], finish: str, tokens: tuple[int, int] = (100, 10)) -> Reply:
    used = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    choice = {"index": 0, "message": content, "finish_reason": finish}
    return Reply(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": used}
    )


def error(status: int, words: str, code: str = "", **headers: str) -> Reply:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply({"error": {"message": words, "type": code or "error", "code": code or None}}, status, told)


DONE = bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")


@dataclass
class Server:
    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)  # the requests
    keys: list[str] = field(default_factory=list)


@contextmanager
def serving(*replies: Reply) -> Iterator[Server]:
    """The replies in their order; the last one again and again."""
    made = Server("")
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                reply = replies[min(len(made.asked), len(replies) - 1)]
                made.asked.append(request)
                made.keys.append(self.headers.get("Authorization", ""))
            if reply.arrives is not None:
                reply.arrives.set()
            if reply.wait is not None:
                reply.wait.wait(60)
            content = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if reply.cut else content)
            self.wfile.flush()
            self.close_connection = reply.cut

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that was ended in the middle of a request is what some tests are about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
