#!/bin/bash
set -euo pipefail
cat > /app/bin/quote.py <<'PY'
"""Prints what the parcels of a CSV file cost."""
import csv
import sys


def table(name):
    with open(f"/app/{name}", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


ZONES = {row["prefix"]: row["zone"] for row in table("zones.csv")}
RATES = {row["zone"]: (int(row["base_cents"]), int(row["step_cents"])) for row in table("rates.csv")}


def zone(postcode):
    """The zone of the longest prefix, or None."""
    prefixes = (postcode[:length] for length in range(len(postcode), 0, -1))
    return next((ZONES[prefix] for prefix in prefixes if prefix in ZONES), None)


def price(parcel):
    """The price in cents, or None where the postcode has no zone."""
    where = zone(parcel["postcode"])
    if where is None:
        return None
    base, step = RATES[where]
    volume = int(parcel["length_mm"]) * int(parcel["width_mm"]) * int(parcel["height_mm"])
    # In 5000ths of a gram, so that nothing is rounded before it is compared.
    weight = max(5000 * int(parcel["grams"]), volume)
    return base + step * max(0, -(-weight // (5000 * 500)) - 1)


with open(sys.argv[1], newline="", encoding="utf-8") as parcels:
    for parcel in csv.DictReader(parcels):
        cents = price(parcel)
        print(parcel["id"], "unknown" if cents is None else cents, sep=",")
PY
python3 /app/bin/quote.py /app/parcels.csv
