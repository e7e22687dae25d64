"""Runs the engine over many tasks, in parallel where that pays, and gathers one Report."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import scenlint
from scenlint.config import Settings
from scenlint.formats.base import Format, TaskRef
from scenlint.lint.discover import Finder, format_named
from scenlint.lint.engine import Engine, Outcome, Selected, crash
from scenlint.lint.registry import page_text
from scenlint.report.model import Report, RuleCard
from scenlint.rules.base import Rule
from scenlint.source.trace import Trace, recording
from scenlint.task.card import Card
from scenlint.task.finding import Finding

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from scenlint.lint.cache import Cache

T = TypeVar("T")
Judged = tuple[TaskRef, Outcome, Trace]

COLLECT_AFTER = 64  # tasks: what they leave behind takes some 40 MB by then
PARALLEL_FROM = 12  # tasks: below that, starting processes costs more than it saves

_worker: Engine | None = None
_uncollected = 0  # tasks judged in this process since the last collection


def check(
    paths: Sequence[Path],
    settings: Settings,
    *,
    jobs: int | None = None,
    force_exclude: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    pages: bool = False,
    cache: Cache | None = None,
) -> Report:
    """Check every task behind the paths. `on_progress` gets (tasks done, in all); `pages`: with rule pages."""
    began = time.monotonic()
    engine = once_made(Engine, settings)  # where all is in the cache, no rule need be loaded
    about = _about(engine, settings, pages, cache)
    found = Finder(settings, force_exclude=force_exclude).discover(paths)
    report = Report(version=scenlint.__version__, root=Path.cwd(), skipped=[*found.messages])
    report.missing = found.missing
    report.crashes += found.crashes
    if about.only_trials:
        report.skipped.append("the selected rules judge trials: `scenlint validate` or `scenlint calibrate` runs them")
    outcomes: dict[TaskRef, Outcome] = {}
    for ref in found.refs if cache else ():
        if cache and (kept := cache.recall(ref)):
            outcomes[ref] = kept[0]
    rest = [ref for ref in found.refs if ref not in outcomes]
    for ref, outcome, seen in _judge_all(engine, rest, jobs or os.cpu_count() or 1, cache):
        outcomes[ref] = outcome
        if cache:
            cache.keep(ref, [outcome], seen)
        if on_progress:
            on_progress(len(outcomes), len(found.refs))
    ordered = [outcomes[ref] for ref in found.refs]
    ordered += _judge_shared(engine, found.refs, cache)
    gather(report, ordered)
    report.tasks = len(found.refs)
    cards = [o.card for o in ordered if o.card]
    compared = _compare(engine, cards, cache)
    report.suppressed += compared.suppressed
    report.crashes += compared.crashes
    findings = [f for o in [*ordered, compared] for f in o.findings]
    used: set[int] = set().union(*(o.used_suppressions for o in [*ordered, compared]))
    if not about.plain:
        findings += engine().about_configuration(used, complete=_covers(paths, settings))
    report.findings = sorted(once(findings), key=lambda f: f.sort_key)
    report.rules = about.rules
    report.elapsed = time.monotonic() - began
    return report


def once_made(make: Callable[[Settings], T], settings: Settings) -> Callable[[], T]:
    """What gives the same thing each time, made when it is first asked for."""
    made: list[T] = []

    def give() -> T:
        if not made:
            made.append(make(settings))
        return made[0]

    return give


def _about(engine: Callable[[], Engine], settings: Settings, pages: bool, cache: Cache | None) -> Selected:
    def make() -> Selected:
        ready = engine()
        return Selected(
            [rule_card(r, pages) for r in ready.task_rules],
            only_trials=not ready.task_rules,
            plain=not (settings.suppressions or ready.selection.unknown),
        )

    return cache.selected(make) if cache and not pages else make()


def gather(report: Report, outcomes: Sequence[Outcome]) -> None:
    """What is counted over all tasks."""
    for outcome in outcomes:
        report.not_assessed += outcome.not_assessed
        report.suppressed += outcome.suppressed
        report.crashes += outcome.crashes
        report.ran[outcome.task] = outcome.ran


def _judge_all(
    ready: Callable[[], Engine], refs: Sequence[TaskRef], jobs: int, cache: Cache | None
) -> Iterator[Judged]:
    if not refs:
        return
    engine, thorough = ready(), cache is not None and cache.thorough
    if jobs <= 1 or len(refs) < PARALLEL_FROM:
        yield from _judge_each(engine, refs, thorough)
        return
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    done: set[TaskRef] = set()
    try:
        with _pool(jobs, engine) as pool:
            size = max(1, min(16, len(refs) // (jobs * 4)))
            batches = [refs[i : i + size] for i in range(0, len(refs), size)]
            try:
                for future in as_completed([pool.submit(_judge_batch, batch, thorough) for batch in batches]):
                    for judged in future.result():
                        done.add(judged[0])
                        yield judged
            except BaseException:  # interrupted: what has not begun is not waited for
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool:
        # A worker died (out of memory, say). Each remaining task gets a process of its own: only the culprit is lost.
        for ref in [r for r in refs if r not in done]:
            yield _judge_alone(engine, ref, thorough)


def _judge_alone(engine: Engine, ref: TaskRef, thorough: bool) -> Judged:
    from concurrent.futures.process import BrokenProcessPool

    try:
        with _pool(1, engine) as pool:
            return pool.submit(_judge_batch, [ref], thorough).result()[0]
    except BrokenProcessPool:
        message = f"internal error: the process that checked {ref.folder.name} was killed (out of memory?)"
        return ref, Outcome(ref.folder.name, crashes=[message]), Trace()


def _pool(jobs: int, engine: Engine) -> ProcessPoolExecutor:
    """Processes that judge tasks: forked from this one where that is safe, so that they need not start anew."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    import markdown_it  # noqa: F401  # takes long to load, and every one of them needs it

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(jobs, context, _start, (engine.settings,))


