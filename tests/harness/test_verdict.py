"""Both readings of what verifiers leave: tables of good and bad samples for every reader."""

import random
import re
import time
from collections.abc import Mapping

import pytest

from scenlint.harness import verdict
from scenlint.harness.environment import LOG_LIMIT, Ran
from scenlint.harness.verdict import Reading, packet, point_lines
from scenlint.harness.verdict.model import REWARD_LIMIT
from scenlint.task.plan import VERIFIER, WORKSPACE, Check, Command, Reader, Verify, Where
from scenlint.task.record import CheckResult, TrialRecord, Verdict

TXT, JSON = "/logs/verifier/reward.txt", "/logs/verifier/reward.json"


def ran(code: int | None = 0, out: str | bytes = b"", err: str | bytes = b"", *, late: bool = False) -> Ran:
    out, err = (text.encode() if isinstance(text, str) else text for text in (out, err))
    return Ran(None if late else code, 1.0, late, (out + err).decode("utf-8", "replace")[:32_000], None, out, err)


def read(reader: Reader, *runs: Ran, rewards: Mapping[str, bytes | None] | None = None, **verify: object) -> Reading:
    checks = tuple(Check(f"check {n}", Command(("true",))) for n in range(len(runs)))
    paths = (JSON, TXT) if reader is Reader.REWARD_FILE else ()
    plan = Verify(Where.LOCAL, checks, reader, verdict_paths=paths, **verify)  # type: ignore[arg-type]
    return verdict.read(plan, list(zip(checks, runs, strict=True)), rewards or {})


def rewards_of(reading: Reading) -> tuple[float | None, float | None]:
    return reading.strict.reward, reading.harness.reward


# ---------------------------------------------------------------- reward files


@pytest.mark.parametrize(
    ("content", "strict", "harness"),
    [
        (b"1", 1.0, 1.0),
        (b"1.0\n", 1.0, 1.0),
        (b"0\n", 0.0, 0.0),
        (b" 0.25 \n\n", 0.25, 0.25),
        (b"1e0", 1.0, 1.0),
        (b"1.5", None, 1.5),
        (b"-0.5", None, -0.5),
        (b"nan", None, None),
        (b"inf", None, None),
        (b"1e999", None, None),
        (b"", None, None),
        (b"\n", None, None),
        (b"pass", None, None),
        (b"1\n1\n", None, None),
        (b"1 0", None, None),
        (b"\xff\xfe1", None, None),
        (b"0x1", None, None),
        (b"1" * (REWARD_LIMIT + 1), None, None),
    ],
)
def test_reward_txt(content: bytes, strict: float | None, harness: float | None) -> None:
    reading = read(Reader.REWARD_FILE, ran(), rewards={TXT: content, JSON: None})
    assert rewards_of(reading) == (strict, harness)
    assert reading.strict.passed == (strict == 1.0)
    assert bool(reading.differs) == (strict != harness)
    assert reading.strict.reason or strict is not None


@pytest.mark.parametrize(
    ("content", "strict", "harness"),
    [
        (b'{"reward": 1}', 1.0, 1.0),
        (b'{"reward": 0.5, "style": 7}', 0.5, 0.5),
        (b'{"accuracy": 1.0}', 1.0, 1.0),
        (b'{"reward": true}', 1.0, 1.0),
        (b'{"reward": 1.5}', None, 1.5),
        (b'{"accuracy": 3}', None, 3.0),
        (b'{"reward": NaN}', None, None),
        (b'{"reward": 1e309}', None, None),
        (b'{"reward": "1.0"}', None, None),
        (b'{"reward": null}', None, None),
        (b'{"reward": [1]}', None, None),
        (b'{"reward": 1, "note": "x"}', None, None),
        (b'{"a": 1, "b": 0.5}', None, None),
        (b'{"reward": 0, "reward": 1}', None, 1.0),
        (b"{}", None, None),
        (b"1", None, None),
        (b"[1]", None, None),
        (b"{", None, None),
        (b"", None, None),
        (b"[" * 30_000, None, None),
        (b'{"reward": ' + b"9" * 400 + b"}", None, None),
        (b'{"reward": ' + b"9" * 5000 + b"}", None, None),
    ],
)
def test_reward_json(content: bytes, strict: float | None, harness: float | None) -> None:
    reading = read(Reader.REWARD_FILE, ran(), rewards={JSON: content, TXT: None})
    assert rewards_of(reading) == (strict, harness)
    assert bool(reading.differs) == (strict != harness and harness is not None)


