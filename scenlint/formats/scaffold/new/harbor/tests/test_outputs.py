"""Checks the product that the agent wrote."""

import unittest
from pathlib import Path

ANSWER = Path("/app/answer.txt")


class TestAnswer(unittest.TestCase):
    def test_product(self):
        """Criterion 1: the product of the numbers stands in /app/answer.txt."""
        self.assertTrue(ANSWER.is_file() and not ANSWER.is_symlink(), "it is no plain file")
        self.assertEqual(ANSWER.read_text().strip(), "42")


if __name__ == "__main__":
    unittest.main()
