"""A login in the verifier that contradicts the one the brief gives for the same application."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, related, rule
from scenlint.source.python import parse
from scenlint.task.credentials import Login, told_logins, used_logins


@rule(
    "credentials-mismatch",
    "SL211",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.BRIEF, Role.SITES, Role.VERIFIER},
    formats={"saas-bench"},  # only its tasks declare applications
    refute="the application has both logins, and the verifier's is an account of its own",
)
def credentials_mismatch(task: Task) -> Iterator[Finding]:
    variables = task.environment.variables if task.environment else None
    if variables is None or task.verifier is None:
        return
    told = [login for brief in task.briefs for login in told_logins(brief.prose, (s.name for s in task.sites))]
    words = " ".join(brief.prose.text for brief in task.briefs)
    for fragment in task.verifier.code("python"):
        used = list(used_logins(parse(fragment), variables))
        for login in used:
            other = _contradicted(login, told)
            # One of several attempts, or a password that the brief has the agent set.
            tried = [u for u in used if u.app == login.app and u.user == login.user]
            if other is None or any(_agrees(u, told) for u in tried):
                continue
            what = "password" if login.user == other.user else "user name"
            if what == "password" and login.password in words:
                continue
            yield Finding.at(
                login.span,
                f"the verifier logs in to `{other.app}` with another {what} than the brief gives",
                help="use the login of the brief, so that the verifier sees what the agent sees",
                related=[related(other.span, "the brief's login")],
            )


def _agrees(login: Login, told: list[Login]) -> bool:
    return any(t.app == (login.app or t.app) and t.user == login.user and t.password == login.password for t in told)


def _contradicted(login: Login, told: list[Login]) -> Login | None:
    """The login of the brief that this one was meant to be; an account that the brief lacks is the verifier's own."""
    if login.app is None:
        same = [t for t in told if t.user == login.user and login.user is not None]
        return same[0] if same and all(t.password != login.password for t in same) else None
    for other in (t for t in told if t.app == login.app):
        if other.user == login.user and other.password != login.password:
            return other
        if other.password == login.password and _close(other.user, login.user):
            return other
    return None


def _close(one: str | None, two: str | None) -> bool:
    return bool(one and two) and one != two and SequenceMatcher(None, one or "", two or "").ratio() >= 0.85
