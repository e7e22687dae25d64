"""Runs one trial of a RunPlan: phases in order, each timed, captured and typed when it fails, and all removed at last.

`run` never raises (but KeyboardInterrupt): whatever happens is in the record, and no fault becomes a score.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from threading import Event

from scenlint.harness import backends, outcome, verdict
from scenlint.harness.agents import Agent, Witness, limited
from scenlint.harness.capture import bounded
from scenlint.harness.engine import Options
from scenlint.harness.environment import (
    Environment,
    Fault,
    FaultTimeoutError,
    GoneError,
    InfrastructureError,
    Ran,
    StoppedError,
)
from scenlint.harness.harbor_engine import Elsewhere
from scenlint.harness.images import Ready
from scenlint.harness.outcome import Outcome
from scenlint.harness.probe import await_ready
from scenlint.harness.scene import Scene, plain
from scenlint.harness.secrets import Redactor
from scenlint.harness.worked import Worked, spent
from scenlint.task.plan import NotRunnableError, Reader, RunPlan, Step, Verify
from scenlint.task.record import Phase, PhaseName, TrialRecord

EVIDENCE_LIMIT = 64 * 1024 * 1024  # bytes of a folder of logs that are copied out
OnPhase = Callable[[TrialRecord, Phase], None]


def run(
    plan: RunPlan,
    agent: Agent,
    folder: Path,
    *,
    options: Options | None = None,
    on_phase: OnPhase | None = None,
    stop: Event | None = None,
    trial: str | None = None,
) -> TrialRecord:
    """One trial; `folder` gets its logs and what it produced. `trial` is its id, by default the folder's name.

    `on_phase` is called as each phase ends; if it raises (a full disk), the trial ends as an infrastructure failure.
    Once `stop` is set the trial ends at the next occasion, cleaned up, as interrupted.
    """
    scene = Scene(plan, plain(trial or folder.name), folder, options or Options(), stop)
    return _Trial(scene, agent, on_phase).run()


class _Trial:
    def __init__(self, scene: Scene, agent: Agent, on_phase: OnPhase | None) -> None:
        self.scene, self.plan, self.agent, self.on_phase = scene, scene.plan, agent, on_phase
        self.record = outcome.blank(scene, agent.name)
        self.record.budget |= getattr(agent, "budget", {})
        self.redactor = Redactor.of(agent)
        self.outcomes: list[Outcome] = []

    def run(self) -> TrialRecord:
        began = time.monotonic()
        fault: BaseException | None = None
        made: TrialRecord | None = None
        try:
            self.scene.folder.mkdir(parents=True, exist_ok=True)
            if isinstance(self.agent, Elsewhere):
                made = self._elsewhere(self.agent)
            else:
                self._run()
        except KeyboardInterrupt as exc:
            fault = exc
            raise
        except Exception as exc:  # a Fault, or a fault of scenlint's own: neither may become a score
            fault = exc
        finally:
            self.record.duration = time.monotonic() - began
            if made is None:
                outcome.conclude(self.record, self.plan, self.outcomes, fault)
            else:
                outcome.adopt(self.record, made)
            self.redactor.record(self.record)
            self.redactor.folder(self.scene.folder)
        return self.record

    def _run(self) -> None:
        with self._phase(PhaseName.BUILD) as phase:
            backends.check(self.plan, self.scene.options)
            self.agent.check(self.plan)
            backend = backends.backend(self.plan)
            try:
                prepared = backend.prepare(self.scene)
                outcome.took(self.record, prepared)
                phase.output = prepared.log
                verifiers = backends.prepare_verifiers(self.scene)
                outcome.took_verifiers(self.record, verifiers.values())
            finally:
                phase.output_file = self._build_log()
        environment: Environment | None = None
        try:
            with self._phase(PhaseName.START) as phase:
                environment = backend.start(self.scene, prepared)
                phase.output = "\n".join(getattr(environment, "notes", ()))
            for step in self.plan.steps:
                done = Outcome(step)
                self.outcomes.append(done)
                self._step(done, environment, verifiers.get(step.name))
                if not done.goes_on:
                    break
        finally:
            if environment is not None:
                self._remove(environment)

    def _elsewhere(self, agent: Elsewhere) -> TrialRecord:
        """Have another harness run the whole trial; the phases that it recorded are told when it has ended."""
        with self._phase(PhaseName.BUILD):
            backends.check(self.plan, self.scene.options)
            self.agent.check(self.plan)
        with self._phase(PhaseName.START) as start:
            made, ran = agent.trial(self.scene)
            self._note(start, ran)
        later = [phase for phase in made.phases if phase.name != PhaseName.START]
        start.duration = max(start.duration - sum(phase.duration for phase in later), 0.0)
        for phase in later:
            self.record.phases.append(phase)
            self._tell(phase)
        return made

    # One step

    def _step(self, done: Outcome, environment: Environment, verifier: Ready | None) -> None:
        step = done.step
        self._set_up(step, environment)
        grader = environment
        try:
            self._act(done, environment)
            self._run_hooks(step, environment)
            graded = backends.told(step, done.agent)
            with self._phase(PhaseName.OVERLAY, step):
                grader = backends.grader(self.scene, graded, environment, verifier)
                own = outcome.own_folders(self.plan, step)
                grader.fresh(own)
                for path in step.verify.verdict_paths:
                    if posixpath.dirname(path) not in own:
                        grader.remove(path)
                for upload in step.verify.overlay:
                    grader.upload(upload)
            self._verify(done, graded.verify, grader)
            with self._phase(PhaseName.VERDICT, step) as phase:
                if isinstance(self.agent, Witness):
                    self.agent.graded(step, grader)
                done.strict, done.harness, checks = verdict.read_step(step, done.ran, grader)
                for check in checks:
                    check.step = check.step or step.name
                self.record.checks += checks
                phase.output = done.strict.reason
        finally:
            try:
                self._collect(done, environment, grader)
            finally:
                if grader is not environment:
                    self._remove(grader, step)

    def _set_up(self, step: Step, environment: Environment) -> None:
        network = self.plan.network
        if not (step.uploads or step.setup or step.probe or backends.other_network(environment, network)):
            return
        with self._phase(PhaseName.START, step) as phase:
            backends.give_network(self.scene, environment, network)
            for upload in step.uploads:
                environment.upload(upload)
            if step.setup is not None:
                self._note(phase, environment.run(step.setup, self.scene.log("setup.log", step)))
                if phase.exit_code != 0:
                    raise Fault(f"the step's set-up failed with exit status {phase.exit_code}")
            if step.probe is not None:
                await_ready(environment, step.probe, self.scene.stop)

    def _act(self, done: Outcome, environment: Environment) -> None:
        with self._phase(PhaseName.AGENT, done.step) as phase:
            try:
                done.agent = ran = self.agent.act(done.step, environment, self.scene)
            except Fault as exc:
                if isinstance(told := getattr(exc, "worked", None), Worked):  # what it had used up by then
                    spent(self.record, told.usage)
                raise
            if ran is None:
                return
            self._note(phase, ran)
            limit = done.step.agent_timeout
            if isinstance(ran, Worked):
                spent(self.record, ran.usage)
                phase.output += ran.notes
                limit = ran.limit
            if ran.timed_out:
                phase.error = f"timeout: the agent took longer than {limit or ran.duration:.0f} s"
            left: list[str] = getattr(environment, "processes", list)()
            if left:
                phase.output += f"\n[still running after the agent: {'; '.join(left)[:2000]}]"

    def _run_hooks(self, step: Step, environment: Environment) -> None:
        """What is to be gathered before the grading: where that fails, it is noted."""
        if not step.verify.collect:
            return
        with self._phase(PhaseName.COLLECT, step) as phase:
            for n, hook in enumerate(step.verify.collect):
                try:
                    place = backends.service(environment, hook.service)
                    ran = place.run(hook.command, self.scene.log(f"collect-{n}.log", step))
                except (StoppedError, InfrastructureError):
                    raise
                except Fault as exc:
                    phase.error = f"collect: {exc}"
                    continue
                self._note(phase, ran)
                if ran.exit_code != 0:
                    how = "ran out of time" if ran.timed_out else f"ended with exit status {ran.exit_code}"
                    phase.error = f"collect: `{' '.join(hook.command.argv)}` {how}"

    def _verify(self, done: Outcome, verify: Verify, grader: Environment) -> None:
        began, split = time.monotonic(), verify.reader is not Reader.REWARD_FILE
        with self._phase(PhaseName.VERIFY, done.step) as phase:
            for check in verify.checks:
                left = max(verify.timeout - (time.monotonic() - began), 0.1)
                command = limited(check.command, left)
                ran = grader.run(command, self.scene.log(f"verify-{plain(check.id)}.log", done.step), split=split)
                done.ran.append((check, ran))
                self._note(phase, ran)
                if ran.timed_out:
                    phase.error = f"timeout: `{check.id}` took longer than {command.timeout:.0f} s"

    def _collect(self, done: Outcome, environment: Environment, grader: Environment) -> None:
        """Evidence only: what cannot be copied out changes no verdict, and neither does the wish to stop."""
        step = done.step
        with self._phase(PhaseName.COLLECT, step, stops=done.strict is None) as phase:
            for name, place in {"collected": environment, "collected-verifier": grader}.items():
                if name != "collected" and place is environment:
                    continue
                for path in outcome.worth_keeping(self.plan, step):
                    target = self.scene.log(name, step) / path.strip("/")
                    try:
                        if target.exists():
                            rmtree(target)  # an earlier trial's leavings are no evidence of this one
                        place.collect(path, target, EVIDENCE_LIMIT)
                    except (StoppedError, KeyboardInterrupt):
                        raise
                    except (Fault, OSError) as exc:
                        phase.error = f"collect: {exc}"

    def _remove(self, environment: Environment, step: Step | None = None) -> None:
        with self._phase(PhaseName.REMOVE, step, stops=False) as phase:
            environment.close()
            phase.error = getattr(environment, "problem", "")

    # Phases

    @contextmanager
    def _phase(self, name: PhaseName, step: Step | None = None, *, stops: bool = True) -> Iterator[Phase]:
        phase = Phase(name.value, step.name if step else "", datetime.now(UTC).isoformat(timespec="milliseconds"))
        self.record.phases.append(phase)
        began = time.monotonic()
        try:
            if stops and self.scene.stop is not None and self.scene.stop.is_set():
                raise StoppedError("interrupted")
            yield phase
        except BaseException as exc:
            phase.error = _typed(name, exc)
            raise
        finally:
            phase.duration = time.monotonic() - began
            self._tell(phase)

    def _tell(self, phase: Phase) -> None:
        self.redactor.record(phase)
        if self.on_phase is None:
            return
        try:
            self.on_phase(self.record, phase)
        except Exception as exc:
            phase.error = phase.error or f"{phase.name}: could not be recorded: {exc}"
            raise InfrastructureError(f"the phase {phase.name} could not be recorded: {exc}") from exc

    def _note(self, phase: Phase, ran: Ran) -> None:
        phase.exit_code = ran.exit_code
        phase.output = bounded(f"{phase.output}\n{ran.output}") if phase.output else ran.output
        phase.output_file = phase.output_file or (self._shown(ran.log) if ran.log else None)

    def _build_log(self) -> str | None:
        """What the last build said: where one fails, that is it."""
        logs = sorted(self.scene.folder.glob("build*.log"), key=lambda path: path.stat().st_mtime_ns)
        return self._shown(logs[-1]) if logs else None

    def _shown(self, path: Path) -> str | None:
        return path.relative_to(self.scene.folder).as_posix() if path.exists() else None


def _typed(name: PhaseName, error: BaseException) -> str:
    """A fault as the record has it: its type, then its text."""
    match error:
        case StoppedError() | KeyboardInterrupt():
            return "interrupted"
        case NotRunnableError():
            return f"not runnable: {error}"
        case FaultTimeoutError():
            return f"timeout: {error}"
        case GoneError():
            return f"environment ended: {error}"
        case InfrastructureError():  # the machine's, not the task's
            return f"infrastructure: {error}"
        case Fault():
            return f"{name.value}: {error}"
    return f"internal: {type(error).__name__}: {error}"
