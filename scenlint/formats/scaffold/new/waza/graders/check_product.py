#!/usr/bin/env python3
"""Criterion 1: answer.txt holds the product of the factors."""

import os
import sys
from pathlib import Path

answer = Path(os.environ["WAZA_WORKSPACE_DIR"], "answer.txt")
plain = answer.is_file() and not answer.is_symlink()
got = answer.read_text(encoding="utf-8", errors="replace").strip() if plain else ""
if got != "42":
    sys.exit(f"answer.txt holds {got[:40]!r}, not the product")
print("the product is right")
