#!/usr/bin/env python3
"""The two last criteria of every task: manifest.json has the digest of the one file written, shifts.csv is as it was given."""
import hashlib
import json
import os
import sys

SHIFTS = "a673a5ac58d707e905da4720baf3e5187c702387c318b1b7cf45e0d8fd7455a3"


def regular(path, flags):
    """How open() opens here: it follows no link out of the workspace and waits at no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def read(name):
    with open(os.path.join(os.environ["WAZA_WORKSPACE_DIR"], name), "rb", opener=regular) as file:
        return file.read()


try:
    if hashlib.sha256(read("shifts.csv")).hexdigest() != SHIFTS:
        sys.exit("shifts.csv is no longer what was given")
    manifest = json.loads(read("manifest.json"))
    if not isinstance(manifest, dict) or len(manifest) != 1:
        sys.exit("manifest.json does not name one file")
    for name, digest in manifest.items():
        if os.path.basename(name) != name or hashlib.sha256(read(name)).hexdigest() != digest:
            sys.exit("manifest.json does not have the digest of the file that it names")
except (OSError, ValueError) as problem:
    sys.exit(f"a file cannot be read: {type(problem).__name__}")
print("manifest.json has the digest of the file that it names")
