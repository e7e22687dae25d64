"""Streams of outcomes: lines of two forms, files that grow, are rotated and truncated, and the ledger."""

import json

import pytest

from scenlint.grading.watch.model import Outcome
from scenlint.grading.watch.read import Reader
from scenlint.grading.watch.sources import File, Trials
from scenlint.grading.watch.tail import LONGEST
from scenlint.harness.ledger import Ledger, Wanted
from scenlint.task.record import Experiment, FailureClass, Status


def read(line, **fields) -> list[Outcome]:
    reader = Reader(fields)
    found = reader.outcomes(line if isinstance(line, bytes) else json.dumps(line).encode())
    assert not reader.unreadable, reader.first_fault
    return found


def test_a_line_of_json_is_an_outcome():
    line = {
        "time": "2026-11-01T10:00:00+02:00",
        "task_type": "refund",
        "success": True,
        "cost": 0.25,
        "tool_errors": 2,
        "overrides": True,
        "retries": 0,
        "other": [1],
    }
    assert read(line) == [Outcome("refund", True, "2026-11-01T08:00:00+00:00", 0.25, 2, 1, 0)]
    assert read({"task_type": 7, "success": None}) == [Outcome("7", None)]
    assert read(b"  \n") == []


@pytest.mark.parametrize(
    ("told", "success"), [("passed", True), ("FAIL", False), (1, True), (0.0, False), ("ok", True)]
)
def test_success_is_said_in_many_words(told, success):
    assert read({"task_type": "a", "success": told})[0].success is success


@pytest.mark.parametrize("time", [1_793_520_000, 1_793_520_000_000, "1793520000000000000", "2026-11-01T08:00:00Z"])
def test_times_come_in_seconds_milli_and_nanoseconds(time):
    assert read({"task_type": "a", "success": 1, "time": time})[0].time == "2026-11-01T08:00:00+00:00"


def test_other_names_and_values_further_inside():
    line = {"task": {"kind": "refund"}, "result.ok": "no", "usd": "0.5"}
    fields = {"task_type": "task.kind", "success": "result.ok", "cost": "usd"}
    assert read(line, **fields) == [Outcome("refund", False, cost=0.5)]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[" * 100_000,
        b"[1]",
        b"\xff\xfe",
        {"success": True},
        {"task_type": " ", "success": True},
        {"task_type": True, "success": True},
        {"task_type": "a", "success": "perhaps"},
        {"task_type": "a", "success": True, "cost": -1},
        {"task_type": "a", "success": True, "cost": "NaN"},
        {"task_type": "a", "success": True, "retries": 0.5},
        {"task_type": "a", "success": True, "time": "yesterday"},
        {"task_type": "a", "success": True, "time": 1e300},
        {"task_type": "a", "success": True, "retries": 10**400},
    ],
)
def test_what_is_no_outcome_is_counted_and_ends_nothing(line):
    reader = Reader({})
    assert reader.outcomes(line if isinstance(line, bytes) else json.dumps(line).encode()) == []
    assert (reader.unreadable, reader.first_fault[:3]) == (1, "it ") or reader.first_fault.startswith("its ")


def attributes(**values):
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {"key": key.replace("__", "."), "value": {kinds[type(v)]: str(v) if type(v) is int else v}}
        for key, v in values.items()
    ]


SPANS = {
    "resourceSpans": [
        {
            "resource": {"attributes": attributes(service__name="booking-agent")},
            "scopeSpans": [
                {
                    "scope": {"name": "agents"},
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "invoke_agent booking",
                            "startTimeUnixNano": "1793519990000000000",
                            "endTimeUnixNano": "1793520000000000000",
                            "attributes": attributes(task__kind="booking", tools__failed=3, cost__usd=0.75),
                            "status": {"code": 2, "message": "no seat"},
                        },
                        {"spanId": "eee19b7ec3c1b175", "name": "execute_tool search", "endTimeUnixNano": "1"},
                        {
                            "spanId": "eee19b7ec3c1b176",
                            "name": "invoke_agent booking",
                            "endTimeUnixNano": 1793520000000000000,
                            "attributes": attributes(task__kind="booking"),
                        },
                    ],
                }
            ],
        }
    ]
}


def test_a_span_is_an_outcome_by_its_attributes_and_status():
    reader = Reader({"task_type": "task.kind", "success": "span.ok", "cost": "cost.usd", "tool_errors": "tools.failed"})
    found = reader.outcomes(json.dumps(SPANS).encode())
    when = "2026-11-01T08:00:00+00:00"
    assert found == [Outcome("booking", False, when, 0.75, 3), Outcome("booking", True, when)]
    assert (reader.others, reader.unreadable) == (1, 0)
    by_service = Reader({"task_type": "service.name", "success": "span.ok"})
    assert {o.task_type for o in by_service.outcomes(json.dumps(SPANS).encode())} == {"booking-agent"}


def test_a_log_record_is_an_outcome_and_a_bad_one_costs_only_itself():
    def record(label: str) -> dict:
        told = attributes(gen_ai__agent__name="refunds", gen_ai__evaluation__score__label=label)
        return {"timeUnixNano": "1793520000000000000", "eventName": "gen_ai.evaluation.result", "attributes": told}

    records = [record("pass"), record("perhaps"), record("fail"), {"body": {"stringValue": "hello"}}, None]
    line = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    reader = Reader({"task_type": "gen_ai.agent.name", "success": "gen_ai.evaluation.score.label"})
    assert [o.success for o in reader.outcomes(json.dumps(line).encode())] == [True, False]
    assert (reader.others, reader.unreadable) == (1, 1)