def _start(settings: Settings) -> None:
    global _worker
    end_with_parent()
    _worker = Engine(settings)
    gc.freeze()  # what is loaded by now stays


def end_with_parent() -> None:
    """A parent that is killed takes its workers along; else they would wait for tasks for ever."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _judge_batch(refs: Sequence[TaskRef], thorough: bool) -> list[Judged]:
    assert _worker is not None
    return list(_judge_each(_worker, refs, thorough))


def _judge_each(engine: Engine, refs: Sequence[TaskRef], thorough: bool) -> Iterator[Judged]:
    """Judge tasks one after the other. Garbage is collected between them: while one is judged, there is hardly any."""
    global _uncollected
    enabled = gc.isenabled()
    gc.disable()
    try:
        for ref in refs:
            with recording(thorough=thorough) as seen:
                outcome = engine.judge(ref)
            yield ref, outcome, seen
            _uncollected += 1
            if _uncollected >= COLLECT_AFTER:
                gc.collect()
                _uncollected = 0
    finally:
        if enabled:
            gc.enable()


def _judge_shared(engine: Callable[[], Engine], refs: Sequence[TaskRef], cache: Cache | None) -> list[Outcome]:
    """What the tasks of a suite share (an apps list) is judged once."""
    out: list[Outcome] = []
    for name in dict.fromkeys(ref.format for ref in refs):
        form, its = format_named(name), [r for r in refs if r.format == name]

        def judge(form: Format = form, its: Sequence[TaskRef] = its) -> list[Outcome]:
            try:
                tasks = form.shared(its, engine().settings.policy)
            except Exception as exc:
                return [Outcome(form.name, crashes=[crash(f"while what {form.name} tasks share was loaded", exc)])]
            return [engine().judge_task(task) for task in tasks]

        folders = "\n".join(f"{r.folder}\0{r.key}" for r in its)
        out += cache.remember(f"shared by {name}:\n{folders}", judge) if cache else judge()
    return out


def _compare(ready: Callable[[], Engine], cards: list[Card], cache: Cache | None) -> Outcome:
    """What the rules find that compare tasks."""

    def compare() -> list[Outcome]:
        engine = ready()
        found: list[Finding] = []
        crashes: list[str] = []
        for rule in engine.selection.rules:
            try:
                found += [engine.finish(rule, f, f.task) for f in (rule.suite_check(cards) if rule.suite_check else ())]
            except Exception as exc:
                crashes.append(crash(f"in rule {rule.name}, which compares tasks", exc))
        kept, used = engine.without_ignored(found)
        return [Outcome("", kept, suppressed=len(found) - len(kept), used_suppressions=used, crashes=crashes)]

    if cache is None:
        return compare()[0]
    return cache.remember("compared:" + "".join(card.digest for card in cards), compare)[0]


def _covers(paths: Sequence[Path], settings: Settings) -> bool:
    """Whether the run looked at everything below the configuration's folder."""
    return settings.file is not None and any(settings.root.is_relative_to(p.resolve()) for p in paths)


def once(findings: Sequence[Finding]) -> list[Finding]:
    """A fault in a file that several tasks share is one finding."""
    seen: dict[tuple[object, ...], Finding] = {}
    for f in findings:
        seen.setdefault((f.rule, f.location.path, f.location.line, f.location.column, f.message), f)
    return list(seen.values())


def rule_card(rule: Rule, page: bool) -> RuleCard:
    """What a report says of a rule; its page only where the output prints pages."""
    return RuleCard(
        rule.name,
        rule.code,
        rule.summary,
        rule.severity,
        rule.confidence,
        rule.kind,
        page_text(rule) if page else "",
        rule.aliases,
    )
