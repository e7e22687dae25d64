"""Checks the shift-log channel and its opening post."""

import json
import os
import sys
import urllib.request

BASE = f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['MATTERMOST_PORT']}/api/v4"


def call(path, token=None, payload=None):
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(BASE + path, data=body, headers={"Content-Type": "application/json"})
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=15) as reply:
        return json.load(reply), reply.headers.get("Token")


def channel_has_purpose(token):
    channel, _ = call("/teams/name/harbour/channels/name/shift-log", token)
    return channel["type"] == "O" and channel["purpose"] == "One post per shift, newest last"


def post_is_there(token):
    channel, _ = call("/teams/name/harbour/channels/name/shift-log", token)
    posts, _ = call(f"/channels/{channel['id']}/posts", token)
    return any(p["message"] == "Log opened: berth 4 is closed until Friday" for p in posts["posts"].values())


CHECKS = [
    ("Step 1: public channel shift-log with its purpose", 2, channel_has_purpose),
    ("Step 2: opening post in shift-log", 3, post_is_there),
]


def main():
    earned, total = 0, sum(weight for _, weight, _ in CHECKS)
    token = None
    try:
        _, token = call("/users/login", payload={"login_id": "crew@example.com", "password": "Berth4-open"})
    except OSError as exc:
        print(f"login failed: {type(exc).__name__}", file=sys.stderr)
    for label, weight, holds in CHECKS:
        try:
            ok, detail = holds(token), ""
        except Exception as exc:
            ok, detail = False, type(exc).__name__
        earned += weight if ok else 0
        tail = f"  ({detail})" if detail else ""
        print(f"[{'PASS' if ok else 'FAIL'}] ({weight}pt) {label}{tail}", file=sys.stderr)
    print(f"SCORE: {earned / total:.3f}  PASS: {earned == total}  ({earned}/{total})", file=sys.stderr)


main()
