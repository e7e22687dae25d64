"""The driver's end of a cluster: hands trials to its workers, and again to others where one is lost."""

from __future__ import annotations

import logging
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from pathlib import Path
from typing import Any

import scenlint
from scenlint.harness import outcome
from scenlint.harness import trial as trials
from scenlint.harness.agents import Agent
from scenlint.harness.cluster import ClusterError, errand
from scenlint.harness.cluster.parcel import Parcel, unpacked
from scenlint.harness.engine import Options
from scenlint.harness.environment import InfrastructureError, StoppedError
from scenlint.harness.scene import Scene, plain
from scenlint.task.plan import Container, NotRunnableError, RunPlan
from scenlint.task.record import TrialRecord

ATTEMPTS = 5  # times that a trial is handed out before its loss counts as a fault of the cluster
PATIENCE = 300.0  # seconds that a scheduler may be away, or that may pass until there is a worker
BEAT = 10.0  # seconds between two words to the workers, who stop after errand.SILENCE without one
_REPLY = 30.0  # seconds that the scheduler may take for one answer
_FIRST = 10.0  # and for the first one


class Cluster:
    """A Dask cluster for one run. Its methods may be called from many threads; `close` ends it everywhere."""

    def __init__(self, address: str, run: str, note: Callable[[str], None] = lambda text: None) -> None:
        try:
            import distributed
        except ModuleNotFoundError as exc:
            raise ClusterError(f"{exc.name} is not installed; pip install 'scenlint[dask]'") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is said in our words
        warnings.filterwarnings("ignore", message="Sending large graph")
        self.address, self.name, self.note = address, run, note
        self._client: Any = None
        self._make: Callable[..., Any] = distributed.Client
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._stopping = False
        self._engine = False  # whether a trial of the run needs one
        try:
            self._connect(_FIRST)
            self._wait_for_workers()
        except InfrastructureError as exc:
            raise ClusterError(str(exc)) from exc
        threading.Thread(target=self._beat, name="scenlint-beat", daemon=True).start()

    # What it offers

    @property
    def slots(self) -> int:
        """Trials that its workers run at once."""
        return max(1, sum(int(worker["nthreads"]) for worker in self._workers().values()))

    def run(
        self,
        plan: RunPlan,
        agent: Agent,
        folder: Path,
        *,
        options: Options,
        on_phase: trials.OnPhase | None = None,
        stop: threading.Event | None = None,
        trial: str,
    ) -> TrialRecord:
        """`trial.run`, on a worker: phases are told of once the trial has ended. What cannot be sent is run here."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            parcel = Parcel(plan, agent, options)
        except (pickle.PicklingError, AttributeError, TypeError):  # two trials that meet, say
            return trials.run(plan, agent, folder, options=options, on_phase=on_phase, stop=stop, trial=trial)
        except (NotRunnableError, OSError) as exc:
            return self._failed(plan, agent, folder, options, trial, exc)
        try:
            record, archive = self._done(parcel, self._needs(plan), stop or threading.Event(), plain(trial))
            unpacked(archive, folder)
        except Exception as exc:
            return self._failed(plan, agent, folder, options, trial, exc)
        if on_phase is not None:
            for phase in record.phases:
                on_phase(record, phase)
        return record

    def _failed(
        self, plan: RunPlan, agent: Agent, folder: Path, options: Options, trial: str, why: Exception
    ) -> TrialRecord:
        record = outcome.blank(Scene(plan, plain(trial), folder, options), agent.name)
        outcome.conclude(record, plan, [], why)
        return record

    def _done(
        self, parcel: Parcel, needs: dict[str, float], stop: threading.Event, trial: str
    ) -> tuple[TrialRecord, bytes]:
        """The record of a trial, and the archive of its folder; handed out again where it is lost."""
        for attempt in range(1, ATTEMPTS + 1):
            client = self._connect(PATIENCE)
            try:
                future = client.submit(
                    errand.perform,
                    *(parcel, self.name, trial, "engine" in needs),
                    key=f"scenlint-{self.name}-{trial}-{attempt}",
                    resources=needs,
                    pure=False,
                )
                values, archive = self._result(client, future, stop)
                return TrialRecord.from_json(values), archive
            except _lost() as exc:
                if stop.is_set():
                    raise StoppedError("interrupted") from exc
                self.note(f"{trial}: its worker or the scheduler was lost ({type(exc).__name__}); it is run again")
            finally:
                with suppress(Exception):
                    future.release()
        raise InfrastructureError(f"the cluster lost the trial {ATTEMPTS} times")

    def _result(self, client: Any, future: Any, stop: threading.Event) -> tuple[Mapping[str, Any], bytes]:
        """What the errand gave back. Once `stop` is set, the workers are told, and what waits is taken back."""
        told = 0.0
        while True:
            try:
                return future.result(timeout=0.5)  # type: ignore[no-any-return]
            except (FutureTimeoutError, TimeoutError):
                if future.done():
                    raise
            if client is not self._client or client.status == "closed":
                raise ConnectionError("the scheduler is gone")
            if stop.is_set():
                self._stop()
                told = told or time.monotonic()
                if not _running(client, future):
                    future.cancel()
                    raise StoppedError("interrupted")
                if time.monotonic() - told > errand.SILENCE:
                    raise StoppedError("interrupted; its worker does not answer")

    def close(self) -> list[str]:
        """End the run on every worker; what could not be removed, in words."""
        self._over.set()
        failed: list[str] = []
        with suppress(Exception):
            for said in self._tell(errand.finish, self.name, self._engine).values():
                failed += said
        with suppress(Exception):
            self._client.close(timeout=5)
        return failed

    # The connection

    def _connect(self, patience: float) -> Any:
        """The client, connected anew where that is needed. InfrastructureError once patience has ended."""
        with self._lock:
            deadline = time.monotonic() + patience
            while self._client is None or self._client.status != "running":
                if self._client is None or self._client.status in ("closed", "closing"):
                    self._client = None
                    try:
                        self._client = self._make(self.address, timeout=min(_REPLY, patience), set_as_default=False)
                        continue
                    except (OSError, ValueError) as exc:
                        if isinstance(exc, ValueError) or time.monotonic() > deadline or self._over.is_set():
                            raise InfrastructureError(f"no scheduler answers at `{self.address}`: {exc}") from exc
                if time.monotonic() > deadline:
                    raise InfrastructureError(f"no scheduler answers at `{self.address}`")
                time.sleep(0.2)
            return self._client

    def _workers(self) -> dict[str, Any]:
        return dict(self._connect(PATIENCE).scheduler_info(n_workers=-1)["workers"])

    def _wait_for_workers(self) -> None:
        deadline = time.monotonic() + PATIENCE
        if not self._workers():
            self.note(f"waiting for a worker of {self.address}")
        while not self._workers():
            if time.monotonic() > deadline:
                raise InfrastructureError(f"the scheduler at `{self.address}` has no worker")
            time.sleep(0.5)
        try:
            told = self._tell(errand.about)
        except ModuleNotFoundError as exc:
            raise ClusterError(f"scenlint is not installed on every worker: {exc}") from exc
        for worker, said in told.items():
            if said["scenlint"] != scenlint.__version__:
                raise ClusterError(
                    f"the worker {worker} has scenlint {said['scenlint']}, and this is {scenlint.__version__}"
                )

    def _needs(self, plan: RunPlan) -> dict[str, float]:
        """The resources of a worker that a trial takes up."""
        if plan.container is None and plan.compose is None and not plan.apps:
            return {}
        offered = [worker["resources"] for worker in self._workers().values()]
        if not any("engine" in resources for resources in offered):
            raise NotRunnableError(
                "no worker of the cluster has a container engine to offer: start those that have one with "
                '`dask worker --resources "engine=1"`'
            )
        self._engine = True
        out = {"engine": 1.0}
        if any("memory" in resources for resources in offered):
            out["memory"] = _memory(plan)
        return out

    def _tell(self, function: Callable[..., Any], *arguments: object) -> dict[str, Any]:
        """Call a function on every worker at once, beside the trials that run there."""
        answers: dict[str, Any] = self._connect(_REPLY).run(function, *arguments)
        return answers

    def _stop(self) -> None:
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
        with suppress(Exception):
            self._tell(errand.stop, self.name)

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            with suppress(Exception):  # a lost connection is found by whoever waits for a trial
                self._tell(errand.hear, self.name)


def _lost() -> tuple[type[BaseException], ...]:
    """What tells that a worker or the scheduler went away, not what came of the trial."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return CancelledError, KilledWorker, CommClosedError, OSError


def _running(client: Any, future: Any) -> bool:
    """Whether a worker has begun with it."""
    with suppress(Exception):
        return any(future.key in keys for keys in client.processing().values())
    return True


def _memory(plan: RunPlan) -> float:
    from scenlint.harness.engine import DEFAULT_LIMITS

    containers: list[Container | None] = [plan.container, plan.compose.container if plan.compose else None]
    stated = [c.limits.memory_mb for c in containers if c is not None and c.limits.memory_mb]
    return float(max(stated, default=DEFAULT_LIMITS.memory_mb or 0))
