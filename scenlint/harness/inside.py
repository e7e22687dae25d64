"""Runs first in a local sandbox: takes on limits, gives up rights, says that it got so far, becomes the command."""

import json
import os
import resource
import sys


def main() -> None:
    settings = json.loads(sys.argv[1])
    argv = sys.argv[2:]
    os.umask(0o022)
    for name, value in settings["limits"].items():
        _, hard = resource.getrlimit(getattr(resource, name))
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(getattr(resource, name), (value, value))
    if settings["cpus"]:
        there = sorted(os.sched_getaffinity(0))
        first = settings["turn"] % len(there)
        os.sched_setaffinity(0, (there[first:] + there[:first])[: settings["cpus"]])
    if settings["user"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["user"]] * 3)
        os.setresuid(*[settings["user"]] * 3)
    if not settings["locale"]:
        os.environ.pop("LC_CTYPE", None)  # Python's own addition
    os.write(settings["ready"], b"1")
    os.closerange(3, 1024)
    try:
        os.chdir(settings["cwd"])
    except OSError as exc:
        end(126, f"the working directory `{settings['cwd']}` cannot be entered: {exc.strerror}")
    try:
        os.execve(found(argv[0]), argv, os.environ)
    except FileNotFoundError:
        end(127, f"`{argv[0]}` was not found")
    except OSError as exc:
        end(126, f"`{argv[0]}` cannot be executed: {exc.strerror}")


def end(code: int, why: str) -> None:
    """As a shell does it: 127 for what is not there, 126 for what cannot be executed."""
    print(f"scenlint: {why}", file=sys.stderr, flush=True)
    os._exit(code)


def found(name: str) -> str:
    """The program that PATH names."""
    if "/" in name:
        return name
    for folder in os.environ.get("PATH", "").split(":"):
        path = os.path.join(folder or ".", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(2, "not found", name)


main()