def test_reward_json_wins_for_harbor_and_a_second_file_that_disagrees_is_no_verdict() -> None:
    reading = read(Reader.REWARD_FILE, ran(), rewards={JSON: b'{"reward": 1}', TXT: b"0"})
    assert rewards_of(reading) == (None, 1.0)
    assert "disagree" in reading.strict.reason
    reading = read(Reader.REWARD_FILE, ran(), rewards={JSON: b'{"a": 1, "b": 0.5}', TXT: b"1"})
    assert rewards_of(reading) == (None, None)
    assert reading.harness.rewards == {"a": 1.0, "b": 0.5}
    assert rewards_of(read(Reader.REWARD_FILE, ran(), rewards={JSON: b'{"reward": 1}', TXT: b"1.0"})) == (1.0, 1.0)


@pytest.mark.parametrize(("content", "invalid"), [(b"nan", True), (b"2", True), (b"word", True), (b"", False)])
def test_a_reward_that_is_none_is_told_from_a_missing_one(content: bytes, invalid: bool) -> None:
    assert read(Reader.REWARD_FILE, ran(), rewards={TXT: content}).strict.invalid is invalid


def test_reward_file_of_a_verifier_that_ran_out_of_time_is_not_read() -> None:
    reading = read(Reader.REWARD_FILE, ran(late=True), rewards={TXT: b"1"})
    assert rewards_of(reading) == (None, None)
    assert "time" in reading.strict.reason


def test_no_reward_file_names_the_paths() -> None:
    reading = read(Reader.REWARD_FILE, ran(), rewards={TXT: None, JSON: None})
    assert rewards_of(reading) == (None, None)
    assert TXT in reading.strict.reason


@pytest.mark.parametrize(
    ("code", "confidence"), [(0, "high"), (1, "high"), (7, "high"), (127, "medium"), (139, "medium")]
)
def test_exit_status_of_the_verifier_counts_for_nothing_but_confidence(code: int, confidence: str) -> None:
    reading = read(Reader.REWARD_FILE, ran(code), rewards={TXT: b"1"})
    assert (*rewards_of(reading), reading.strict.confidence) == (1.0, 1.0, confidence)


def test_single_tests_of_the_verifier_are_evidence_unless_the_output_was_cut() -> None:
    text = "=== short test summary info ===\nPASSED t.py::test_a\nFAILED t.py::test_b - no\n"
    reading = read(Reader.REWARD_FILE, ran(out=text), rewards={TXT: b"0"})
    assert [(c.id, c.passed) for c in reading.checks[1:]] == [("t.py::test_a", True), ("t.py::test_b", False)]
    assert reading.checks[0].passed is False
    cut = read(Reader.REWARD_FILE, ran(out=text + "\n[… 99 bytes cut …]\n"), rewards={TXT: b"0"})
    assert len(cut.checks) == 1


# ---------------------------------------------------------------- Terminal-Bench's summary


def summary(*lines: str, end: str = "") -> str:
    return "\n".join(["header", "=========== short test summary info ============", *lines, end])


