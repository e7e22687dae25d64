"""The table [watch] of the configuration as values: expected rates, thresholds, names of fields, where alerts go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenlint.config import ConfigError
from scenlint.grading.watch.model import RATES, Signal

FIELDS = ("time", "task_type", "success", "cost", "tool_errors", "overrides", "retries")
ANY = "*"  # in [watch.types]: every type that has no table of its own


@dataclass(frozen=True)
class Expected:
    """Shares of outcomes in which the signal's event happens: as usual, and at which an alert is wanted."""

    usual: float | None = None  # None: is learnt
    alert: float | None = None  # None: twice the usual odds


@dataclass(frozen=True)
class Webhook:
    """Where alerts are sent. What is secret stands in variables of the environment, whose names are given here."""

    url: str = ""
    url_env: str = ""
    header: str = ""
    secret_env: str = ""
    timeout: float = 10.0  # seconds


@dataclass(frozen=True)
class WatchSettings:
    """What `scenlint watch` works by."""

    every: int = 10_000  # outcomes of a type between two false alarms of one signal, on average, at the least
    learn: int = 100  # outcomes of a type from which usual rates are learnt
    cost_rise: float = 0.1  # the smallest rise of costs that is worth an alert: 0.1 is 10 %
    types: Mapping[str, Mapping[Signal, Expected]] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)  # our name -> the stream's
    webhook: Webhook | None = None

    def expected(self, task_type: str, signal: Signal) -> Expected:
        """What is stated of a signal of a type of task; by the type's own table before the one for all types."""
        for name in (task_type, ANY):
            if found := self.types.get(name, {}).get(signal):
                return found
        return Expected()

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> WatchSettings:
        """The settings of a table that the schema has passed; ConfigError for values that contradict each other."""
        told = table.get("webhook")
        return cls(
            every=table.get("false-alarm-every", cls.every),
            learn=table.get("learn", cls.learn),
            cost_rise=table.get("cost-rise", cls.cost_rise),
            types={name: dict(_expected(name, rates)) for name, rates in table.get("types", {}).items()},
            fields={k.replace("-", "_"): v for k, v in table.get("fields", {}).items()},
            webhook=_webhook(told) if told else None,
        )


def _expected(name: str, rates: Mapping[str, Any]) -> Iterator[tuple[Signal, Expected]]:
    for signal in RATES:
        if signal not in rates:
            continue
        usual, alert = rates[signal].get("usual"), rates[signal].get("alert")
        if signal is Signal.SUCCESS:  # is told as the rate of successes, and watched as that of failures
            usual, alert = (None if rate is None else 1 - rate for rate in (usual, alert))
        if usual is not None and alert is not None and alert <= usual:
            wrong = "below" if signal is Signal.SUCCESS else "above"
            raise ConfigError(f"`watch.types.{name}.{signal}`: `alert` has to be {wrong} `usual`")
        yield signal, Expected(usual, alert)


def _webhook(table: Mapping[str, Any]) -> Webhook:
    if bool(table.get("url")) == bool(table.get("url-env")):
        raise ConfigError("`watch.webhook` needs `url`, or `url-env` with the name of a variable that holds it")
    if bool(table.get("header")) != bool(table.get("secret-env")):
        raise ConfigError("`watch.webhook`: `header` and `secret-env` (the variable that holds its value) go together")
    if (url := table.get("url", "")) and not url.startswith(("https://", "http://")):
        raise ConfigError("`watch.webhook.url` has to begin with https:// or http://")
    return Webhook(**{key.replace("-", "_"): value for key, value in table.items()})
