"""Rules about what trials show."""
