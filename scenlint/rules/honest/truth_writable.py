"""The expected values are worked out from files that the agent can write."""

import posixpath
import re
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.regex import regex
from scenlint.task.checks import Comparison
from scenlint.task.model import Isolation
from scenlint.task.users import agent_is_root

_CODE = regex(
    r"\.(?:py|sh|c|cc|cpp|h|js|ts|go|rs|java|rb|pl|r|R|sql|ipynb|lean|v|so|exe|toml|ya?ml|conf|cfg|ini|service)$"
)
# What keeps a verifier from being fooled by a changed input.
_GUARDS = regex(
    r"sha\d+|md5|blake2|hashlib|checksum|filecmp|pristine|getmtime|st_mtime|tamper|unchanged|unmodified|integrity", re.I
)
_MEANT = (
    r"\b(?:fix|modify|edit|update|overwrite|correct|repair|clean|append|in[- ]place|replace|change|amend)\b"
    r"[^.\n]{{0,80}}{name}|"
    r"{name}[^.\n]{{0,40}}\b(?:in[- ]place|must be (?:fixed|updated|corrected))"
)


@rule(
    "truth-writable",
    "SL405",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER, Role.ENVIRONMENT},
    refute="with the input emptied or changed by the agent, its work is graded 0",
)
def truth_writable(task: Task) -> Iterator[Finding]:
    verifier = task.verifier
    if verifier is None or verifier.isolation is not Isolation.SHARED or not agent_is_root(task):
        return
    texts = [f.text for f in verifier.files]
    inputs: dict[str, Comparison] = {}
    for comparison in (c for check in task.checks for c in check.comparisons):
        if comparison.has_constant or comparison.operator in ("!=", "is not"):
            continue  # that the work differs from the input says little of what is right
        # What a command prints may come from the paths that it was given.
        paths = () if "command" in comparison.sources else (*comparison.paths, *comparison.against)
        if any(_file(task, p) is None for p in paths):  # what the agent made is compared
            for path in paths:
                if _file(task, path) and _is_truth(task, path, texts):
                    inputs.setdefault(path, comparison)
    if inputs:
        (path, first), *others = inputs.items()
        more = f" and {len(others)} more file{'s' * (len(others) > 1)}" if others else ""
        yield Finding.at(
            first.span,
            f"what is right is worked out from `{path}`{more}, which the agent can write",
            help="read a copy in the verifier's own folder, or compare the file's hash with that of the shipped one",
            related=[related(task.folder / (_file(task, path) or ""), "shipped to the agent")],
        )


def _file(task: Task, path: str) -> str | None:
    """The task's own file behind a path of the agent's container."""
    given = task.visible.exists(path) if path.startswith("/") else None
    return given.file if given is not None and not given.folder else None


def _is_truth(task: Task, path: str, texts: list[str]) -> bool:
    """Whether it is an input that nobody is meant to change and nothing watches over."""
    name = posixpath.basename(path)
    if _CODE.search(name) or any(name in t and _GUARDS.search(t) for t in texts):
        return False
    if task.verifier and any(posixpath.basename(p) == name for p in task.verifier.truth):
        return False
    meant = re.compile(_MEANT.format(name=re.escape(name)), re.I)
    return not any(meant.search(b.prose.text) for b in task.briefs)
