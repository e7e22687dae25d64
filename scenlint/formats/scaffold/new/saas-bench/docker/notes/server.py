"""A board of notes, kept in memory: GET /api/notes lists them, POST /api/notes adds one, DELETE /api/notes/ID removes it."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

NOTES = {1: {"id": 1, "title": "Berth 2 is closed", "tag": "closure"}}
IDS = count(2)


class Board(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, list(NOTES.values()))

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note = {"id": next(IDS), "title": str(given["title"]), "tag": str(given["tag"])}
        NOTES[note["id"]] = note
        self.answer(201, note)

    def do_DELETE(self):
        found = NOTES.pop(int(self.path.rpartition("/")[2]), None)
        self.answer(200 if found else 404, found)

    def answer(self, status, data):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("0.0.0.0", 8080), Board).serve_forever()
