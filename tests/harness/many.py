"""A process that runs many trials at once and may be interrupted: many.py FOLDER IMAGE RUN JOBS SOLVE."""

import sys
from pathlib import Path

from plans import make_plan, make_step

from scenlint.harness import trial
from scenlint.harness.agents import OracleAgent
from scenlint.harness.engine import Options
from scenlint.harness.executor import Interrupt, run_all

folder, image, run, jobs, solve = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
with Interrupt() as interrupt:

    def work(number: int):
        here = folder / str(number)
        text = solve if number else "echo 42 > /app/answer.txt"
        plan = make_plan(here, image, make_step(here, solve=text))
        return trial.run(
            plan,
            OracleAgent(),
            folder / f"{run}-{number}",
            options=Options(run=run),
            stop=interrupt.stop,
        )

    for done in run_all(range(jobs), work, workers=4, stop=interrupt.stop):
        assert done.result is not None, done.error
        print(done.job, done.result.reward, done.result.failure_class, flush=True)
sys.exit(interrupt.exit_code or 0)
