"""Criterion 1: answer.txt in the working directory holds the product."""

from pathlib import Path

answer = Path("answer.txt")
assert answer.is_file() and not answer.is_symlink(), "Criterion 1: answer.txt is no plain file"
assert answer.read_text().strip() == "42", "Criterion 1: answer.txt does not hold the product"
