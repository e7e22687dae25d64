"""A success criterion of the brief that no check covers."""

import ast
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Role, Severity, Task, related, rule
from scenlint.source import python
from scenlint.source.text import Span
from scenlint.task.criteria import Criterion, is_demand
from scenlint.task.mapping import Mapping, Vocabulary, map_task
from scenlint.task.paths import find_paths

HELP = "add a check that fails when this is not met, or take it out of the brief"
_JUDGED = re.compile(
    r"\b(?:openai|anthropic|litellm|llm[_ -]?(?:judge|as)|judge_(?:prompt|model)|chat/completions|gpt-\d)", re.I
)
_EVERY_CALL = re.compile(
    r"\b(?:each|every|all|any|further|repeated|later|timed|subsequent|other|both)\b[^.]{0,40}?\b(?:calls?|runs?|invocations?)\b",
    re.I,
)
_RIGHT = re.compile(
    r"\b(?:right|correct\w*|same|results?|returns?|answers?|outputs?|equals?|identical|prints?)\b", re.I
)
# What code says without the word.
_IDIOMS = {
    r"\[+ -x |X_OK|S_IX|0o111|0o[57]{3}": "executable chmod +x",
    r"\breturncode\b|\$\?": "exit status code",
    r"st_mode": "mode",
}
_SKIPPED = re.compile(
    r"\W*(?:load|we (?:provide|give)|there (?:is|are)|do not|don't|never|avoid|no\b|try|use\b|assume)", re.I
)


@rule(
    "criterion-untested",
    "SL201",
    needs={Role.BRIEF, Role.VERIFIER},
    refute="a check that fails when the criterion is not met",
)
def criterion_untested(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    code = "\n".join(f.text for f in verifier.files) if verifier else ""
    if (
        verifier is None
        or not code.strip()
        or _JUDGED.search(code)
        or any(g.kind == "prompt" for g in verifier.graders)
    ):
        return
    mapping = map_task(task)
    seen: set[int] = set()
    for criterion in mapping.left_out:
        seen.add(id(criterion))
        named = ", ".join(sorted(mapping.marked_anywhere)) or "the others"
        yield _finding(criterion, f"the verifier names the criteria it covers ({named}), but never {criterion.number}")
    for criterion, call in _unread_results(task, mapping):
        if id(criterion) not in seen:
            seen.add(id(criterion))
            yield _finding(
                criterion, "what the repeated calls return is never looked at", [(call, "the result is dropped")]
            )
    for criterion in _never_mentioned(mapping, code):
        if id(criterion) not in seen:
            yield _finding(criterion, "nothing in the verifier speaks of it", confidence=Confidence.LOW)


def _finding(
    criterion: Criterion, why: str, places: list[tuple[Span, str]] | None = None, confidence: Confidence | None = None
) -> Finding:
    text = criterion.text if len(criterion.text) <= 70 else criterion.text[:69] + "…"
    return Finding.at(
        criterion.span,
        f"no check covers criterion {criterion.number}, “{text}”: {why}",
        help=HELP,
        related=[related(span, words) for span, words in places or []],
        severity=Severity.WARNING,
        confidence=confidence,
    )


def _unread_results(task: Task, mapping: Mapping) -> Iterator[tuple[Criterion, Span]]:
    """Criteria that promise right results of repeated calls, and a loop that drops what the submission returns."""
    wanted = [c for c in mapping.criteria if _EVERY_CALL.search(c.text) and _RIGHT.search(c.text)]
    dropped = list(_dropped_calls(task)) if wanted else []
    for criterion in wanted:
        yield from ((criterion, span) for span in dropped[:1])


def _dropped_calls(task: Task) -> Iterator[Span]:
    brief = "\n".join(b.prose.text for b in task.briefs)
    functions = set(re.findall(r"\b([A-Za-z_]\w*)\(", brief))
    scripts = {t.plain.rpartition("/")[2] for t in find_paths(brief) if t.plain.endswith((".py", ".sh", ".js"))}
    for fragment in task.verifier.code("python") if task.verifier else ():
        module = python.parse(fragment)
        read = {n.id for n in ast.walk(module.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for loop in ast.walk(module.tree):
            for statement in loop.body if isinstance(loop, ast.For | ast.While) else []:
                call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
                kept = isinstance(statement, ast.Assign) and any(
                    not isinstance(t, ast.Name) or t.id in read for t in statement.targets
                )
                if isinstance(call, ast.Call) and not kept and _calls(call, functions, scripts):
                    yield module.span(statement)


def _calls(call: ast.Call, functions: set[str], scripts: set[str]) -> bool:
    """Whether a call runs the submission: a function that the brief names, or a process with its script."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in functions:
        return True
    texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return name in ("run", "check_call", "call") and any(t.rpartition("/")[2] in scripts for t in texts)


def _never_mentioned(mapping: Mapping, code: str) -> Iterator[Criterion]:
    """Criteria whose names, quoted texts and words are strange to a verifier that speaks of nearly all the others."""
    for idiom, words in _IDIOMS.items():
        code += f"\n{words}" if re.search(idiom, code) else ""
    verifier, folded = Vocabulary(code), code.lower()
    strange = mapping.uncovered if mapping.checks else []
    if len(strange) * 4 > len(mapping.criteria):
        return
    for criterion in strange:
        about = Vocabulary(criterion.raw.replace("**", ""))
        texts = {v for v in about.values if len(v) >= 4 and not v.startswith((".", "-"))} - about.paths
        if not texts or not is_demand(criterion.text) or _SKIPPED.match(criterion.text):
            continue
        if about.numbers & verifier.numbers or any(t in folded for t in texts | about.paths | about.names):
            continue
        share = len(about.words & verifier.words) / max(len(about.words), 1)
        if share <= (0.25 if len(texts) > 1 else 0.15):
            yield criterion
