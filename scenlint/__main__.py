"""`python -m scenlint` is the `scenlint` command."""

from scenlint.cli.app import main

main()
