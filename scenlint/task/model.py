"""What a task IS, whatever its format: Task with its brief, environment, verifier, oracle and budget.

A format fills these from files (formats/), rules read them (rules/), the harness never sees them. Every role may be
absent, and then `Task.absent` says why. Text is held as Fragments, so every position leads back to a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scenlint.source.data import Data
from scenlint.source.files import FileTree
from scenlint.source.lazy import cached_property
from scenlint.source.text import Fragment, Span
from scenlint.task.finding import Severity
from scenlint.task.policy import Policy
from scenlint.task.suppression import Suppression, find_suppressions

if TYPE_CHECKING:
    from scenlint.task.checks import Survey
    from scenlint.task.checks.model import Check
    from scenlint.task.criteria import Criterion
    from scenlint.task.judgements import Judgement
    from scenlint.task.visible import Visible

T = TypeVar("T")


class Role(StrEnum):
    """A part of a task that a rule may need."""

    BRIEF = "brief"
    STEPS = "steps"
    METADATA = "metadata"
    SITES = "sites"
    ENVIRONMENT = "environment"
    VERIFIER = "verifier"
    ORACLE = "oracle"
    BUDGET = "budget"


class NotAssessableError(Exception):
    """Raised by a rule that finds, once under way, that it cannot judge a task; the text is the reason."""


@dataclass(frozen=True)
class Value:
    """A value read from a file, with its place there (None where it is the format's default)."""

    value: Any
    span: Span | None = None


@dataclass
class Document:
    """A structured file (or a part of one): its parsed data, the JSON Schema it must meet, and what it is called."""

    name: str
    data: Data
    schema: dict[str, Any] | None = None

    @property
    def fragment(self) -> Fragment:
        return self.data.fragment


@dataclass(frozen=True)
class Requirement:
    """A file that the format requires, relative to the task's folder; `why` completes "… is missing: <why>"."""

    path: str
    why: str
    severity: Severity = Severity.ERROR
    met: bool = True


@dataclass(frozen=True)
class Claim:
    """An identity that metadata state and the folder's name decides: what is stated, where, and what it should be."""

    name: str
    value: Any
    span: Span | None
    expected: str
    binding: bool = True  # False: a convention, which no harness relies on


@dataclass(frozen=True)
class Step:
    """One item of the brief's work list, as the format's loader reads it."""

    text: str
    span: Span


@dataclass
class StepList:
    """The work list: its heading, the items the loader keeps, and those it drops with the reason."""

    heading: Span | None
    steps: list[Step] = field(default_factory=list)
    dropped: list[tuple[Span, str]] = field(default_factory=list)


@dataclass
class Brief:
    """What the agent is told. `prose` is the text as the agent sees it (canary and loader comments removed)."""

    prose: Fragment
    step: str | None = None  # name of the step of a multi-step task
    work_list: StepList | None = None  # only where the format's loader reads one

    @cached_property
    def criteria(self) -> list[Criterion]:
        """The success criteria it states, in order."""
        from scenlint.task.criteria import find_criteria

        return find_criteria(self.prose)


@dataclass(frozen=True)
class Site:
    """An application that the task's metadata declare. `known` is None where no list of applications is at hand."""

    name: str
    span: Span | None
    known: bool | None = None
    candidates: tuple[str, ...] = ()  # the names on the list


@dataclass(frozen=True)
class HarnessVariable:
    """An environment variable that the harness injects into the verifier, and the site it belongs to (or None)."""

    name: str
    site: str | None = None


@dataclass
class HarnessVariables:
    """The environment that the harness promises the verifier.

    `given` are set for this task; `available` would be if the task declared their site; `pattern` matches names that
    only the harness would set (a verifier that reads one neither given nor available reads nothing).
    """

    given: dict[str, HarnessVariable] = field(default_factory=dict)
    available: dict[str, HarnessVariable] = field(default_factory=dict)
    pattern: str = r"$^"


class Place(StrEnum):
    """Where something runs or which image it belongs to."""

    AGENT = "agent"
    VERIFIER = "verifier"
    SERVICE = "service"


@dataclass
class BuildFile:
    """A Dockerfile, its build context (folder relative to the task; None when elsewhere), and whose it is."""

    fragment: Fragment
    context: str | None
    place: Place = Place.AGENT
    service: str = "main"
    target: str | None = None
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageUse:
    """An image named outside a Dockerfile (metadata, compose file, apps list)."""

    reference: str
    span: Span
    place: Place = Place.AGENT
    service: str = "main"


@dataclass
class Environment:
    """What the agent is put into."""

    builds: list[BuildFile] = field(default_factory=list)
    images: list[ImageUse] = field(default_factory=list)
    compose: list[Document] = field(default_factory=list)
    files: list[str] = field(
        default_factory=list
    )  # relative paths of what the agent is given or the image is built from
    inline: dict[str, Fragment] = field(
        default_factory=dict
    )  # agent-visible file name -> content that stands in metadata
    workdir: str | None = None  # None: left open
    network: Value | None = None  # True or False where stated
    user: Value | None = None
    variables: HarnessVariables | None = None  # None: the harness promises none by name


class Contract(StrEnum):
    """How a verifier's verdict is read."""

    REWARD_FILE = "reward file"  # Harbor: /logs/verifier/reward.txt or reward.json
    TEST_SUMMARY = "test summary"  # legacy Terminal-Bench: pytest's short summary on the terminal
    POINT_LINES = "point lines"  # SaaS-Bench: [PASS] (Npt) label on stderr
    EXIT_STATUS = "exit status"  # Waza program graders, packets
    JSON_LINE = "json line"  # DeepGym


class Isolation(StrEnum):
    """Where the verifier runs, seen from the agent's work."""

    SHARED = "shared"  # in the agent's container, after the agent
    SEPARATE = "separate"  # in a container of its own
    HOST = "host"  # on the harness's machine, outside the containers
    JUDGE = "judge"  # in a judge process whose helpers isolate the submission (DeepGym)


@dataclass
class Grader:
    """One declared unit of grading: test.sh, a Waza grader, a packet's check, verify.py, verifier.py."""

    name: str
    span: Span | None  # where it is declared, or the whole script
    kind: str = "program"  # Waza's grader types; "program" for everything that is run
    argv: list[Value] = field(default_factory=list)  # as declared; empty where a script is run by convention
    script: Fragment | None = None  # the code that is run first, where it is at hand
    required: bool = True
    weight: float | None = None
    timeout: Value | None = None
    scope: str = "task"  # "suite" for graders that every task of a suite shares
    config: Any = None  # the declared configuration of graders that are not run
    missing: list[Value] = field(default_factory=list)  # files it names that lie nowhere the harness would look


@dataclass
class Verifier:
    """What grades the agent's work. `files` holds all of its code and data, the graders' scripts included."""

    graders: list[Grader]
    contract: Contract
    isolation: Isolation
    files: list[Fragment] = field(default_factory=list)
    folder: str | None = None  # its folder relative to the task, "" for the task's folder itself
    mount: str | None = None  # where that folder lies when it runs, e.g. /tests
    workdir: str | None = None  # None: unspecified
    verdict_paths: tuple[str, ...] = ()  # REWARD_FILE: the paths that count
    env: dict[str, Value] = field(default_factory=dict)
    truth: list[str] = field(default_factory=list)  # relative paths of data files that only the verifier sees

    def code(self, *languages: str) -> Iterator[Fragment]:
        """Its fragments in the given languages ("python", "shell", …)."""
        return (f for f in self.files if f.language in languages)


@dataclass
class Oracle:
    """The reference solution: what is run or submitted first, and all of its files."""

    entry: Fragment
    files: list[Fragment] = field(default_factory=list)
    folder: str | None = None


@dataclass(frozen=True)
class Limit:
    """A time limit in seconds. `value.value` None: not set, and the format has no default."""

    name: str  # "agent", "verifier", "build"
    value: Value
    where: str  # e.g. "[agent] timeout_sec in task.toml"
    cap: float | None = None  # the harness's own hard limit


@dataclass
class Budget:
    """The limits under which a trial runs."""

    limits: list[Limit] = field(default_factory=list)


@dataclass
class Task:
    """One task of one format. `folder` is what is linted and shown; `key` tells tasks of one folder apart."""

    id: str
    format: str
    folder: Path
    files: FileTree
    key: str = ""
    policy: Policy = field(default_factory=Policy)
    suite: Path | None = None  # the folder or file that groups it with others
    shared: bool = False  # not a task itself but what a suite's tasks share (an apps list)

    documents: list[Document] = field(default_factory=list)  # metadata, most important first
    requirements: list[Requirement] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    briefs: list[Brief] = field(default_factory=list)
    environment: Environment | None = None
    verifier: Verifier | None = None
    oracle: Oracle | None = None
    oracle_place: str | None = None  # where the format looks for an oracle; None: it has no place for one
    budget: Budget | None = None
    known_files: set[str] = field(default_factory=set)  # relative paths that the format or something in the task reads
    absent: dict[Role, str] = field(default_factory=dict)  # why a role is not there

    # Filled by the engine for the rules that judge suppressions: names in suppressions whose rule has run, and names
    # that no rule has (with the closest known ones).
    judged_names: frozenset[str] = frozenset()
    unknown_names: dict[str, list[str]] = field(default_factory=dict)
    _memo: dict[object, object] = field(default_factory=dict, repr=False)

    @property
    def metadata(self) -> Document | None:
        return self.documents[0] if self.documents else None

    def lacks(self, role: Role) -> str | None:
        """Why this task has no such role, or None if it has."""
        return None if _PRESENT[role](self) else self.absent.get(role, f"the task has no {role}")

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """Whatever is computed from this task is computed once."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[return-value]

    @cached_property
    def suppressions(self) -> list[Suppression]:
        """The suppressions in the comments of its files."""
        verifier, oracle, given = self.verifier, self.oracle, self.environment
        code = [*(verifier.files if verifier else ()), *(oracle.files if oracle else ())]
        code += [build.fragment for build in given.builds] if given else []
        whole = {id(f) for f in code if len(f.text) == len(f.source.text)}
        return find_suppressions(self.files, [f for f in code if id(f) not in whole])

    @cached_property
    def survey(self) -> Survey:
        """What was seen while the verifier's programs were followed (never run)."""
        from scenlint.task.checks import survey

        return survey(self)

    @property
    def checks(self) -> list[Check]:
        """Every graded assertion of the verifier, in the verifier's order; [] where none could be read."""
        return self.survey.checks

    @cached_property
    def judgements(self) -> list[Judgement]:
        """The comparisons by which the checks judge the agent's work, each once."""
        from scenlint.task.judgements import judgements

        return list(judgements(self))

    @cached_property
    def visible(self) -> Visible:
        """Everything that the agent can read: brief, environment files, what the build makes of them."""
        from scenlint.task.visible import Visible

        return Visible(self)


_PRESENT: dict[Role, Callable[[Task], object]] = {
    Role.BRIEF: lambda task: task.briefs,
    Role.STEPS: lambda task: any(b.work_list is not None for b in task.briefs),
    Role.METADATA: lambda task: task.documents,
    Role.SITES: lambda task: task.sites,
    Role.ENVIRONMENT: lambda task: task.environment,
    Role.VERIFIER: lambda task: task.verifier,
    Role.ORACLE: lambda task: task.oracle,
    Role.BUDGET: lambda task: task.budget,
}


def once_a_task(find: Callable[[Task], Iterable[T]]) -> Callable[[Task], list[T]]:
    """What several rules ask of a task is looked for once."""

    @wraps(find)
    def asked(task: Task) -> list[T]:
        return task.memo(find, lambda: list(find(task)))

    return asked
