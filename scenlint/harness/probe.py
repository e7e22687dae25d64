"""Waits until something in an environment is ready, as a probe's command tells."""

from __future__ import annotations

import threading
import time

from scenlint.harness.environment import Environment, Fault, StoppedError
from scenlint.task.plan import Probe


def await_ready(environment: Environment, probe: Probe, stop: threading.Event | None = None) -> None:
    """Run the probe until it succeeds; a Fault after its time or its retries."""
    assert probe.command is not None
    began, failures, said = time.monotonic(), 0, "it was never run to its end"
    while time.monotonic() - began < probe.timeout:
        ran = environment.run(probe.command, None)
        if ran.exit_code == 0:
            return
        said = ran.output.strip()[-500:] or ("it ran out of time" if ran.timed_out else f"exit status {ran.exit_code}")
        failures += time.monotonic() - began > probe.start_period
        if probe.retries is not None and failures > probe.retries:
            break
        if stop is not None and stop.wait(probe.interval):
            raise StoppedError("interrupted")
        if stop is None:
            time.sleep(probe.interval)
    raise Fault(f"the environment did not become ready: `{' '.join(probe.command.argv)}` failed: {said}")
