"""Verifier for teamwork_501: reads the desk through Roundup's REST interface and compares what the steps ask for."""
import base64
import json
import os
import sys
import urllib.request

DESK = f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['ROUNDUP_PORT']}/desk/rest/data"
LOGIN = base64.b64encode(b"dora:Kettle-and-Key-7").decode()
TITLE = "Radiator in flat 12 stays cold"
# Who must have which of the issues that are there when the tracker starts.
HANDS = {
    "nadia": {2, 5, 7, 10, 12, 15, 16, 19, 20, 24},
    "nadia.b": {8, 11, 21},
    "piotr": {4, 14, 17},
    "yusuf": {1, 6, 9, 18},
}


def read(kind, fields):
    """All items of a kind, with the names of what they link to and the text of messages."""
    url = f"{DESK}/{kind}?@verbose=3&@page_size=1000&@fields={fields}"
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {LOGIN}"})
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)["data"]["collection"]


def issues():
    return read("issue", "title,status,priority,assignedto,keyword,superseder,messages")


def user_of(issue):
    return (issue["assignedto"] or {}).get("username")


def issue_23():
    return next(i for i in issues() if i["id"] == "23")


def keywords():
    names = sorted(k["name"] for k in read("keyword", "name"))
    return names == ["heating", "lift", "waste", "water"], ", ".join(names)


def new_issue():
    found = [
        (i["priority"]["name"], user_of(i), [k["name"] for k in i["keyword"]])
        for i in issues()
        if i["title"] == TITLE
    ]
    return found == [("urgent", "nadia", ["heating"])], f"{len(found)} with this title"


def note():
    contents = {message["id"]: message["content"] for message in read("msg", "content")}
    texts = [contents[message["id"]].strip() for message in issue_23()["messages"]]
    return texts == ["Same leak as issue 9."], f"{len(texts)} messages"


def duplicate():
    issue = issue_23()
    state = (issue["status"]["name"], [s["id"] for s in issue["superseder"]])
    return state == ("resolved", ["9"]), f"status {state[0]}, superseders {state[1]}"


def handed_over():
    hands = {}
    for issue in issues():
        if issue["title"] != TITLE and user_of(issue):
            hands.setdefault(user_of(issue), set()).add(int(issue["id"]))
    return hands == HANDS, "; ".join(f"{user} has {sorted(numbers)}" for user, numbers in sorted(hands.items()))


CHECKS = [
    (1, "Step 2: the keywords are heating, lift, waste and water", keywords),
    (3, f"Step 3: one issue {TITLE}, urgent, nadia, heating", new_issue),
    (2, "Step 4: the only message of issue 23 is the note", note),
    (2, "Step 5: issue 23 is resolved and superseded by issue 9 alone", duplicate),
    (4, "Step 6: nadia has piotr's unresolved issues, all others have what they had", handed_over),
]


def main():
    earned = 0
    total = sum(weight for weight, _, _ in CHECKS)
    for weight, label, check in CHECKS:
        try:
            passed, detail = check()
        except Exception as problem:
            passed, detail = False, f"not readable: {type(problem).__name__}"
        earned += weight if passed else 0
        print(f"[{'PASS' if passed else 'FAIL'}] ({weight}pt) {label}  ({' '.join(detail.split())})", file=sys.stderr)
    print(f"SCORE: {earned / total:.3f}  PASS: {earned == total}  ({earned}/{total})", file=sys.stderr)


if __name__ == "__main__":
    main()