@pytest.mark.parametrize(
    ("text", "strict", "harness"),
    [
        (summary("PASSED t.py::a", "PASSED t.py::b", end="==== 2 passed in 0.10s ===="), 1.0, 1.0),
        (summary("PASSED t.py::a", end="=== 0 failed, 1 passed in 0.1s ==="), 1.0, 1.0),
        (summary("PASSED t.py::a", "FAILED t.py::b - assert 1 == 2"), 0.0, 0.0),
        (summary("ERROR t.py - ImportError: x"), 0.0, 0.0),
        (summary("XPASS t.py::a"), 0.0, 0.0),
        (summary(), None, 1.0),  # an empty table counts as resolved
        (summary(end="=== no tests ran in 0.01s ==="), None, 1.0),
        (summary("FAILED"), None, 1.0),  # a bare word is no line of the table
        ("==== 3 passed in 0.1s ====", None, 0.0),  # no header: a parse error, which counts as unresolved
        ("", None, 0.0),
        (summary("SKIPPED [1] t.py:3: no network"), None, 1.0),
        (summary("PASSED t.py::a", "SKIPPED [1] t.py:3: no network"), None, 1.0),
        (summary("PASSED t.py::a", "XFAIL t.py::b - known"), None, 1.0),
        (summary("FAILED t.py::a - x", "SKIPPED [1] t.py:3: no"), 0.0, 0.0),
        (summary("FAILED one.py::test_a - x", "PASSED two.py::test_a"), 0.0, 1.0),  # same name in two files
        (summary("PASSED one.py::test_a", "FAILED two.py::test_a"), 0.0, 0.0),
        (summary("FAILED t.py::a - x", summary("PASSED t.py::a")), 0.0, 1.0),  # two runs in one output
        (summary("PASSED t.py::a", end="==== 1 failed, 1 passed in 0.10s ===="), None, 1.0),
        (summary("PASSED t.py::a", end="ERROR: pip's dependency resolver"), 1.0, 0.0),
        (summary("PASSED t.py::C::test[x - y]"), 1.0, 1.0),
    ],
)
def test_summary_table(text: str, strict: float | None, harness: float) -> None:
    reading = read(Reader.TEST_SUMMARY, ran(out=text))
    assert rewards_of(reading) == (strict, harness)
    assert bool(reading.differs) == (strict != harness)
    assert reading.harness.reason or not reading.differs


def test_summary_of_another_parser_is_refused() -> None:
    reading = read(Reader.TEST_SUMMARY, ran(out=summary("PASSED t.py::a")), parser="swebench")
    assert rewards_of(reading) == (None, None)
    assert "swebench" in reading.strict.reason


def test_summary_out_of_time_counts_as_unresolved_for_the_format_only() -> None:
    reading = read(Reader.TEST_SUMMARY, ran(out=summary("PASSED t.py::a"), late=True))
    assert rewards_of(reading) == (None, 0.0)
    assert reading.differs


# ---------------------------------------------------------------- SaaS-Bench's lines


def lines(*said: str) -> str:
    return "\n".join(said) + "\n"


GOOD = lines("[PASS] (2pt) page exists", "[FAIL] (1pt) owner is right  (got bob)", "SCORE: 0.667  PASS: False  (2/3)")


