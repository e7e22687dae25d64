"""The editor server: what `scenlint check` says of a task, while its files are edited (Language Server Protocol)."""
