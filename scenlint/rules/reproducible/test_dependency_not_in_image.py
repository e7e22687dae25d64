"""Something that the verifier runs or imports and that no build step installs."""

import ast
import re
import sys
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source import python
from scenlint.source.shell import AndOr, Command
from scenlint.source.text import Span
from scenlint.task.installs import Origin
from scenlint.task.provides import Provision, provided
from scenlint.task.runs import verifier_runs

_HELP = "install it at build time with a pinned version; as it is, the verifier fails and the agent is blamed"
_TOOLS = {"pytest": "pytest", "py.test": "pytest"}
_PLUGINS = {
    "--ctrf": "pytest-json-ctrf", "--timeout": "pytest-timeout", "-n": "pytest-xdist", "--numprocesses": "pytest-xdist",
    "--cov": "pytest-cov", "--json-report": "pytest-json-report", "--html": "pytest-html",
    "--asyncio-mode": "pytest-asyncio", "--benchmark-only": "pytest-benchmark", "--reruns": "pytest-rerunfailures",
}  # fmt: skip
# Programs that no plain image of a distribution has.
_PROGRAMS = """
    python3 python pip pip3 curl wget git jq node npm npx make gcc bats shellcheck sqlite3 psql redis-cli
    xmllint unzip tree java javac mvn gradle ruby php go cargo rustc nc bc file xxd cmake uv uvx
"""
# Import name -> name of the distribution, where they differ.
_DISTRIBUTIONS = {
    "yaml": "pyyaml", "PIL": "pillow", "sklearn": "scikit-learn", "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil", "Crypto": "pycryptodome", "psycopg2": "psycopg2-binary",
    "cv2": "opencv-python",
}  # fmt: skip
_KNOWN = """
    pytest requests numpy scipy pandas yaml toml psutil lxml flask jinja2 click tqdm bs4 openpyxl PIL redis
    pexpect sklearn psycopg2 cryptography Crypto networkx sympy matplotlib httpx aiohttp jsonschema pydantic
    hypothesis selenium playwright docker paramiko
"""


@rule(
    "test-dependency-not-in-image",
    "SL310",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER, Role.ENVIRONMENT},
    refute="the command or import works in the image as it is built, before the agent starts",
)
def test_dependency_not_in_image(task: Task) -> Iterator[Finding]:
    provision = provided(task)
    told: set[str] = set()
    for name, span, what in [*_commands(task, provision), *_plugins(task, provision), *_imports(task, provision)]:
        if name not in told and not any(re.search(rf"\b{re.escape(name)}\b", b.prose.text, re.I) for b in task.briefs):
            told.add(name)
            yield Finding.at(span, f"{what}, which no build step installs", help=_HELP)


def _commands(task: Task, provision: Provision) -> Iterator[tuple[str, Span, str]]:
    for run in verifier_runs(task):
        command = run.command
        program = command.program or ""
        first = command.words[0].span if command.words else command.span
        if program in command.script.functions or _is_optional(command):
            continue
        tool = _TOOLS.get(command.tool or "")
        if tool and _is_bare(command) and provision.lacks_tool(tool):
            yield tool, first, f"the verifier runs `{tool}`"
        elif (
            program in _PROGRAMS.split()
            and run.script.language == "shell"
            and "/" not in (command.words[0].text or "")
            and provision.lacks_program(program)
        ):
            yield program, first, f"the verifier runs `{program}`"
        elif program in ("source", ".") and command.script_word is not None:
            path = command.script_word.text or ""
            home = path.removesuffix("/bin/activate")
            certain = provision.is_known and not provision.unclear and home not in provision.text
            if home != path and home.startswith("/") and certain:
                yield path, command.script_word.span, f"the verifier activates `{path}`"


def _is_optional(command: Command) -> bool:
    """Whether the script goes on another way where the command is missing."""
    asked = rf"\b(?:command -[vV]|which|type|hash)\s+(?:-\w+\s+)?{re.escape(command.program or '')}\b"
    alternatives = (a for a in command.ancestors() if isinstance(a, AndOr))
    script = command.script.fragment
    return (
        any("||" in a.operators for a in alternatives)
        or script.memo(asked, lambda: re.search(asked, script.text)) is not None
    )


def _plugins(task: Task, provision: Provision) -> Iterator[tuple[str, Span, str]]:
    """Options of pytest that only a plugin understands."""
    for run in verifier_runs(task):
        command = run.command
        if command.tool != "pytest" or _is_optional(command):
            continue
        own = run.installs
        isolated = command.program == "uvx" and all(i.origin is Origin.INDEX for i in own)
        for word in command.tool_words[1:]:
            plugin = _PLUGINS.get(word.pattern.partition("=")[0])
            absent = isolated and plugin not in {i.name for i in own}
            if plugin and (absent or (_is_bare(command) and provision.lacks_tool(plugin))):
                yield plugin, word.span, f"pytest's option `{word.raw}` needs `{plugin}`"


def _is_bare(command: Command) -> bool:
    """Whether a tool is started from the image itself: by name, or as a module of its Python."""
    program = command.program or ""
    return program in _TOOLS or re.fullmatch(r"python[\d.]*", program) is not None


def _imports(task: Task, provision: Provision) -> Iterator[tuple[str, Span, str]]:
    installed = provision.distributions
    if installed is None or task.verifier is None:
        return
    own = {f.path.stem for f in task.verifier.code("python")}
    for fragment in task.verifier.code("python"):
        module = python.parse(fragment)
        for node in module.tree.body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in (n.partition(".")[0] for n in names):
                distribution = _DISTRIBUTIONS.get(name, name.lower().replace("_", "-"))
                absent = name in _KNOWN.split() and name not in sys.stdlib_module_names and name not in own
                if absent and distribution not in installed and not provision.mentions(distribution):
                    yield name, module.span(node), f"the verifier imports `{name}`"
