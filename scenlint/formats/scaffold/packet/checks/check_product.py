"""Criterion 1: answer.txt in the working directory holds the product."""

from pathlib import Path

assert Path("answer.txt").read_text().strip() == "42", "Criterion 1"
