"""Rules about the folder and its metadata."""
