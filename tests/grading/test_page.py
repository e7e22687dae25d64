"""The HTML report, in a real browser: readable without script, at desk and on a phone, in light and dark."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import graded
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from scenlint.config import Settings
from scenlint.formats.harbor import FORMAT
from scenlint.grading.audit import Chain, chain_of, path_of
from scenlint.grading.dispositions import Disposition, decide
from scenlint.grading.page import charts
from scenlint.grading.page.gather import Request, gather
from scenlint.grading.page.render import render
from scenlint.harness.ledger import Ledger, Wanted
from scenlint.lint.discover import Finder
from scenlint.stats.discriminate import Curve
from scenlint.stats.intervals import Interval
from scenlint.task.policy import Policy
from scenlint.task.record import CheckResult, Experiment, FailureClass, ProbeOutcome, Status, TrialRecord
from scenlint.testing import base_task

HOSTILE = "<script>document.title='taken'</script><img src=http://example.invalid/x>"


@pytest.fixture(scope="module")  # while it is open, its event loop runs in this thread
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("SCENLINT_REQUIRE_ENGINE"):
            pytest.fail("no Chromium on PATH, and CI must have one")
        pytest.skip("no Chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def put(ledger: Ledger, number: int, record: TrialRecord) -> None:
    wanted = Wanted("suite/answer", record.task, record.format, record.agent, record.attempt, "s")
    record.id, _ = ledger.begin("run", number, wanted)
    ledger.finish(record)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about two tasks, one of them with findings, trials, probes and a calibration."""
    root = tmp_path_factory.mktemp("page")
    folder = base_task("harbor", root / "suite" / "answer")
    (folder / "tests/test_outputs.py").write_text(
        "from pathlib import Path\n\n\ndef test_answer():\n    assert Path('/app/answer.txt').exists()\n"
    )
    (ref,) = Finder(Settings(root=root)).discover([folder]).refs
    digests = dict(FORMAT.plan(FORMAT.load(ref, Policy())).digests)
    ledger = Ledger(root / ".scenlint")

    def record(agent: str, reward: float | None, attempt: int = 1, **more: object) -> TrialRecord:
        status = Status.NO_VERDICT if reward is None else Status.PASSED if reward == 1 else Status.FAILED
        return TrialRecord(
            "",
            FORMAT.load(ref, Policy()).id,
            "harbor",
            agent,
            reward,
            status,
            attempt=attempt,
            digests=digests,
            task_digest="sha256:" + "1" * 64,
            started=f"2026-01-01T00:{attempt:02}:00.000+00:00",
            duration=20.0 + attempt,
            **more,
        )

    made = [record("oracle", 1.0), record("nop", 0.0)]
    failed = [CheckResult("test_answer", passed=False, detail=HOSTILE)]
    for n in range(10):
        stage = Experiment("calibration", "one" if n < 2 else "two", "1")
        lost = n % 2 == 0
        made.append(
            record(
                *("strong", 0.0 if lost else 1.0, n + 1),
                experiment=stage,
                cost_usd=0.02 * (n + 1),
                checks=failed if lost else [],
                failure_class=FailureClass.WRONG_ANSWER if lost else None,
                failure_evidence=HOSTILE if lost else "",
            )
        )
    made.append(
        record(
            "probe:empty-files",
            1.0,
            experiment=Experiment(
                "probe",
                "empty-files",
                "/app/answer.txt",
                "holds",
                "an empty `/app/answer.txt`",
                ProbeOutcome.BROKEN,
                HOSTILE,
            ),
        )
    )
    for n, one in enumerate(made):
        put(ledger, n, one)
    base_task("packet", root / "suite" / "other")
    book = gather(Request([root / "suite"], Settings(root=root), ledger))
    ledger.close()
    file = root / "report.html"
    file.write_text(render(book), "utf-8")
    return file


def opened(browser: Browser, file: Path, width: int = 1280, scheme: str = "light", *, script: bool = False) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
    )
    page = context.new_page()
    page.goto(file.as_uri())
    return page


def test_everything_can_be_read_without_a_script(browser: Browser, page_file: Path) -> None:
    text = opened(browser, page_file).inner_text("body")
    assert "no-assertion" in text  # a finding of the static stage, with its code frame
    assert "assert Path('/app/answer.txt').exists()" in text
    assert "oracle 1; nop 0" in text
    assert "1 got through" in text
    assert "empty-files" in text
    assert "strong: admissible" in text
    assert re.search(r"genuine failures of 8 trials", text)


def test_the_page_asks_for_nothing_and_runs_nothing(browser: Browser, page_file: Path) -> None:
    asked: list[str] = []
    page = browser.new_context().new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    assert asked == [page_file.as_uri()]
    assert page.title() == "suite"
    assert page.locator("script, img, link, iframe").count() == 0


