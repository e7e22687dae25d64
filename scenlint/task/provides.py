"""What the image that a verifier runs in holds, as far as its Dockerfile shows, and why there may be more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from scenlint.source import dockerfile
from scenlint.task.images import Reference, split
from scenlint.task.installs import SYSTEM, Origin
from scenlint.task.installs.files import read_manifest
from scenlint.task.model import BuildFile, Isolation, Place, Task
from scenlint.task.policy import DEFAULT_APPROVED_IMAGES
from scenlint.task.runs import Run, build_runs, verifier_runs

# Programs that a full (not slim) image of a language carries beside those of its distribution.
_FULL = frozenset({"curl", "wget", "git", "gcc", "make", "unzip", "file", "python3"})
# Distribution packages that bring no program of another name that a verifier would call.
_PLAIN_PACKAGES = """
    ca-certificates curl wget git jq tmux screen vim vim-tiny nano less sudo procps unzip zip xz-utils bzip2
    gzip tar gnupg locales tzdata build-essential gcc g++ make bash coreutils sqlite3 bc file gawk expect cron
    openssh-client openssh-server nginx socat net-tools dnsutils iputils-ping iproute2 lsof strace rsync psmisc
    patch diffutils findutils cmake pkg-config python3 python3-pip python3-venv python3-dev python-is-python3
    python3-minimal libssl-dev libffi-dev zlib1g-dev libc6-dev musl-dev netcat-openbsd apt-transport-https
    bsdmainutils util-linux sed grep mawk tree ripgrep linux-headers
"""
# Packages that bring a program of another name.
_PROVIDERS = {
    "pip": "python3-pip", "pip3": "python3-pip", "python": "python-is-python3", "gcc": "build-essential g++",
    "make": "build-essential", "nc": "netcat-openbsd", "xxd": "vim vim-tiny",
}  # fmt: skip
# What installing these brings along; a package that is not listed may bring anything.
_BRINGS: dict[str, str] = {
    "pytest": "iniconfig packaging pluggy pygments tomli exceptiongroup colorama", "pytest-json-ctrf": "pytest",
    "pytest-timeout": "pytest", "pytest-cov": "pytest coverage", "pytest-xdist": "pytest execnet",
    "requests": "urllib3 certifi idna charset-normalizer", "numpy": "", "scipy": "numpy",
    "pandas": "numpy python-dateutil pytz tzdata six", "pyyaml": "", "toml": "", "tomli": "", "psutil": "",
    "lxml": "", "flask": "werkzeug jinja2 markupsafe itsdangerous click blinker", "jinja2": "markupsafe",
    "click": "", "tqdm": "", "beautifulsoup4": "soupsieve typing-extensions", "openpyxl": "et-xmlfile",
    "pillow": "", "redis": "", "pexpect": "ptyprocess", "scikit-learn": "numpy scipy joblib threadpoolctl",
    "psycopg2-binary": "", "cryptography": "cffi pycparser", "pycryptodome": "", "networkx": "",
    "sympy": "mpmath", "setuptools": "", "wheel": "", "pip": "", "uv": "", "python-dateutil": "six",
    "matplotlib": "numpy pillow python-dateutil six contourpy cycler fonttools kiwisolver packaging pyparsing",
}  # fmt: skip


@dataclass
class Provision:
    """The base images, and what builds and the verifier's own scripts install."""

    bases: list[Reference | None] = field(default_factory=list)
    python: set[str] = field(default_factory=set)  # distributions, by the name an index knows
    system: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)  # npm, gem, cargo, …
    unclear: list[str] = field(default_factory=list)  # installs whose content is not known
    text: str = ""  # of the build's files: a name that stands here may be provided in a way that is not understood

    @property
    def is_known(self) -> bool:
        """Whether every base image is an official one, so that nothing comes from it unseen."""
        return bool(self.bases) and all(b is not None and b.name in DEFAULT_APPROVED_IMAGES for b in self.bases)

    @cached_property
    def distributions(self) -> frozenset[str] | None:
        """Every Python distribution that is there; None where that is not known."""
        if not self.is_known or self.unclear or any(name not in _BRINGS for name in self.python):
            return None
        found, waiting = set[str](), list(self.python)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += _BRINGS.get(name, "").split()
        return frozenset(found | {"pip", "setuptools", "wheel"})

    def lacks_tool(self, name: str) -> bool:
        """Whether a Python tool (pytest) is surely not there: no install that may bring it, no word of it."""
        certain = self.is_known and not self.unclear and not self.mentions(name)
        return certain and not any(name in package for package in self.python | self.system)

    def lacks_program(self, name: str) -> bool:
        """Whether a program of the system is surely not there."""
        if not self.is_known or self.unclear or self.other or self.mentions(name):
            return False
        plain = _PLAIN_PACKAGES.split()
        providers = {name, *_PROVIDERS.get(name, "").split()}
        if any(p not in plain or p in providers or p.startswith(f"{name}-") for p in self.system):
            return False
        return all(base is not None and name not in (_carried(base) or {name}) for base in self.bases)

    def mentions(self, name: str) -> bool:
        """Whether the build's files say the word at all."""
        return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.text) is not None


