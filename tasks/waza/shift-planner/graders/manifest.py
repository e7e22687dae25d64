#!/usr/bin/env python3
"""The two last criteria of every task: manifest.json has the digest of the file written, and the given files are untouched."""
import hashlib
import json
import os
import sys

SHIFTS = "a673a5ac58d707e905da4720baf3e5187c702387c318b1b7cf45e0d8fd7455a3"
REQUESTS = "3329f067e2c4db04d310a696c60dc83312b6c06bc9c84675e166fb73c7a7c558"


def regular(path, flags):
    """How open() opens here: it follows no link out of the workspace and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def digest(name):
    """The SHA-256 digest of a file in the workspace."""
    with open(os.path.join(os.environ["WAZA_WORKSPACE_DIR"], name), "rb", opener=regular) as file:
        return hashlib.sha256(file.read()).hexdigest()


swaps = os.path.lexists(os.path.join(os.environ["WAZA_WORKSPACE_DIR"], "requests.json"))
written = "roster.json" if swaps else "hours.csv"
try:
    if digest("shifts.csv") != SHIFTS:
        sys.exit("shifts.csv is no longer what was given")
    if swaps and digest("requests.json") != REQUESTS:
        sys.exit("requests.json is no longer what was given")
    with open(os.path.join(os.environ["WAZA_WORKSPACE_DIR"], "manifest.json"), encoding="utf-8", opener=regular) as file:
        manifest = json.load(file)
    if manifest != {written: digest(written)}:
        sys.exit(f"manifest.json does not have the digest of {written}, or not of that alone")
except (OSError, ValueError) as problem:
    sys.exit(f"a file cannot be read: {type(problem).__name__}")
print(f"manifest.json has the digest of {written}")
