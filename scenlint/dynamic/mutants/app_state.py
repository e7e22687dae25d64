"""Mutants of what the oracle did to an app: one of its requests kept back, sent twice, or with another value in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from scenlint.dynamic.experiments import Context, Planned, conclude, skipped
from scenlint.dynamic.mutants.form import Form
from scenlint.dynamic.mutants.measures import of_text
from scenlint.dynamic.mutants.model import Label
from scenlint.harness.agents import OracleAgent
from scenlint.harness.tampering import Request, Tampering
from scenlint.harness.watched import Watched, kept
from scenlint.source.regex import regex
from scenlint.task.model import Task
from scenlint.task.record import Experiment, PhaseName, TrialRecord

MOST = 24  # mutants of a task: each starts the apps anew
_SIGNING_IN = regex(r"log-?in|log-?out|auth|session|sign-?in|token|csrf|password", re.IGNORECASE)
_SHORTEST = 3  # characters of a value that a brief can be said to name


def app_state(about: Context, folder: Path | None) -> Iterator[Planned]:
    """Mutants of the requests that the oracle sent in the trial of this folder, the plainly wrong ones first."""
    requests = list(kept(folder)) if folder is not None else []
    requests = [r for r in dict.fromkeys(requests) if not _signs_in(r)]
    if not requests:
        yield skipped("mutant", "app-state", "the oracle sent no request in HTTP that could be changed")
        return
    form, random = Form(about.subject.task, ""), about.random("requests")
    random.shuffle(requests)
    turns = zip_longest(*(list(_of(request, form)) for request in requests))
    every = [made for turn in turns for made in turn if made is not None]
    every.sort(key=lambda made: made[1] is not Label.DIE)
    for n, (tampering, label, did, why) in enumerate(every[:MOST], 1):
        operator = {"drop": "request-left-out", "twice": "request-twice"}.get(tampering.how, "request-changed")
        name = f"mutant:{operator}#{n}"
        criterion = _criterion(about.subject.task, tampering.old)
        place = f"{tampering.method} {tampering.place}"
        yield Planned(
            Experiment("mutant", operator, place, expected=label, did=did, criterion=criterion, reason=why),
            Watched(OracleAgent(), name, tampering),
            judge=_judge,
        )


def _signs_in(request: Request) -> bool:
    return bool(_SIGNING_IN.search(request.place)) or any("password" in name.lower() for name, _ in request.fields)


Made = tuple[Tampering, Label, str, str]


def _of(request: Request, form: Form) -> Iterator[Made]:
    """Values that the brief names first: nobody can say of the others whether they matter."""
    told = f"{request.method} {request.place}"
    named = [(k, v) for k, v in request.fields if _named(v, form)]
    others = [(k, v) for k, v in request.fields if (k, v) not in named and v]
    for name, old in named[:3]:
        for new, why in _values(old, name, form):
            did = f"`{name}` of {told}: `{_short(old)}` became `{_short(new)}`"
            tampering = Tampering("change", request.method, request.place, name, old, new)
            yield tampering, Label.DIE, did, f"the brief names `{_short(old)}`; {why}"
    name, old = (named or others or [("", "")])[0]
    wrong = bool(named) or request.method == "DELETE"
    why = f"it is what sets `{_short(old)}`, which the brief names" if named else "the solution takes this step"
    kept_back = Tampering("drop", request.method, request.place, name, old, answer=_answer(request))
    of = f" with `{name}` = `{_short(old)}`" if name else ""
    yield kept_back, Label.DIE if wrong else Label.OPEN, f"{told}{of} was kept back", why
    if request.method == "POST":
        twice = Tampering("twice", request.method, request.place, name, old)
        open_why = "whether the app does it a second time is the app's business"
        yield twice, Label.OPEN, f"{told}{of} was sent twice", open_why
    for name, old in others[:1]:
        tampering = Tampering("change", request.method, request.place, name, old, old[::-1] + "1")
        did = f"`{name}` of {told}: `{_short(old)}` became `{_short(tampering.new)}`"
        yield tampering, Label.OPEN, did, f"the brief does not name `{_short(old)}`"


def _named(value: str, form: Form) -> bool:
    """Whether the brief names a value: not only one of its words, which any request may hold by chance."""
    if len(value) < _SHORTEST or not form.names_value(value):
        return False
    if re.search(r"\s|[A-Z\d]|[-_@./:]", value.strip()):
        return True
    marked = re.compile(rf"(?:`|\"|'|“|‘|\*\*|→ ?){re.escape(value)}(?:`|\"|'|”|’|\*\*|$)", re.MULTILINE)
    return any(marked.search(brief.prose.text) for brief in form.task.briefs)


def _answer(request: Request) -> str:
    """What the app had said to it, if all of that is there and says by itself where it ends."""
    text = "".join(request.answer)
    head, _, body = text.partition("\r\n\r\n")
    length = re.search(r"(?im)^content-length:[ \t]*(\d+)", head)
    chunked = "transfer-encoding: chunked" in head.lower() and body.endswith("0\r\n\r\n")
    return text if chunked or (length is not None and int(length[1]) == len(body)) else ""


def _values(old: str, name: str, form: Form) -> Iterator[tuple[str, str]]:
    if re.fullmatch(r"-?\d{1,15}", old):
        yield str(int(old) + 1), "another number is another answer"
        return
    measures = [(new, reason) for _, new, label, reason in of_text(old, name, form) if label is Label.DIE]
    yield from measures[:2] or [(old[::-1] if old != old[::-1] else old + "x", "another value is another answer")]


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:59] + "…"


def _criterion(task: Task, value: str) -> str:
    """The one criterion that names the value."""
    found = [c for brief in task.briefs for c in brief.criteria if value and value in c.text]
    return found[0].number if len(found) == 1 else ""


def _judge(record: TrialRecord, folder: Path, about: Context) -> None:
    """A solution that breaks off over it is another experiment: then less is done than was meant to be wrong."""
    conclude(record, folder, about)
    made = record.experiment
    usual = [p.exit_code for p in about.oracle.record.phases if p.name == PhaseName.AGENT]
    now = [p.exit_code for p in record.phases if p.name == PhaseName.AGENT]
    if made is not None and made.outcome in ("killed", "survived") and usual != now:
        made.outcome, made.reason = "skipped", "the solution did not come to its end after that"