def _carried(base: Reference) -> frozenset[str] | None:
    """The programs that an official image has beside the usual ones; None where that is not known."""
    alpine = base.name == "alpine" or "alpine" in base.tag
    system = frozenset({"wget", "unzip"}) if alpine else frozenset({"bash"})
    if base.name in ("debian", "ubuntu", "alpine"):
        return system
    if base.name == "python":
        full = frozenset() if alpine or "slim" in base.tag else _FULL
        return system | full | {"python3", "python", "pip", "pip3"}
    return None


def provided(task: Task) -> Provision:
    """What the verifier finds in the image it runs in, and what its own scripts add."""
    out = Provision()
    builds = _builds(task)
    for build in builds:
        parsed = dockerfile.parse(build.fragment, build.arguments)
        used = parsed.used(build.target)
        out.bases += [split(s.base.text or "") for s in used if s.parent is None]
        out.unclear += ["a part of its Dockerfile could not be read"] if parsed.problems else []
        steps = [i for s in used for i in s.instructions]
        foreign = [w for i in steps for w in i.origins if parsed.stage(w.text or "") is None]
        out.unclear += [f"files come from `{w.raw}`" for w in foreign]
        out.text += "\n".join(i.span.text for i in steps) + "\n"
        packed = [e.path for e in task.files.under(build.context or "") if _is_packed(e.path)]
        out.unclear += [f"`{p}` may hold packages" for p in packed[:1]]
    places = {b.place for b in builds}
    runs = [*build_runs(task, *places)] if builds else []
    out.text += "\n".join({r.script.text for r in runs})
    for run in [*runs, *verifier_runs(task)]:
        _add(task, out, run)
    return out


def _builds(task: Task) -> list[BuildFile]:
    """The builds of the image that the verifier runs in; [] where it runs in none, or in a prebuilt one only."""
    if (
        task.verifier is None
        or task.environment is None
        or task.verifier.isolation not in (Isolation.SHARED, Isolation.SEPARATE)
    ):
        return []
    own = [b for b in task.environment.builds if b.place is Place.VERIFIER]
    place = Place.VERIFIER if own and task.verifier.isolation is Isolation.SEPARATE else Place.AGENT
    return [b for b in task.environment.builds if b.place is place]


def _is_packed(path: str) -> bool:
    return re.search(r"site-packages/|/bin/activate$|\.whl$|(?:^|/)pytest/__init__\.py$", path) is not None


def _add(task: Task, out: Provision, run: Run) -> None:
    """Take in what one command installs, or that it is not known what it does."""
    program = run.command.program or ""
    for install in run.installs:
        if install.manager in SYSTEM:
            out.system.add(install.name)
        elif install.manager.split()[0] in ("npm", "pnpm", "yarn", "bun", "gem", "bundle", "cargo", "go"):
            out.other.add(install.name)
        elif install.origin is Origin.MANIFEST:
            folder = run.build.context if run.build else task.verifier.folder if task.verifier else None
            listed = read_manifest(task, install, folder)
            out.python |= {i.name for i in listed}
            out.unclear += [] if listed else [f"it installs from `{install.package}`"]
        elif (
            install.origin is not Origin.INDEX
            or not install.name
            or "[" in install.package
            or "conda" in install.manager
        ):
            out.unclear.append(f"it installs `{install.shown}`")
        else:
            out.python.add(install.name)
    called = run.command.script_word
    piped = run.command.position > 0 and program in ("sh", "bash", "python3", "python") and called is None
    unseen = run.instruction is not None and called is not None and program in ("sh", "bash", ".", "source")
    if piped or (unseen and not _followed(task, run)):
        out.unclear.append(f"it runs `{run.command.span.text[:60]}`")


def _followed(task: Task, run: Run) -> bool:
    """Whether the script that a build command calls is one of the task's."""
    name = (run.command.script_word.pattern if run.command.script_word else "").rpartition("/")[2]
    return any(e.name == name for e in task.files.under((run.build.context if run.build else "") or ""))
