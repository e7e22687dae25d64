#!/bin/bash
set -euo pipefail
python3 - <<'PY'
import csv
import json
from collections import Counter
from datetime import datetime, timedelta

latest, rows = {}, 0
for office in ("north", "south", "west"):
    with open(f"/app/calls/{office}.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows += 1
            best = latest.get(row["call"])
            if best is None or int(row["revision"]) > int(best["revision"]):
                latest[row["call"]] = row

charged = [row for row in latest.values() if row["state"] == "sailed"]
dues = Counter()
for row in charged:
    stay = datetime.fromisoformat(row["left"]) - datetime.fromisoformat(row["berthed"])
    dues[row["imo"]] += 13 * int(row["gt"]) * -(-stay // timedelta(days=1))
bill = {"calls": len(charged), "cancelled": len(latest) - len(charged), "superseded": rows - len(latest), "dues": dues}
with open("/app/out/dues.json", "w", encoding="utf-8") as file:
    json.dump(bill, file, indent=2)
PY