@pytest.mark.parametrize(
    ("text", "code", "strict", "harness", "passed"),
    [
        (GOOD, 0, pytest.approx(2 / 3), pytest.approx(2 / 3), False),
        (GOOD, 1, pytest.approx(2 / 3), pytest.approx(2 / 3), False),
        (lines("[PASS] (1pt) a", "SCORE: 1.0 PASS: True (1/1)"), 0, 1.0, 1.0, True),
        (lines("  [PASS] (1pt) a", "\tSCORE: 1 PASS: True (1/1)"), 0, 1.0, 1.0, True),
        (lines("[PASS] (1pt) a", "[PASS] (3pt) b"), 0, 1.0, 1.0, True),  # SCORE may be left out
        (lines("[FAIL] (0pt) a", "[PASS] (3pt) b"), 0, 1.0, 1.0, False),
        (lines("[PASS] (1pt) a"), 1, None, 1.0, True),  # crash after the first check
        (lines("[PASS] (1pt) a", "Traceback (most recent call last):", "KeyError: 1"), 1, None, 1.0, True),
        (lines("[FAIL] (1pt) a", "SCORE: 1.0  PASS: True  (1/1)"), 0, None, 1.0, True),  # SCORE is trusted
        (lines("SCORE: 1.0  PASS: True  (1/1)"), 0, None, 1.0, True),
        (lines("[PASS] (1pt) a", "SCORE: 7.5  PASS: True  (1/1)"), 0, None, 7.5, True),
        (lines("[PASS] (1pt) a", "SCORE: 1.0  PASS: true  (1/1)"), 0, None, 1.0, True),
        (lines("[PASS] (1pt) a", "SCORE: 1.2.3  PASS: True  (1/1)"), 0, None, None, None),  # float() raises
        (lines("[SKIP] (0/3pt) a", "[PASS] (1pt) b", "SCORE: 1.0  PASS: True  (1/1)"), 0, None, 1.0, True),
        (lines("[PASS] (1 pt) a", "[FAIL] (1pt) b", "SCORE: 0.5 PASS: False (1/2)"), 0, None, 0.5, False),
        (lines("[PASS] (1 pt) a", "SCORE: 1.0 PASS: True (1/1)"), 0, None, 0.0, False),  # eats the SCORE line
        (lines("[PASS] (-1pt) a", "[PASS] (1pt) b", "[FAIL] (1pt) c"), 0, None, 0.0, False),  # eats the next check
        (lines("nothing here"), 0, None, 0.0, False),
        ("", 0, None, 0.0, False),
        ("", 127, None, 0.0, False),
        (lines("[PASS] (0pt) a"), 0, None, 0.0, True),
        (lines("[PASS] (1pt) a", "SCORE: 1.0 PASS: True (1/1)"), 139, None, 1.0, True),
        ("[PASS] (1pt) a\r\nSCORE: 1.0 PASS: True (1/1)\r\n", 0, 1.0, 1.0, True),
        (lines("\x1b[32m[PASS]\x1b[0m (1pt) a"), 0, None, 0.0, False),
        (lines("[PASS] (1pt) a", "SCORE: 0.9996  PASS: False  (1/1)"), 0, None, 0.9996, False),
    ],
)
def test_point_lines(text: str, code: int, strict: float | None, harness: float | None, passed: bool | None) -> None:
    reading = read(Reader.POINT_LINES, ran(code, out="[PASS] (9pt) stdout is free", err=text))
    assert rewards_of(reading) == (strict, harness)
    assert passed is None or reading.harness.passed is passed
    assert bool(reading.differs) == (strict is None and harness is not None)


def test_point_lines_keep_label_and_detail_apart_and_free_lines_out() -> None:
    reading = read(Reader.POINT_LINES, ran(err=GOOD.replace("SCORE", "debug output\nSCORE")))
    assert [(c.label, c.passed, c.weight, c.detail) for c in reading.checks] == [
        ("page exists", True, 2, ""),
        ("owner is right", False, 1, "got bob"),
    ]


def test_point_lines_out_of_time_or_in_another_encoding_are_errors_of_the_format() -> None:
    late = read(Reader.POINT_LINES, ran(err=GOOD, late=True))
    assert (rewards_of(late), late.checks) == ((None, 0.0), [])
    assert "timeout" in late.harness.reason or "time" in late.differs
    latin = read(Reader.POINT_LINES, ran(err=GOOD.encode() + b"\xe9\n"))
    assert rewards_of(latin) == (pytest.approx(2 / 3), 0.0)


