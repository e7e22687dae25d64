"""`scenlint lsp`: the editor server."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def lsp(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Talk over standard input and output, as it does anyway.")
    ] = False,
) -> None:
    """Show findings in an editor while a task is written (Language Server Protocol, over standard input and output).

    Exit status: 0 ended by the editor, 2 the extra `lsp` is not installed.
    """
    try:
        from scenlint.lsp.server import make
    except ModuleNotFoundError as exc:
        print(f"scenlint: {exc.name} is not installed; pip install 'scenlint[lsp]'", file=sys.stderr)
        raise typer.Exit(2) from None
    # Nothing but the protocol may reach the editor: whatever else is printed goes where messages go.
    line = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = make()
    try:
        server.start_io(stdout=line)
    finally:
        server.worker.end()
