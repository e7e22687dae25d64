"""Does the task swaps: requests in the order in which they were asked."""
import csv
import hashlib
import json
from datetime import datetime
from pathlib import Path

with open("shifts.csv", newline="") as file:
    shifts = list(csv.DictReader(file))
times = {s["shift"]: tuple(datetime.fromisoformat(s[key]) for key in ("start", "end")) for s in shifts}
roster = {s["shift"]: s["person"] for s in shifts}


def overlap(one, other):
    return times[one][0] < times[other][1] and times[other][0] < times[one][1]


def busy(person, shift):
    return any(who == person and other != shift and overlap(other, shift) for other, who in roster.items())


refused = []
# The times are compared as times: they have different offsets.
for ask in sorted(json.loads(Path("requests.json").read_text()), key=lambda r: datetime.fromisoformat(r["asked_at"])):
    if roster[ask["shift"]] == ask["from"] and not busy(ask["to"], ask["shift"]):
        roster[ask["shift"]] = ask["to"]
    else:
        refused.append(ask["id"])

Path("roster.json").write_text(json.dumps({"roster": roster, "refused": refused}))
digest = hashlib.sha256(Path("roster.json").read_bytes()).hexdigest()
Path("manifest.json").write_text(json.dumps({"roster.json": digest}))