def test_point_lines_are_parsed_as_the_format_does_it_whatever_they_hold() -> None:
    check = re.compile(r"^\[(PASS|FAIL)\]\s+\((\d+)pt\)\s+(.+?)(?:\s{2,}\((.+)\))?\s*$", re.DOTALL)
    pieces = ["[PASS]", "[FAIL]", " ", "  ", "   ", "\n", "(1pt)", "(23pt)", "(", ")", "()", "x", "y  (z)", "\t", ") "]
    draw = random.Random(7)
    matched = 0
    for _ in range(20_000):
        head = draw.choice(["[PASS]", "[PASS] (1pt) ", "[FAIL] (23pt)\n"])
        line = head + "".join(draw.choice(pieces) for _ in range(draw.randrange(1, 9)))
        line = line.strip()
        want, got = check.match(line), point_lines._check(line)
        assert (want is None) == (got is None), line
        if want is not None and got is not None:
            matched += 1
            shown = (want[1] == "PASS", int(want[2]), want[3].strip(), (want[4] or "").strip())
            assert (got.passed, got.weight, got.label, got.detail) == shown, line
    assert matched > 5000


def test_point_lines_with_long_runs_of_blanks_take_no_quadratic_time() -> None:
    text = "[PASS] (1pt) x" + " " * 500_000 + "( y\n" + "[FAIL] (1pt)" + " \n" * 300_000
    began = time.monotonic()
    read(Reader.POINT_LINES, ran(err=text))
    assert time.monotonic() - began < 5


# ---------------------------------------------------------------- Waza's exit statuses

TRACE = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n'


@pytest.mark.parametrize(
    ("how", "strict"),
    [
        (ran(0), 1.0),
        (ran(1), 0.0),
        (ran(3, err="missing heading"), 0.0),
        (ran(255), 0.0),
        (ran(127, err="not found"), None),
        (ran(126), None),
        (ran(139), None),
        (ran(late=True), None),
        (ran(None), None),
        (ran(1, err=TRACE + "KeyError: 'x'\n"), None),
        (ran(1, err=TRACE + "json.decoder.JSONDecodeError: Expecting value\n"), None),
        (ran(1, err=TRACE + "    ^^^^\nAssertionError: Criterion 1\n"), 0.0),
        (ran(1, err=TRACE + "AssertionError\n"), 0.0),
        (ran(1, err=TRACE + f"FileNotFoundError: [Errno 2] No such file or directory: '{WORKSPACE}/a.txt'\n"), 0.0),
        (ran(1, err=TRACE + f"FileNotFoundError: [Errno 2] No such file or directory: '{VERIFIER}/want'\n"), None),
        (ran(0, err=TRACE + "ValueError: caught and printed\n"), 1.0),
        (ran(1, err=TRACE + "NameError: name 'x'\n\nRan 3 tests in 0.001s\n\nFAILED (errors=1)\n"), 0.0),
    ],
)
def test_exit_status_of_a_grader(how: Ran, strict: float | None) -> None:
    reading = read(Reader.EXIT_STATUS, how)
    harness = 1.0 if how.exit_code == 0 else 0.0  # there every fault of the grader is a failure of the agent
    assert rewards_of(reading) == (strict, harness)
    assert bool(reading.differs) == (strict != harness)
    assert reading.checks[0].passed is (None if strict is None else strict == 1.0)


def test_all_graders_must_pass_and_a_failed_one_decides_over_a_broken_one() -> None:
    assert rewards_of(read(Reader.EXIT_STATUS, ran(0), ran(0))) == (1.0, 1.0)
    assert rewards_of(read(Reader.EXIT_STATUS, ran(0), ran(1))) == (0.0, 0.0)
    assert rewards_of(read(Reader.EXIT_STATUS, ran(127), ran(1))) == (0.0, 0.0)
    assert rewards_of(read(Reader.EXIT_STATUS, ran(127), ran(0))) == (None, 0.0)


def test_no_grader_passes_for_waza_and_shows_nothing() -> None:
    assert rewards_of(read(Reader.EXIT_STATUS)) == (None, 1.0)


