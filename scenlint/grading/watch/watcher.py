"""Takes in outcomes, gives alerts, and keeps what it needs to go on from where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from scenlint.grading.watch.model import RATES, Alert, Change, Outcome, Signal
from scenlint.grading.watch.settings import WatchSettings
from scenlint.grading.watch.signals import CostSignal, RateSignal

VERSION = 1
MOST_TYPES = 500  # that are watched: a name that is made up anew for every task is no type


@dataclass
class TypeWatch:
    """All signals of one type of task."""

    rates: dict[Signal, RateSignal]
    cost: CostSignal
    seen: int = 0

    def signals(self) -> Iterator[tuple[Signal, RateSignal | CostSignal]]:
        """Those in which something was seen."""
        every: dict[Signal, RateSignal | CostSignal] = {**self.rates, Signal.COST: self.cost}
        yield from ((name, signal) for name, signal in every.items() if signal.seen)


@dataclass
class Watch:
    """What is known of a stream. `raised` are the alerts that are open; `news` is for the caller to empty."""

    settings: WatchSettings
    types: dict[str, TypeWatch] = field(default_factory=dict)
    raised: dict[tuple[str, Signal], Alert] = field(default_factory=dict)
    news: list[Alert] = field(default_factory=list)
    seen: int = 0
    first: str = ""  # when outcomes were, ISO 8601
    last: str = ""
    not_watched: int = 0  # outcomes of types beyond the most

    def take(self, outcome: Outcome) -> None:
        """Take in an outcome: in the order of the stream, whatever its time."""
        self.seen += 1
        if outcome.time:
            self.first = min(self.first or outcome.time, outcome.time)
            self.last = max(self.last, outcome.time)
        watch = self.types.get(outcome.task_type)
        if watch is None:
            if len(self.types) >= MOST_TYPES:
                self.not_watched += 1
                return
            watch = self.types[outcome.task_type] = self._type(outcome.task_type, {})
        watch.seen += 1
        failed = None if outcome.success is None else int(not outcome.success)
        counts = (failed, outcome.tool_errors, outcome.overrides, outcome.retries)
        for name, count in zip(RATES, counts, strict=True):
            if count is not None and (change := watch.rates[name].take(count)):
                self._tell(outcome, watch, name, change)
        if outcome.cost is not None and (change := watch.cost.take(outcome.cost)):
            self._tell(outcome, watch, Signal.COST, change)

    def forget(self, task_type: str) -> bool:
        """Learn a type of task anew, without its alerts; whether there was one of this name."""
        for key in [key for key in self.raised if key[0] == task_type]:
            del self.raised[key]
        return self.types.pop(task_type, None) is not None

    @property
    def false_alarms(self) -> float:
        """False alarms to be expected at the most in 1,000 outcomes, over all signals that are watched."""
        # Each outcome is taken in by the signals of its own type only.
        most = max((sum(1 for _ in t.signals()) for t in self.types.values()), default=0)
        return 1000 * most / self.settings.every

    def _type(self, name: str, state: Mapping[str, Any]) -> TypeWatch:
        s = self.settings
        rates: dict[Signal, RateSignal] = {
            signal: RateSignal(s.expected(name, signal), s.every, s.learn, state.get(signal.value)) for signal in RATES
        }
        return TypeWatch(rates, CostSignal(s.every, s.cost_rise, state.get(Signal.COST.value)), state.get("seen", 0))

    def _tell(self, outcome: Outcome, watch: TypeWatch, name: Signal, change: Change) -> None:
        signal = watch.cost if name is Signal.COST else watch.rates[name]
        text = _words(name, signal, change)
        alert = Alert(change, name, outcome.task_type, watch.seen, outcome.time, text)
        self.news.append(alert)
        key = (outcome.task_type, name)
        if change is Change.RAISED:
            self.raised[key] = alert
        else:
            self.raised.pop(key, None)

    # What is kept between runs

    def state(self) -> dict[str, Any]:
        """Plain JSON values, from which `load` goes on."""
        types = {
            name: {"seen": t.seen, Signal.COST.value: t.cost.state()} | {s.value: r.state() for s, r in t.rates.items()}
            for name, t in self.types.items()
        }
        return {
            "version": VERSION,
            **{key: getattr(self, key) for key in ("seen", "first", "last", "not_watched")},
            "types": types,
            "raised": [asdict(a) for a in self.raised.values()],
        }

    @classmethod
    def load(cls, settings: WatchSettings, state: Mapping[str, Any]) -> Watch:
        """The watch of a state, under settings that may be others by now; ValueError for a state of another version."""
        if state.get("version") != VERSION:
            raise ValueError(f"a state of version {state.get('version')}; this scenlint reads version {VERSION}")
        out = cls(settings, **{key: state[key] for key in ("seen", "first", "last", "not_watched")})
        out.types = {name: out._type(name, told) for name, told in state["types"].items()}
        raised = (alert_of(data) for data in state["raised"])
        # An alert of a chart that is begun anew under other settings is none any more.
        out.raised = {(a.task_type, a.signal): a for a in raised if out._open(a)}
        return out

    def _open(self, alert: Alert) -> bool:
        watch = self.types.get(alert.task_type)
        return watch is not None and any(name is alert.signal and signal.open for name, signal in watch.signals())


def alert_of(data: Mapping[str, Any]) -> Alert:
    """The alert of `asdict`."""
    return Alert(**{**data, "change": Change(data["change"]), "signal": Signal(data["signal"])})


def percent(rate: float) -> str:
    """A rate in words: `8 %`, and `0.4 %` below one."""
    return f"{100 * rate:.1f} %" if 0 < rate < 0.01 else f"{100 * rate:.0f} %"


_RAISED = {
    Signal.SUCCESS: "the success rate has fallen",
    Signal.TOOL_ERRORS: "tool errors have become more frequent",
    Signal.OVERRIDES: "people override more often",
    Signal.RETRIES: "retries have become more frequent",
    Signal.COST: "the cost of a task climbs",
}
_ENDED = {
    Signal.SUCCESS: "the success rate is back",
    Signal.TOOL_ERRORS: "tool errors are as rare as before",
    Signal.OVERRIDES: "people override as rarely as before",
    Signal.RETRIES: "retries are as rare as before",
    Signal.COST: "the cost of a task climbs no more",
}


def _words(name: Signal, signal: RateSignal | CostSignal, change: Change) -> str:
    told = (_RAISED if change is Change.RAISED else _ENDED)[name]
    if isinstance(signal, CostSignal):
        now = f"median ${signal.typical:.4g} in the last {len(signal.costs)}"
        return f"{told}: {now}" + (f", {percent(signal.climbed)} up over these" if change is Change.RAISED else "")
    if change is Change.RAISED:  # since about when it changed
        count, rate = signal.run, signal.hits / signal.run
    else:
        count, rate = len(signal.recent), signal.recent.count("1") / len(signal.recent)
    if name is Signal.SUCCESS:
        return f"{told}: {percent(1 - rate)} of the last {count}, {percent(1 - signal.usual)} expected"
    what = "" if signal.level == 0 else f" had more than {signal.level}"
    return f"{told}: {percent(rate)} of the last {count}{what}, {percent(signal.usual)} expected"
