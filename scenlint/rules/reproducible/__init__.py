"""Rules about what makes a trial repeatable."""
