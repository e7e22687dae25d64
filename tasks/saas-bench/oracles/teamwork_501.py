"""Does teamwork_501 through the REST interface of Roundup."""

import base64
import json
import os
import urllib.request

DESK = f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['ROUNDUP_PORT']}/desk/"
HEADERS = {
    "Authorization": "Basic " + base64.b64encode(b"dora:Kettle-and-Key-7").decode(),
    "Content-Type": "application/json",
    "X-Requested-With": "rest",
    "Origin": DESK.split("/desk/")[0],
    "Referer": DESK,
}


def call(method, path, body=None, etag=None):
    """The data of the answer, and the version that a change has to name."""
    headers = HEADERS | ({"If-Match": etag} if etag else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{DESK}rest/data{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)["data"], reply.headers.get("ETag")


def change(path, **values):
    call("PUT", path, values, call("GET", path)[1])


def number(kind, name, field="name"):
    items = call("GET", f"/{kind}?@verbose=2&@fields={field}")[0]["collection"]
    return next(item["id"] for item in items if item[field] == name)


heating = call("POST", "/keyword", {"name": "heating"})[0]["id"]
nadia, piotr, dora = (number("user", name, "username") for name in ("nadia", "piotr", "dora"))
resolved = number("status", "resolved")
new = {"title": "Radiator in flat 12 stays cold", "priority": number("priority", "urgent"), "assignedto": nadia}
call("POST", "/issue", {**new, "keyword": [heating], "status": number("status", "unread")})
note = call("POST", "/msg", {"content": "Same leak as issue 9.", "author": dora})[0]["id"]
change("/issue/23", messages=[note])
# A note reopens an issue, so the status comes after it.
change("/issue/23", status=resolved, superseder=["9"])
for issue in call("GET", "/issue?@verbose=2&@fields=assignedto,status")[0]["collection"]:
    if (issue["assignedto"] or {}).get("id") == piotr and issue["status"]["id"] != resolved:
        change(f"/issue/{issue['id']}", assignedto=nadia)