def test_of_two_graders_with_one_name_waza_keeps_the_last() -> None:
    checks = (Check("same", Command(("false",))), Check("same", Command(("true",))))
    plan = Verify(Where.LOCAL, checks, Reader.EXIT_STATUS)
    reading = verdict.read(plan, [(checks[0], ran(1)), (checks[1], ran(0))], {})
    assert rewards_of(reading) == (0.0, 1.0)
    assert "same name" in reading.differs


# ---------------------------------------------------------------- packets


def test_packet_passes_only_if_every_required_check_passed() -> None:
    checks = (
        Check("test 1", Command(("bash", "-c", "make test")), kind="test"),
        Check("lint 2", Command(("lint",)), required=False),
    )
    plan = Verify(Where.LOCAL, checks, Reader.PACKET)
    good = verdict.read(plan, [(checks[0], ran(0, out="4 passed")), (checks[1], ran(1))], {})
    assert (rewards_of(good), good.strict.confidence) == ((1.0, 1.0), "high")
    assert [(c.command, c.passed, c.label, c.required) for c in good.checks] == [
        ("make test", True, "test", True),
        ("lint", False, "", False),
    ]
    bad = verdict.read(plan, [(checks[0], ran(1, err=TRACE + "KeyError: 1\n")), (checks[1], ran(0))], {})
    assert (rewards_of(bad), bad.strict.confidence) == ((0.0, 0.0), "medium")
    missing = verdict.read(plan, [(checks[0], ran(127)), (checks[1], ran(0))], {})
    assert rewards_of(missing) == (None, 0.0)
    assert missing.differs


def test_packet_without_a_required_check_is_passed_by_anybody_which_nop_will_show() -> None:
    checks = (Check("lint", Command(("lint",)), required=False),)
    reading = verdict.read(Verify(Where.LOCAL, checks, Reader.PACKET), [(checks[0], ran(1))], {})
    assert rewards_of(reading) == (1.0, 1.0)
    assert (reading.strict.confidence, reading.strict.reason) == ("low", "no check is required")
    assert rewards_of(verdict.read(Verify(Where.LOCAL, checks, Reader.PACKET), [], {})) == (None, None)


def test_verification_result_carries_the_evidence_of_every_check() -> None:
    record = TrialRecord("t", "task", "packet", "oracle", reward=1.0, strict=Verdict(1.0, True), confidence="high")
    record.summary = "oracle: reward 1"
    record.checks = [CheckResult("test 1", True, detail="4 passed", command="make test", duration=2.5)]
    told = packet.verification_result(record)
    assert (told["passed"], told["confidence"], told["summary"]) == (True, "high", "oracle: reward 1")
    shown = {key: told["evidence"][0][key] for key in ("command", "output", "duration")}
    assert shown == {"command": "make test", "output": "4 passed", "duration": 2.5}
    record.reward, record.strict = None, Verdict(None)
    assert packet.verification_result(record)["passed"] is False


# ---------------------------------------------------------------- DeepGym's line of JSON


