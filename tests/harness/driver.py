"""A process that runs one trial and may be killed at any time: driver.py FOLDER IMAGE [KILL_AFTER_PHASE]."""

import os
import signal
import sys
from pathlib import Path

from plans import dockerfile, make_plan, make_step

from scenlint.harness import trial
from scenlint.harness.agents import OracleAgent
from scenlint.harness.engine import Options
from scenlint.task.plan import Command, Network, Probe

folder, image, where = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
steps = {
    "in start": {"probe": Probe(Command(("sh", "-c", "sleep 300")))},
    "in agent": {"solve": "sleep 300"},
    "in verify": {"test": "sleep 300"},
}.get(where, {})
step = make_step(folder, solve=steps.pop("solve", "true"), test=steps.pop("test", "true"))
# An image with a volume: anonymous volumes carry no label.
wait = f"RUN echo {sys.argv[4]} && sleep 300\n" if where == "in build" else ""
image = dockerfile(folder / "environment", image, f"VOLUME /data\n{wait}")


def on_phase(record, phase):
    print(phase.name, flush=True)
    if phase.name == where:
        os.kill(os.getpid(), signal.SIGKILL)


plan = make_plan(folder, image, step, network=Network.PUBLIC, **steps)
print("starting", flush=True)
trial.run(
    plan,
    OracleAgent(),
    folder / "trial-x",
    options=Options(run=sys.argv[4]),
    on_phase=on_phase,
    trial=f"{sys.argv[4]}-x",
)
