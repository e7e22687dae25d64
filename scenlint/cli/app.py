"""The `scenlint` command: turns faults of its commands into messages for the user."""

from __future__ import annotations

import errno
import gc
import os
import sys

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Run the command line; exit status 2 for usage, configuration and internal errors, 130 when interrupted."""
    # Briefs hold any character, terminals and pipes do not: a character that cannot be shown must not end the run.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lives as long as the process
        getattr(sys, name).reconfigure(errors="backslashreplace")
    # Loading leaves nothing to collect, and looking for it takes a sixth of the time.
    gc.disable()
    from scenlint.config import ConfigError

    try:
        from scenlint.cli.commands import app

        app()
    except KeyboardInterrupt:
        print("scenlint: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except ConfigError as exc:
        print(f"scenlint: {exc}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # `scenlint check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except SystemExit as exc:
        # Typer turns Ctrl-C into this exit and says nothing. Commands that run trials end in their own way.
        if exc.code == 130 and isinstance(getattr(exc.__context__, "__cause__", None), KeyboardInterrupt):
            print("scenlint: interrupted", file=sys.stderr)
        raise
    except Exception as exc:
        if isinstance(exc, OSError) and exc.filename is None and exc.errno in _NO_ROOM:
            print(f"scenlint: the output cannot be written: {exc.strerror}", file=sys.stderr)
            raise SystemExit(2) from None
        if os.environ.get("SCENLINT_TRACEBACK"):
            raise
        print(f"scenlint: internal error: {type(exc).__name__}: {exc}", file=sys.stderr)
        print("scenlint: please report it; SCENLINT_TRACEBACK=1 shows where it happened", file=sys.stderr)
        raise SystemExit(2) from None
