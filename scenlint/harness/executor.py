"""Many trials at once over `concurrent.futures`, results as they finish; Ctrl-C once stops cleanly, twice at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """While entered, the first Ctrl-C (or SIGTERM) sets `stop`, and the second ends the process at once.

    Trials that are given `stop` end cleanly, as interrupted. What a process that ended at once leaves is removed when
    the next run starts. Only the main thread can enter it to effect.
    """

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """The status to exit with: 130 after Ctrl-C, 143 after SIGTERM, None if there was neither."""
        return None if self.signal is None else 128 + self.signal

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.stop.is_set():
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    # A progress table hides the cursor.
                    stream.write("\x1b[?25h" if stream.isatty() else "")
                    stream.flush()
            # Threads that wait for an engine would hold up an ordinary exit.
            os._exit(128 + number)
        self.signal = number
        self.stop.set()


@dataclass(frozen=True)
class Done(Generic[Job, Result]):
    """One finished job. `error` instead of a result is a fault of ours: trials themselves do not raise."""

    job: Job
    result: Result | None
    error: BaseException | None = None


def run_all(
    jobs: Iterable[Job],
    work: Callable[[Job], Result],
    *,
    workers: int | None = None,
    pool: Executor | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Done[Job, Result]]:
    """Do every job, in threads here or in `pool` (a Dask cluster's `get_executor()` is one); yield each as it ends.

    Once `stop` is set no further job starts; those that run are waited for, as they see `stop` themselves.
    """
    own = pool is None
    executor = pool or ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="trial")
    stop = stop or threading.Event()
    waiting: dict[Future[Result], Job] = {}
    try:
        for job in jobs:
            if stop.is_set():
                break
            waiting[executor.submit(_unless, stop if own else None, work, job)] = job
        while waiting:
            finished, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            if stop.is_set():
                for future in waiting:
                    future.cancel()
            for future in finished:
                job = waiting.pop(future)
                if not future.cancelled() and not isinstance(future.exception(), CancelledError):
                    error = future.exception()
                    yield Done(job, None if error else future.result(), error)
    finally:
        # The consumer has gone, or all is done: what still runs must not outlive this.
        if waiting:
            stop.set()
        if own:
            executor.shutdown(wait=True, cancel_futures=True)


def _unless(stop: threading.Event | None, work: Callable[[Job], Result], job: Job) -> Result:
    if stop is not None and stop.is_set():
        raise CancelledError
    return work(job)
