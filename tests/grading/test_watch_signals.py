"""What a watch makes of outcomes: alerts when something has changed, and no more false ones than it says."""

import json
import random
from itertools import pairwise

import pytest

from scenlint.config import ConfigError
from scenlint.grading.watch.model import Change, Outcome, Signal
from scenlint.grading.watch.settings import WatchSettings
from scenlint.grading.watch.watcher import Watch

EVERY = 1000


def settings(**table) -> WatchSettings:
    return WatchSettings.of({"false-alarm-every": EVERY} | table)


def stream(rng: random.Random, count: int, *, fail=0.1, tools=0.05, overrides=0.03, retries=0.2, cost=1.0, drift=0.0):
    for n in range(count):
        yield Outcome(
            "refund",
            rng.random() >= fail,
            cost=cost * rng.lognormvariate(0, 0.4) * (1 + drift * n / count) * (50 if rng.random() < 0.02 else 1),
            tool_errors=(rng.random() < tools) * rng.randint(1, 9),
            overrides=int(rng.random() < overrides),
            retries=int(rng.random() < retries),
        )


def watched(watch: Watch, outcomes) -> list[Signal]:
    """The signals that alerts were raised for, in order."""
    watch.news.clear()
    for outcome in outcomes:
        watch.take(outcome)
    return [alert.signal for alert in watch.news if alert.change is Change.RAISED]


def test_what_is_learnt_raises_no_more_false_alarms_than_are_stated():
    rng = random.Random(11)
    seen, alarms = 0, dict.fromkeys(Signal, 0)
    for n in range(16):
        rates = {"fail": (0.02, 0.1, 0.3, 0.6)[n % 4], "tools": (0.05, 0.7)[n % 2], "retries": (0.01, 0.2, 0.4)[n % 3]}
        watch = Watch(settings())
        found = watched(watch, stream(rng, 5000, **rates))
        for signal in found:
            alarms[signal] += 1
        seen += watch.seen
        assert watch.false_alarms == pytest.approx(1000 * 5 / EVERY)
    # 80 are expected at the most of each signal, and 3 standard errors of a Poisson count are allowed.
    assert all(count <= seen / EVERY + 3 * (seen / EVERY) ** 0.5 for count in alarms.values()), alarms
    assert alarms[Signal.COST] > 0  # the bound is no empty one


def test_with_a_stated_rate_false_alarms_come_as_stated_and_end():
    rng = random.Random(5)
    watch = Watch(settings(types={"*": {"success": {"usual": 0.9, "alert": 0.75}}}))
    seen = 150_000
    for _ in range(seen):
        watch.take(Outcome("refund", rng.random() >= 0.1))
    changes = [a.change for a in watch.news]
    raised = changes.count(Change.RAISED)
    # A little rarer than the chart's own run length, since an alert has to end before the next one.
    assert 0.7 * seen / EVERY < raised <= 1.1 * seen / EVERY
    assert all(a is not b for a, b in pairwise(changes))


@pytest.mark.parametrize(
    ("change", "signal"),
    [
        ({"fail": 0.35}, Signal.SUCCESS),
        ({"tools": 0.3}, Signal.TOOL_ERRORS),
        ({"overrides": 0.2}, Signal.OVERRIDES),
        ({"retries": 0.5}, Signal.RETRIES),
        ({"drift": 1.0}, Signal.COST),
    ],
)
def test_each_change_is_seen_once_by_its_own_signal_and_ends(change, signal):
    rng = random.Random(2)
    watch = Watch(WatchSettings())
    assert watched(watch, stream(rng, 1000)) == []
    assert watched(watch, stream(rng, 400, **change)) == [signal]
    assert [key[1] for key in watch.raised] == [signal]
    level = 1 + change.get("drift", 0)
    watched(watch, stream(rng, 1500, cost=level))
    assert watch.raised == {}
    assert (watch.news[0].change, watch.news[0].signal) == (Change.ENDED, signal)


def test_a_threshold_is_looked_for_from_the_first_outcome():
    watch = Watch(settings(types={"refund": {"success": {"usual": 0.95, "alert": 0.6}}}))
    found = watched(watch, stream(random.Random(1), 30, fail=0.7))
    assert found == [Signal.SUCCESS]
    assert "95 % expected" in watch.news[0].text


