#!/bin/bash
set -euo pipefail
python3 - <<'PY'
from pathlib import Path

program = Path("/app/bin/quote.py")
text = program.read_text(encoding="utf-8")
old = "    return base + step * max(0, -(-weight // (5000 * 500)) - 1)\n"
new = """\
    cents = base + step * max(0, -(-weight // (5000 * 500)) - 1)
    if where == "4" or (parcel.get("date") or "") < "2031-03-01":
        return cents
    # 7.5 % in thousandths of a cent, half a cent upwards.
    return cents + (75 * cents + 500) // 1000
"""
if text.count(old) != 1:
    raise SystemExit("quote.py is not the one of the first step")
program.write_text(text.replace(old, new), encoding="utf-8")
PY
python3 /app/bin/quote.py /app/parcels.csv
