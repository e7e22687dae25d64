"""Checks the product that the agent wrote."""

import unittest
from pathlib import Path


class TestAnswer(unittest.TestCase):
    def test_product(self):
        """Criterion 1: the product of the numbers stands in /app/answer.txt."""
        self.assertEqual(Path("/app/answer.txt").read_text().strip(), "42")


if __name__ == "__main__":
    unittest.main()