def test_without_mapping_attributes_begin_with_scenlint():
    told = attributes(scenlint__task_type="a", scenlint__success=True, scenlint__cost=1.5)
    line = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": told}]}]}]}
    assert read(line) == [Outcome("a", True, cost=1.5)]


# ---------------------------------------------------------------- files


class Growing:
    """A stream's file, and a watch's place in it, which is kept as JSON between two looks."""

    def __init__(self, path) -> None:
        self.path, self.state, self.notes, self.number = path, {}, [], 0

    def write(self, count: int, path=None) -> None:
        with (path or self.path).open("a") as file:
            for _ in range(count):
                self.number += 1
                file.write(json.dumps({"task_type": f"t{self.number}", "success": True}) + "\n")

    def new(self) -> list[int]:
        source = File(self.path, {}, self.state)
        found = [int(o.task_type[1:]) for o in source.new()]
        self.state, self.notes = json.loads(json.dumps(source.state())), source.notes
        return found


@pytest.fixture
def growing(tmp_path) -> Growing:
    return Growing(tmp_path / "outcomes.jsonl")


def test_only_whole_new_lines_are_read(growing):
    growing.write(3)
    assert growing.new() == [1, 2, 3]
    assert growing.new() == []
    with growing.path.open("a") as file:
        file.write('{"task_type": "t4", ')
    assert growing.new() == []
    with growing.path.open("a") as file:
        file.write('"success": true}\n')
    growing.write(0)
    assert growing.new() == [4]


def test_more_than_one_block_is_read(growing):
    growing.write(40_000)
    assert growing.new() == list(range(1, 40_001))


@pytest.mark.parametrize("name", ["outcomes.jsonl.1", "outcomes.jsonl-20261101", "outcomes-2026-11-01.jsonl"])
def test_the_rest_of_a_rotated_file_comes_first(growing, name):
    growing.write(3)
    assert growing.new() == [1, 2, 3]
    growing.write(2)
    rotated = growing.path.with_name(name)
    growing.path.rename(rotated)
    assert growing.new() == [4, 5]
    growing.write(1, rotated)  # its writer still has it open
    growing.write(2)
    growing.write(1, growing.path.with_name("outcomes.jsonl.bak"))
    assert growing.new() == [6, 7, 8]
    assert name in growing.notes[0]
    growing.write(1)
    assert growing.new() == [10]
    assert growing.notes == []


def test_two_rotations_between_two_looks(growing):
    growing.write(2)
    growing.new()
    growing.write(1)
    growing.path.rename(growing.path.with_name("outcomes.jsonl.2"))
    growing.write(2)
    growing.path.rename(growing.path.with_name("outcomes.jsonl.1"))
    growing.write(1)
    assert growing.new() == [3, 4, 5, 6]


def test_a_file_that_is_copied_away_and_truncated(growing):
    growing.write(3)
    growing.new()
    growing.write(2)
    growing.path.with_name("outcomes.jsonl.1").write_bytes(growing.path.read_bytes())
    growing.path.write_bytes(b"")
    growing.write(9)  # longer than before
    assert growing.new() == [4, 5, *range(6, 15)]


def test_what_may_have_been_missed_is_said(growing):
    growing.write(3)
    growing.new()
    growing.path.write_bytes(b"")
    growing.write(1)
    assert growing.new() == [4]
    assert "may have been missed" in growing.notes[0]


def test_a_line_that_is_too_long_is_passed_over(growing):
    growing.write(1)
    with growing.path.open("a") as file:
        file.write('"' + "x" * (LONGEST + (3 << 20)) + '"\n')
    growing.write(1)
    assert growing.new() == [1, 2]
    assert growing.notes == ["a line or record is no outcome: it is too long"]
    assert growing.new() == []


def test_a_missing_file_is_an_error(growing):
    with pytest.raises(FileNotFoundError):
        growing.new()


# ---------------------------------------------------------------- the ledger


def test_trials_are_outcomes_as_they_end(tmp_path):
    ledger = Ledger(tmp_path / ".scenlint")
    ledger.open_run("r", "run")
    begun = []

    def begin(agent="solver", kind="") -> None:
        number = len(begun) + 1
        ledger.begin("r", number, Wanted("place", "product", "packet", agent, number, ""))
        (entry,) = ledger.entries(id=f"r-{number}")
        entry.record.experiment = Experiment(kind, "x") if kind else None
        begun.append(entry.record)

    def finish(number: int, status: Status, failure: FailureClass | None = None) -> None:
        record = begun[number - 1]
        record.status, record.failure_class, record.cost_usd = status, failure, 0.5
        ledger.finish(record)

    state: dict = {}

    def new() -> list[tuple]:
        nonlocal state
        source = Trials(ledger, state)
        found = [(o.task_type, o.success, o.cost, o.tool_errors) for o in source.new()]
        state = json.loads(json.dumps(source.state()))
        return found

    for agent, kind in [("solver", ""), ("solver", "grade"), ("oracle", ""), ("solver", "probe"), ("solver", "grade")]:
        begin(agent, kind)
    finish(2, Status.PASSED)
    finish(3, Status.PASSED)
    finish(4, Status.FAILED)
    assert new() == [("product (solver)", True, 0.5, 0)]
    assert new() == []
    finish(5, Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    finish(1, Status.FAILED, FailureClass.TOOL_ERROR)
    assert new() == [("product (solver)", False, 0.5, 1), ("product (solver)", None, 0.5, None)]
    begin()
    finish(6, Status.NO_VERDICT, FailureClass.AGENT_CRASH)
    assert new() == [("product (solver)", False, 0.5, 0)]
    assert len(state["taken"]) == 1
    ledger.close()
