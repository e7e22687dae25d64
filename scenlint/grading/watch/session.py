"""Looks at a stream: takes in what is new, keeps the state, and sends alerts until the other side has them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event

from scenlint.grading.watch.model import Alert
from scenlint.grading.watch.settings import WatchSettings
from scenlint.grading.watch.sources import File, Source, Trials
from scenlint.grading.watch.store import Store, WatchError
from scenlint.grading.watch.watcher import Watch, alert_of
from scenlint.grading.watch.webhook import deliver
from scenlint.harness.ledger import Ledger

_MOST_WAITING = 1000  # alerts that are kept while they cannot be delivered
_AGAIN = 60.0  # seconds between two tries while a stream is followed


@dataclass
class Look:
    """What one look at the stream came to."""

    new: int  # outcomes
    alerts: list[Alert] = field(default_factory=list)  # raised or ended
    notes: list[str] = field(default_factory=list)
    fault: str = ""  # why alerts could not be delivered
    waiting: int = 0  # alerts that are yet to be delivered


class Session:
    """Watches one stream. Its store must be held."""

    def __init__(self, settings: WatchSettings, store: Store, stream: Path | None, ledger: Ledger | None) -> None:
        self.settings, self.store = settings, store
        state = store.load()
        place = state.get("place", {})
        try:
            self.watch = Watch.load(settings, state["watch"]) if state else Watch(settings)
            self.source: Source = File(stream, settings.fields, place) if stream else Trials(_some(ledger), place)
            self._waiting = [alert_of(data) for data in state.get("waiting", ())]
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise WatchError(f"`{store.path}` is no state of this scenlint ({exc}); delete it to begin anew") from None
        self._tried = -_AGAIN

    def look(self) -> Look:
        """Take in what is new. OSError, LedgerError or WatchError where the stream cannot be read or is none."""
        watch, before = self.watch, self.watch.seen
        for outcome in self.source.new():
            watch.take(outcome)
        out = Look(watch.seen - before, list(watch.news), list(self.source.notes))
        watch.news.clear()
        if not watch.seen and out.notes:
            # Nothing is kept, so that all of it is read again when the names are right.
            raise WatchError(f"nothing of `{self.source.name}` is an outcome ({'; '.join(out.notes)}); {_NAMES}")
        if watch.not_watched:
            out.notes.append(f"{watch.not_watched:,} outcomes are of more types than are watched ({len(watch.types)})")
        if self.settings.webhook:
            self._waiting = [*self._waiting, *out.alerts][-_MOST_WAITING:]
        if out.new or out.alerts or not self.store.path.exists():
            self.save()
        out.fault = self._deliver()
        out.waiting = len(self._waiting)
        return out

    def save(self) -> None:
        """Keep all that the next look needs."""
        waiting = [asdict(alert) for alert in self._waiting]
        self.store.save({"place": self.source.state(), "watch": self.watch.state(), "waiting": waiting})

    def follow(self, interval: float, stop: Event) -> Iterator[Look]:
        """Looks, again and again, until `stop` is set. A file that is not there yet, or no more, is waited for."""
        missing = False
        while not stop.is_set():
            try:
                yield self.look()
                missing = False
            except FileNotFoundError:
                if not missing:
                    yield Look(0, notes=[f"`{self.source.name}` is not there; it is waited for"])
                missing = True
            stop.wait(interval)

    def _deliver(self) -> str:
        hook = self.settings.webhook
        if hook is None or not self._waiting or time.monotonic() - self._tried < _AGAIN:
            return ""
        # Saved before and after: what was sent is sent again only if this process dies in between.
        if fault := deliver(hook, self._waiting, self.source.name):
            self._tried = time.monotonic()
            return fault
        self._tried = -_AGAIN
        self._waiting = []
        self.save()
        return ""


_NAMES = "[watch.fields] in scenlint.toml says by which names a stream has time, task-type, success, cost …"


def _some(ledger: Ledger | None) -> Ledger:
    assert ledger is not None
    return ledger
