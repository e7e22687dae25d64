#!/bin/bash
set -euo pipefail
python3 - <<'PY'
import csv
from collections import defaultdict

blocks = defaultdict(dict)  # owner -> (device, inode) -> blocks
with open("/app/listing.txt", encoding="utf-8") as listing:
    for line in listing:
        device, inode, _links, owner, used, _size, _path = line.rstrip("\n").split(" ", 6)
        blocks[owner][device, inode] = int(used)

with open("/app/report/usage.csv", "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file)
    out.writerow(["owner", "files", "kib"])
    for owner in sorted(blocks):
        out.writerow([owner, len(blocks[owner]), -(-sum(blocks[owner].values()) // 2)])
PY
