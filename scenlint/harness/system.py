"""What of the machine every local sandbox shows: /usr, a few files of /etc, and the Python that scenlint runs under."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path, PurePosixPath

from scenlint.task.plan import SUBMISSION, VERIFIER, WORKSPACE

PYTHON = os.path.realpath(sys.executable or "/usr/bin/python3")
# Neither accounts nor configuration with secrets; the clock's zone is the same everywhere.
_ETC = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "os-release", "debian_version", "mime.types"),
    *("ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/tls/certs", "pki/ca-trust"),
    *("protocols", "services", "fonts", "terminfo", "magic", "perl", "python3*", "java-*", "R", "gai.conf"),
)
_USR_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_STORES = ("/nix/store", "/gnu/store")


def _prefixes() -> list[str]:
    """Where the running interpreter and its packages lie, outside of /usr."""
    given = [sys.prefix, sys.base_prefix, str(PurePosixPath(PYTHON).parent.parent)]
    paths = dict.fromkeys(p for path in given for p in (os.path.abspath(path), os.path.realpath(path)))
    own = {"/" + PurePosixPath(p).parts[1] for p in (WORKSPACE, VERIFIER, SUBMISSION)}
    return [
        path
        for path in paths
        if path != "/" and not PurePosixPath(path).is_relative_to("/usr") and "/" + Path(path).parts[1] not in own
    ]


# What runs Python code in sandboxes: with this environment's packages, unless its place is taken there.
_HERE = os.path.abspath(sys.executable or PYTHON)
INTERPRETER = _HERE if any(_HERE.startswith(f"{path}/") for path in ("/usr", *_prefixes())) else PYTHON
SEARCH_PATH = ":".join(
    dict.fromkeys(
        [
            *(f"{path}/bin" for path in _prefixes()),
            *(f"/{p}" for p in ("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin")),
        ]
    )
)


def accounts(user: int) -> dict[str, str]:
    """Files of /etc that every program expects, about nobody but the sandbox's own user."""
    return {
        "/etc/passwd": f"root:x:0:0:root:/:/bin/sh\nagent:x:{user}:{user}::/tmp:/bin/sh\n",
        "/etc/group": f"root:x:0:\nagent:x:{user}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


@lru_cache
def system_mounts() -> tuple[str, ...]:
    """Arguments of bubblewrap for the read-only system."""
    out = ["--ro-bind", "/usr", "/usr"]
    for name in _USR_LINKS:
        path = Path(name)
        if path.is_symlink():
            out += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            out += ["--ro-bind", name, name]
    out += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"]
    for pattern in _ETC:
        for source in sorted(Path("/etc").glob(pattern)):
            target = Path("/etc") / source.relative_to("/etc")
            out += folders(target)
            out += ["--ro-bind-try", str(source), str(target)]
    for prefix in (*_STORES, *_prefixes()):
        if Path(prefix).is_dir():
            out += [*folders(Path(prefix)), "--ro-bind", prefix, prefix]
    return tuple(out)


def folders(path: Path) -> list[str]:
    """Folders above a path, for everyone to pass: bubblewrap would make them for their owner only."""
    out: list[str] = []
    for folder in reversed(path.parents):
        if str(folder) != "/":
            out += ["--perms", "0755", "--dir", str(folder)]
    return out
