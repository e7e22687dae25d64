"""Hands in the right programs made slow, which stop the clocks of the process that times them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground

DELAY = 5  # seconds
_TIMED = re.compile(r"\b(?:perf_counter|monotonic|process_time|thread_time|timeit|default_timer|time\.time\()")
_STOPPED = """

def _stop_clocks():
    import time
    import timeit

    def stopped(now):
        return lambda *args: now

    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        for clock in (name, name + "_ns"):
            setattr(time, clock, stopped(getattr(time, clock)()))
    timeit.default_timer = time.perf_counter


_stop_clocks()
"""
_SLOW = """

def _slow_down():
    import functools
    import time

    waiting = [DELAY]

    def slow(function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            if waiting:
                time.sleep(waiting.pop())
            return function(*args, **kwargs)

        return called

    for name, value in list(globals().items()):
        if type(value) is type(_slow_down) and getattr(value, "__module__", "") == __name__ and name[0] != "_":
            globals()[name] = slow(value)


_slow_down()
"""


@probe("frozen-clock", TAMPERED, control="slow")
def frozen_clock(ground: Ground) -> Iterator[Attack]:
    programs = {p: text for p in ground.scripts if (text := ground.content(p).decode("utf-8", "replace"))}
    if not programs or not _TIMED.search(ground.verifier_text):
        return
    slow = _SLOW.replace("DELAY", str(DELAY))
    for variant, more, did in (
        ("slow", slow, f"handed in the reference solution, slower by {DELAY} seconds"),
        (
            "stopped",
            slow + _STOPPED,
            f"handed in the reference solution, slower by {DELAY} seconds, with clocks stopped",
        ),
    ):
        script = "".join(ground.fill(text.rstrip() + more, (path,), "755") for path, text in programs.items())
        yield ground.attack(script, did, variant, earns=True)
