"""A page about each task, one HTML file that needs nothing else: what was found, tried and seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from scenlint.report.experiments import KINDS, Sum, sentences
from scenlint.report.model import Report, TrialLine
from scenlint.report.style import decoded
from scenlint.task.finding import Finding
from scenlint.task.record import Experiment, TrialRecord

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bad: #c62828; --warn: #b26a00; --good: #2e7d32 }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --warn: #ffb74d; --good: #81c784 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.1rem; margin-top: 2.2rem }
table { border-collapse: collapse; width: 100%; font-size: .92em }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-top: 1px solid var(--line) }
th { border-top: 0; font-weight: 600 } td { overflow-wrap: anywhere }
.bad { color: var(--bad); font-weight: 600 } .warn { color: var(--warn); font-weight: 600 } .good { color: var(--good) }
.soft { opacity: .75 } code, pre { font: .9em ui-monospace, monospace }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; white-space: pre-wrap }
.finding { border-left: 4px solid var(--line); padding: .1rem 0 .1rem .8rem; margin: 1rem 0 }
.finding p { margin: .25rem 0 }
"""
_BAD = {"broken", "leak", "laundered", "differs"}
_COLORS = {"error": "bad", "warning": "warn", "info": "soft"}


class Column(NamedTuple):
    """A cell's text, and how it looks."""

    text: str
    look: str = ""


def write(report: Report, folder: Path) -> list[Path]:
    """Write a page for each task with trials; their paths."""
    tasks: dict[str, Sum] = {}
    for line in report.trials or ():
        tasks.setdefault(line.record.task, Sum(line.record.task)).lines.append(line)
    folder.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    for one in tasks.values():
        path = folder / f"{_name(one.task, {p.stem for p in out})}.html"
        path.write_text(page(one, report), "utf-8")
        out.append(path)
    return out


def page(one: Sum, report: Report) -> str:
    """The page of one task."""
    findings = [f for f in report.ordered() if f.task == one.task]
    record = one.lines[0].record
    parts = [
        f"<h1>{_text(one.task)}</h1>",
        f'<p class="soft">{_text(record.format)} · scenlint {_text(report.version)} · {_text(_when(one))} · '
        f"{len([x for x in one.lines if x.record.id])} trials · task {_text(record.task_digest[:19])}</p>",
        _list(sentences(one)),
        f"<h2>Findings ({len(findings)})</h2>",
        *([_finding(f, report) for f in findings] or ["<p>None.</p>"]),
        *_gate(one),
        *(part for kind in KINDS for part in _experiments(one, kind)),
        *_unjudged(one, report),
    ]
    title = _text(one.task)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _finding(finding: Finding, report: Report) -> str:
    severity = report.severity(finding)
    place = finding.location
    where = report.path(place.path) + (f":{place.line}" if place.line else "")
    related = "".join(
        f'<p class="soft"><code>{_text(report.path(r.path))}:{r.line}</code> {_text(r.message)}</p>'
        for r in finding.related
    )
    quote = f"<pre>{_text(chr(10).join(place.excerpt))}</pre>" if place.excerpt else ""
    return (
        f'<div class="finding"><p><span class="{_COLORS[severity]}">{severity}</span> '
        f"<b>{_text(finding.code)} {_text(finding.rule)}</b> <code>{_text(where)}</code></p>"
        f"<p>{_marked(finding.message)}</p>{quote}{related}"
        f"<p><i>What to do:</i> {_marked(finding.help)}</p>"
        f'<p class="soft">Refuted by: {_text(finding.refute)}</p></div>'
    )


def _gate(one: Sum) -> Iterator[str]:
    lines = [x for x in one.lines if x.record.experiment is None]
    if lines:
        yield "<h2>Oracle and nop</h2>"
        yield _table(("trial", "agent", "reward", "time", "what came of it"), (_trial(x) for x in lines))


def _trial(line: TrialLine) -> list[Column]:
    record = line.record
    good = (record.reward == 1.0) != (record.agent == "nop") and record.reward is not None
    failed = [c.label or c.id for c in record.checks if c.required and c.passed is False]
    told = record.failure_evidence or ("failed: " + ", ".join(failed[:8]) if failed else record.summary)
    return [
        *(Column(record.id, "code"), Column(record.agent)),
        Column(_reward(record), "good" if good else "bad"),
        *(Column(f"{record.duration:.1f} s"), Column(told)),
    ]


def _experiments(one: Sum, kind: str) -> Iterator[str]:
    made = [(line, e) for line, e in one.made(kind) if e.outcome not in ("", "skipped")]
    if made:
        yield f"<h2>{KINDS[kind].capitalize()} ({len(made)})</h2>"
        made.sort(key=lambda pair: _look(pair[1]) not in ("bad", "warn"))
        yield _table(
            ("name", "outcome", "reward", "what was done, and to what", "what the verifier said"),
            (_experiment(line, e) for line, e in made),
        )


def _experiment(line: TrialLine, e: Experiment) -> list[Column]:
    name = e.name + (f" ({e.expected})" if e.expected.startswith(("must", "open")) else "")
    about = "; ".join(filter(None, (e.did, f"criterion {e.criterion}" if e.criterion else "", e.reason)))
    return [
        *(Column(name), Column(str(e.outcome), _look(e)), Column(_reward(line.record)), Column(about)),
        Column(f"{e.evidence} [{line.record.id}]" if line.record.id else e.evidence),
    ]


def _look(e: Experiment) -> str:
    if e.outcome in _BAD:
        return "bad"
    wrong = (e.expected, e.outcome) in {("must-die", "survived"), ("must-live", "killed")}
    return "warn" if wrong else "soft" if e.expected == "open" else "good"


def _unjudged(one: Sum, report: Report) -> Iterator[str]:
    rows = [f"{n.code} {n.rule}: {n.reason}" for n in report.not_assessed if n.task == one.task]
    if rows:
        yield f"<h2>Not assessed ({len(rows)})</h2>"
        yield _list(rows)


# HTML


def _table(heads: Sequence[str], rows: Iterable[Sequence[Column]]) -> str:
    head = "".join(f"<th>{_text(h)}</th>" for h in heads)
    body = "\n".join(f"<tr>{''.join(_cell(c) for c in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _cell(column: Column) -> str:
    if column.look == "code":
        return f"<td><code>{_text(column.text)}</code></td>"
    look = f' class="{column.look}"' if column.look else ""
    return f"<td{look}>{_marked(column.text)}</td>"


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_marked(item)}</li>' for item in items)}</ul>" if items else ""


def _marked(text: str) -> str:
    """Text whose words in backticks are code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    """What a verifier printed is no markup; control characters of a terminal are left out."""
    return escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", decoded(text)))


def _reward(record: TrialRecord) -> str:
    return "none" if record.reward is None else f"{record.reward:g}"


def _when(one: Sum) -> str:
    times = sorted(x.record.started for x in one.lines if x.record.started)
    return times[-1][:16].replace("T", " ") + " UTC" if times else "not run"


def _name(task: str, taken: set[str]) -> str:
    """A file's name for a task, of its own."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", task).strip("-.") or "task"
    number = 1
    while (name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return name if number == 1 else f"{name}-{number}"
