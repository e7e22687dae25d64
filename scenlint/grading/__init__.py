"""Grading (handbook, Pass 2): an agent against an admitted suite, many trials a scenario, told as a distribution."""
