"""Rules about scenlint's own suppressions, configuration and reading."""