@pytest.mark.parametrize(
    ("line", "code", "strict", "harness", "passed"),
    [
        ('{"score": 1.0, "passed": true}', 0, 1.0, 1.0, True),
        ('{"schema_version": "1.0", "score": 0.85, "passed": true, "details": "12/14"}', 0, 0.85, 0.85, True),
        ('{"score": 0.2, "passed": false}', 1, 0.2, 0.2, False),
        ('{"score": 0.2, "passed": false}', 0, 0.2, 0.2, False),
        ('{"score": 0, "passed": false, "error_type": "solution_error"}', 1, 0.0, 0.0, False),
        ('{"score": 0, "passed": false, "error_type": "runtime_error"}', 2, None, None, None),
        ('{"score": 0, "passed": false, "error_type": "sandbox_error"}', 0, None, None, None),
        ('{"score": 0, "passed": false}', 2, None, None, None),
        ('{"score": 1.0, "passed": true}', 1, None, None, None),
        ('{"score": 1.0, "passed": true}', 3, None, None, None),
        ('{"score": 1.0, "passed": true}', 137, None, None, None),
        ('{"score": 1.0}', 0, None, None, None),
        ('{"score": 1.0, "passed": "true"}', 0, None, None, None),
        ('{"score": NaN, "passed": true}', 0, None, None, None),
        ('{"score": Infinity, "passed": true}', 0, None, None, None),
        ('{"score": 1.5, "passed": true}', 0, None, None, None),
        ('{"score": 1.0000001, "passed": true}', 0, 1.0, 1.0, True),
        ('{"score": true, "passed": true}', 0, None, None, None),
        ('{"score": "1", "passed": true}', 0, None, None, None),
        ('{"score": ' + "9" * 500 + ', "passed": true}', 0, None, None, None),
        ('{"score": 1, "score": 0, "passed": true}', 0, None, None, None),
        ('{"score": 1, "passed": true, "error_type": []}', 0, None, None, None),
        ('{"score": 1, "passed": true, "cases": [{"id": "a", "passed": 1}]}', 0, None, None, None),
        ('{"score": 1, "passed": true, "cases": {"a": 1}}', 0, None, None, None),
        ('{\n"score": 1, "passed": true\n}', 0, None, None, None),
        ("no json", 0, None, None, None),
        ("", 0, None, None, None),
        ("{broken}", 0, None, None, None),
        ('{"score": 1.0, "passed": false}', 1, None, 1.0, False),
        ('{"score": 0.0, "passed": true}', 0, None, 0.0, True),
        ('{"score": 1.0, "passed": true, "cases": [{"id": "a", "passed": false}]}', 0, None, 1.0, True),
        ('{"score": 1.0, "passed": true}\nbye\n{"score": 0.0, "passed": false}', 1, 0.0, 0.0, False),
    ],
)
def test_json_line(line: str, code: int, strict: float | None, harness: float | None, passed: bool | None) -> None:
    reading = read(Reader.JSON_LINE, ran(code, out=line + "\n", err='{"score": 0.5, "passed": true}\n'))
    assert rewards_of(reading) == (strict, harness)
    assert passed is None or reading.harness.passed is passed
    assert bool(reading.differs) == (strict is None and harness is not None)


def test_json_line_gives_its_cases_as_checks() -> None:
    cases = '[{"id": "a", "passed": true}, {"id": "b", "passed": false, "error": "3"}]'
    line = '{"score": 0.5, "passed": false, "cases": ' + cases + "}"
    reading = read(Reader.JSON_LINE, ran(1, out=line))
    assert [(c.id, c.passed, c.detail) for c in reading.checks] == [("a", True, ""), ("b", False, "error: 3")]


# ---------------------------------------------------------------- what holds for all of them


@pytest.mark.parametrize("reader", [r for r in Reader if r is not Reader.REWARD_FILE])
def test_nothing_is_read_from_output_that_was_cut(reader: Reader) -> None:
    good = {
        Reader.POINT_LINES: lines("[PASS] (1pt) a", "SCORE: 1.0 PASS: True (1/1)"),
        Reader.JSON_LINE: '{"score": 1.0, "passed": true}',
        Reader.TEST_SUMMARY: summary("PASSED t.py::a"),
    }.get(reader, "")
    flood = good.encode() + b"\n" + b"x" * LOG_LIMIT
    reading = read(reader, ran(0, out=flood[:LOG_LIMIT], err=flood[:LOG_LIMIT]))
    assert reading.strict.reward is None
    assert "MB" in reading.strict.reason


@pytest.mark.parametrize("reader", list(Reader))
def test_a_verifier_that_is_killed_or_never_ran_is_no_verdict(reader: Reader) -> None:
    assert read(reader).strict.reward is None
    assert read(reader, ran(None)).strict.reward is None
    assert read(reader, ran(late=True)).strict.reward is None
    assert read(reader, ran(late=True)).strict.reason