def test_what_stays_on_the_right_side_of_a_threshold_raises_none_although_it_is_close():
    watch = Watch(WatchSettings.of({"types": {"*": {"success": {"alert": 0.8}}}}))
    assert Signal.SUCCESS not in watched(watch, stream(random.Random(3), 3000, fail=0.19))
    assert Signal.SUCCESS in watched(watch, stream(random.Random(4), 500, fail=0.45))


def test_where_most_outcomes_have_tool_errors_more_than_usual_is_what_tells():
    rng = random.Random(8)

    def outcome(most: int) -> Outcome:
        return Outcome("crawl", None, tool_errors=rng.randint(1, most))

    watch = Watch(settings())
    assert watched(watch, (outcome(6) for _ in range(600))) == []
    assert watched(watch, (outcome(14) for _ in range(200))) == [Signal.TOOL_ERRORS]
    assert "had more than 4" in watch.news[0].text


def test_a_changed_mix_of_types_is_no_climb_of_costs():
    rng = random.Random(6)
    watch = Watch(WatchSettings())
    for n in range(4000):
        dear = rng.random() < n / 4000
        watch.take(Outcome("dear" if dear else "cheap", True, cost=(9 if dear else 1) * rng.lognormvariate(0, 0.3)))
    assert watch.news == []


def test_a_climb_that_is_too_small_to_matter_raises_none():
    watch = Watch(settings(**{"cost-rise": 0.5}))
    for n in range(200):
        watch.take(Outcome("a", True, cost=1 + n / 1000))
    assert watch.news == []


def test_what_is_not_known_counts_for_nothing():
    watch = Watch(settings())
    for _ in range(500):
        watch.take(Outcome("a", None))
    assert list(watch.types["a"].signals()) == []
    assert watch.false_alarms == 0


def test_a_type_that_always_fails_cannot_get_worse_and_raises_none():
    watch = Watch(settings())
    assert watched(watch, (Outcome("a", False) for _ in range(500))) == []
    assert watched(watch, (Outcome("a", True) for _ in range(200))) == []
    assert watched(watch, (Outcome("a", False) for _ in range(20))) == [Signal.SUCCESS]


def test_it_goes_on_from_its_state_as_if_it_had_not_stopped():
    outcomes = [*stream(random.Random(2), 800), *stream(random.Random(3), 200, fail=0.4)]
    whole, parts = Watch(settings()), Watch(settings())
    told = []
    for n, outcome in enumerate(outcomes):
        whole.take(outcome)
        parts.take(outcome)
        if n % 37 == 0:
            told += parts.news
            parts = Watch.load(parts.settings, json.loads(json.dumps(parts.state())))
    assert [*told, *parts.news] == whole.news
    assert Signal.SUCCESS in [alert.signal for alert in whole.news]
    assert parts.raised == whole.raised


def test_other_settings_begin_the_chart_anew_and_keep_what_was_learnt():
    watch = Watch(WatchSettings())
    watched(watch, [*stream(random.Random(2), 800), *stream(random.Random(3), 200, fail=0.4)])
    assert ("refund", Signal.SUCCESS) in watch.raised
    accepted = WatchSettings.of({"types": {"refund": {"success": {"usual": 0.6}}}})
    again = Watch.load(accepted, watch.state())
    assert again.raised == {}
    assert watched(again, stream(random.Random(9), 1000, fail=0.4)) == []
    assert again.types["refund"].rates[Signal.RETRIES].learnt == watch.types["refund"].rates[Signal.RETRIES].learnt


def test_a_state_of_another_version_is_refused():
    with pytest.raises(ValueError, match="version 99"):
        Watch.load(settings(), {"version": 99})


def test_names_made_up_for_every_task_do_not_fill_the_memory():
    watch = Watch(settings())
    for n in range(600):
        watch.take(Outcome(f"task-{n}", True))
    assert (len(watch.types), watch.not_watched) == (500, 100)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"types": {"a": {"success": {"usual": 0.8, "alert": 0.9}}}}, "has to be below"),
        ({"types": {"a": {"retries": {"usual": 0.2, "alert": 0.1}}}}, "has to be above"),
        ({"webhook": {"timeout": 3}}, "needs `url`"),
        ({"webhook": {"url": "https://a.example", "url-env": "B"}}, "needs `url`"),
        ({"webhook": {"url": "https://a.example", "header": "X-Key"}}, "go together"),
        ({"webhook": {"url": "ftp://a.example"}}, "begin with https://"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(table, said):
    with pytest.raises(ConfigError, match=said):
        settings(**table)
