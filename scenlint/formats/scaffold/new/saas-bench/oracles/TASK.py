"""Does TASK through the interface that the agent has."""

import json
import os
import urllib.request

URL = f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['NOTES_PORT']}/api/notes"


def call(method, path="", body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, method=method), timeout=15) as reply:
        return json.load(reply)


call("POST", body={"title": "Berth 4 is closed until Friday", "tag": "closure"})
for note in call("GET"):
    if note["title"] == "Berth 2 is closed":
        call("DELETE", f"/{note['id']}")
