"""Does TASK-001 from what the agent is given alone."""

from math import prod
from pathlib import Path

numbers = Path("factors.txt").read_text(encoding="utf-8").split()
Path("answer.txt").write_text(f"{prod(map(int, numbers))}\n", encoding="utf-8")