def test_what_a_verifier_printed_is_text(browser: Browser, page_file: Path) -> None:
    assert HOSTILE in (opened(browser, page_file).text_content("body") or "")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_of_the_screen(browser: Browser, page_file: Path, width: int) -> None:
    page = opened(browser, page_file, width, script=True)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_paper(browser: Browser, page_file: Path, scheme: str) -> None:
    page = opened(browser, page_file, scheme=scheme, script=True)
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (paper > 0.5) == (scheme == "light")
    for kind in ("body", ".soft", ".good", ".bad", "a"):
        ink = luminance(page.evaluate(f"getComputedStyle(document.querySelector('{kind}')).color"))
        contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
        assert contrast >= 4.5, f"{kind}: {contrast:.1f}"  # WCAG 2.2, AA


def luminance(color: str) -> float:
    """Relative luminance of `rgb(r, g, b)` by WCAG 2.2."""
    parts = [int(n) / 255 for n in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_keys_reach_the_tasks_and_open_what_is_folded(browser: Browser, page_file: Path) -> None:
    page = opened(browser, page_file)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "to the tasks"
    page.keyboard.press("Enter")
    assert page.url.endswith("#tasks")
    folded = page.locator("summary", has_text="each trial")
    inside = page.locator("td", has_text="$0.02")
    assert not inside.is_visible()
    folded.focus()
    page.keyboard.press("Enter")
    assert inside.is_visible()


def test_every_chart_says_in_words_what_it_shows(browser: Browser, page_file: Path) -> None:
    page = opened(browser, page_file)
    labels = page.locator("svg[role=img]").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert len(labels) == page.locator("svg").count() > 2
    assert all(len(label) > 10 for label in labels)
    assert any("genuine failure rate 0.5" in label for label in labels)


def test_charts_place_numbers_where_they_belong() -> None:
    assert 'cx="60.0"' in charts.interval(0.5, Interval(0.25, 0.75))
    assert "M32.0 8H88.0" in charts.interval(0.5, Interval(0.25, 0.75))
    strip = charts.strip([True, False, None])
    assert (strip.count('class="pass"'), strip.count('class="fail"'), strip.count('class="none"')) == (1, 1, 1)
    assert "difficulty 1.00, discrimination 2.00" in charts.item(Curve(2.0, 1.0, None, False), "t")
    assert "logarithmic" in charts.spread([0.01, 1.0], str)
    assert "logarithmic" not in charts.spread([0.5, 1.0], str)
    assert charts.strip([]) == charts.spread([], str) == charts.interval(None, None) == ""


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """A page about a run whose tasks are gone, against an earlier one that was better."""
    with contextlib.closing(Ledger(tmp_path / ".scenlint")) as ledger:
        for day, (name, hard) in enumerate({"before": "PPPPPPPP", "now": "FFFFFFPI"}.items(), 1):
            letters = {"easy": "PPPPPPPP", "hard": hard}
            run = replace(graded.run_of(letters, 8), id=name, started=f"2030-01-0{day}T00:00:00+00:00")
            Chain.create(path_of(ledger.folder, name), run.to_json(), ledger)
            for key, said in letters.items():
                for n, letter in enumerate(said, 1):
                    record = graded.trial(key, letter, n, run=name)
                    wanted = Wanted(key, key, "harbor", "frontier", n, "s", record.experiment, run.suite)
                    record.id, _ = ledger.begin(name, n + 100 * (key == "hard"), wanted)
                    ledger.finish(record)
        book = gather(Request([], Settings(root=tmp_path), ledger, "now", "before"))
        assert book.diff is not None
        line = next(one for one in book.diff.lines if one.kind == "pass-rate")
        chain = chain_of(ledger, "now")
        decide(chain, "before", [line], Disposition.REGRESSION, "a new prompt", "owner")
        book = gather(Request([], Settings(root=tmp_path), ledger, "now", "before"))
    file = tmp_path / "run.html"
    file.write_text(render(book), "utf-8")
    return file


def test_a_run_is_shown_with_its_figures_and_against_its_baseline(browser: Browser, run_file: Path) -> None:
    page = opened(browser, run_file)
    run, diff = page.locator("#run").inner_text(), page.locator("#diff").inner_text()
    assert "frontier, 8 trials of each of 2 scenarios" in run
    assert re.search(r"hard\s+1 of 7 \(1 excluded\) \(1 missing\)\s+14% \(3% to 51%\)", run)
    assert "6 wrong-answer" in run
    assert re.search(r"passes fell from 8 of 8 to 1 of 7 .*\s+regression \(owner, [\d-]{10}\)\s+a new prompt", diff)
    assert "the task is not here, so only its results are shown" in page.inner_text("main")


def test_a_run_fits_a_phone(browser: Browser, run_file: Path) -> None:
    page = opened(browser, run_file, 390, "dark", script=True)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
