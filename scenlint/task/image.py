"""What is in the environment before the agent starts: paths, the task's files behind them, and what stays unknown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scenlint.source import dockerfile, shell
from scenlint.source.dockerfile import Instruction, Stage
from scenlint.source.text import Span
from scenlint.task.paths import normal, pattern
from scenlint.task.policy import DEFAULT_APPROVED_IMAGES

if TYPE_CHECKING:
    from scenlint.task.model import BuildFile, Task

ARCHIVES = tuple(
    f".{e}"
    for e in ("tar", "gz", "tgz", "bz2", "xz", "zip", "7z", "zst", "whl", "jar", "deb", "rpm", "bundle", "iso", "img")
)
# Commands that leave no file whose name or content a brief could be about.
_SILENT = """
    apt-get apt apt-key apk yum dnf microdnf pip pip3 pipx uv poetry conda mamba echo printf cat chmod chown chgrp
    useradd adduser groupadd usermod passwd chpasswd export set unset true false ls test [ [[ (( : sleep service
    systemctl update-alternatives locale-gen dpkg-reconfigure dpkg update-ca-certificates ldconfig which command type
    hash source . eval exit return read wait trap id whoami pwd date uname grep find sort uniq head tail wc sync rm
    rmdir cd mkdir touch ln tee sed env rustup corepack getent stat file umask visudo debconf-set-selections
    npm yarn pnpm gem cargo go Rscript R cpan cpanm luarocks composer opam stack cabal playwright install cp mv
"""
_PLAIN = re.compile(r"(?:ubuntu|debian|python|node|alpine)[-_]?[\d.-]*(?:slim)?$")
_QUIET = frozenset(_SILENT.split())


@dataclass(frozen=True)
class Given:
    """A path that exists when the agent starts. `file`: the task's own file behind it, where there is one."""

    path: str
    file: str | None = None
    span: Span | None = None  # what makes it
    folder: bool = False


@dataclass
class Image:
    """The agent's starting point."""

    given: dict[str, Given] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # task file -> where the agent finds it
    unlisted: list[str] = field(default_factory=list)  # why further paths may exist
    unknown: list[str] = field(default_factory=list)  # why a path's content cannot be known

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that exists, and the last name of each."""
        found = {g.path for g in self.given.values() if g.folder}
        for path in self.given:
            while path := posixpath.dirname(path):
                found.add(path)
                if path == "/":
                    break
        return frozenset(found | {posixpath.basename(f) for f in found})

    @cached_property
    def _open(self) -> list[tuple[re.Pattern[str], Given]]:
        return [(pattern(p), g) for p, g in self.given.items() if "*" in p]

    @cached_property
    def _tails(self) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for path in self.given:
            out.setdefault(posixpath.basename(path).lower(), []).append(path)
        return out

    def find(self, path: str, workdir: str | None = None) -> Given | None:
        """What exists at a path; a relative one may count from the working directory or from any other folder."""
        asked = normal(path)
        path = posixpath.normpath(posixpath.join(workdir or "", asked))
        if path in self.given:
            return self.given[path]
        if path in self.folders:
            return Given(path, folder=True)
        for known in self._tails.get(posixpath.basename(path).lower(), []):
            relative = not known.startswith("/") or not asked.startswith("/")
            if relative and ("/" + known).endswith("/" + asked.lstrip("/")):
                return self.given[known]
        return next((g for p, g in self._open if p.fullmatch(path)), None)

    def named(self, name: str) -> list[Given]:
        """Everything with this base name, wherever it lies."""
        return [self.given[p] for p in self._tails.get(name.lower(), [])]


def read_image(task: Task, *, hide: bool = True) -> Image:
    """The starting point of a task; empty where it has no environment.

    `hide`: leave out the verifier's and the oracle's own folders, even if the build copies them.
    """
    environment = task.environment
    if environment is None:
        return Image(unlisted=["the task has no environment"] if task.sites else [])
    from scenlint.task.model import Place

    image = Image()
    builds = [b for b in environment.builds if b.place is Place.AGENT]
    for build in builds:
        _Builder(task, build, image, hide).run()
    for service in environment.builds:
        if service.place is Place.SERVICE:
            _Builder(task, service, Image(files=image.files)).run()
    agent_images = [i for i in environment.images if i.place is Place.AGENT]
    if not builds and agent_images:
        image.unlisted.append(f"it starts from the prebuilt image `{agent_images[0].reference}`")
    if task.sites:
        image.unlisted.append("its applications hold data that no file of the task shows")
    _mounts(task, image)
    if not environment.builds and not agent_images:
        for file in environment.files:
            _put(image, Given(normal(file), file))
    for name in environment.inline:
        _put(image, Given(normal(name)))
    if not task.files.complete:
        image.unlisted.append("it has more files than are listed")
    return image


def plain_base(reference: str) -> bool:
    """Whether an image is one of an operating system or a language, which brings no file a brief would be about."""
    repository = reference.partition("@")[0]
    head, _, last = repository.rpartition("/")
    repository = f"{head}/{last.partition(':')[0]}" if head else last.partition(":")[0]
    known = {name.rpartition("/")[2] for name in DEFAULT_APPROVED_IMAGES}
    name = repository.rpartition("/")[2].lower()
    return repository == "scratch" or name in known or bool(_PLAIN.match(name))


def _put(image: Image, given: Given) -> None:
    image.given[given.path] = given
    if given.file is not None:
        image.files.setdefault(given.file, given.path)


def _mounts(task: Task, image: Image) -> None:
    """Folders that a compose file puts into the services."""
    environment = task.environment
    for document in environment.compose if environment else []:
        services = document.data.value.get("services") if isinstance(document.data.value, dict) else None
        base = posixpath.dirname(_relative(task, document.fragment.path))
        for service in (services or {}).values() if isinstance(services, dict) else []:
            for volume in service.get("volumes") or [] if isinstance(service, dict) else []:
                source, target = _volume(volume)
                if not source.startswith(".") or not target.startswith("/"):
                    continue
                place = posixpath.normpath(posixpath.join(base, source))
                for given in _copied(task, "" if place == "." else place, target):
                    _put(image, given)


def _volume(volume: Any) -> tuple[str, str]:
    if isinstance(volume, dict):
        return str(volume.get("source", "")), str(volume.get("target", ""))
    source, _, rest = str(volume).partition(":")
    return source, rest.partition(":")[0]


def _relative(task: Task, path: Any) -> str:
    try:
        return str(path.relative_to(task.files.root).as_posix())
    except ValueError:
        return ""


def _copied(task: Task, source: str, target: str, span: Span | None = None) -> list[Given]:
    """A file or a folder of the task, put at a place."""
    if source in task.files:
        return [Given(target, source, span)]
    prefix = source + "/" if source else ""
    found = [Given(normal(f"{target}/{e.path[len(prefix) :]}"), e.path, span) for e in task.files.under(source)]
    return [*found, Given(target, None, span, folder=True)] if found or task.files.has_dir(source) else []


class _Builder:
    """Follows a Dockerfile from top to bottom, as far as its files can be known without running it."""

    def __init__(self, task: Task, build: BuildFile, image: Image, hide: bool = True) -> None:
        self.task = task
        self.build = build
        self.image = image
        hidden = [task.verifier.folder if task.verifier else None, task.oracle.folder if task.oracle else None]
        self.hidden = tuple(f.strip("/") + "/" for f in hidden if f and hide)

    def run(self) -> None:
        parsed = dockerfile.parse(self.build.fragment, self.build.arguments)
        final = parsed.final(self.build.target)
        if final is None or parsed.problems:
            self.image.unlisted.append("part of its Dockerfile could not be read")
        if self.build.context is None:
            self.image.unlisted.append("its build context lies outside the task")
        if final is not None:
            for given in self.stage(parsed, final, self.image, set()).values():
                _put(self.image, given)

    def stage(self, parsed: dockerfile.Dockerfile, stage: Stage, image: Image, seen: set[int]) -> dict[str, Given]:
        seen.add(stage.index)
        base = stage.root.base.text or stage.root.base.raw
        if not plain_base(base):
            image.unlisted.append(f"its base image `{base}` may hold files of its own")
        made: dict[str, Given] = {}
        for step in stage.history:
            if step.onbuild:
                continue
            if step.keyword in ("COPY", "ADD"):
                self.copy(parsed, step, image, made, seen)
            elif step.keyword == "RUN":
                for script in step.scripts:
                    self.script(script, step, image, made)
            elif step.keyword == "WORKDIR" and step.words and step.words[0].text:
                place = posixpath.normpath(posixpath.join(step.workdir or "/", step.words[0].text))
                made[place] = Given(place, None, step.span, folder=True)
        return made

    def copy(
        self, parsed: dockerfile.Dockerfile, step: Instruction, image: Image, made: dict[str, Given], seen: set[int]
    ) -> None:
        target = step.destination or (step.words[-1].text if step.words else None)
        if not target:
            image.unlisted.append("a COPY goes to a place that is not known")
            return
        if step.heredocs and not step.sources:
            made[target.rstrip("/")] = Given(target.rstrip("/"), None, step.span)
            return
        known = made.get(normal(target))
        below = target.endswith("/") or len(step.sources) > 1 or bool(known and known.folder)
        for source in step.sources:
            if source.text is None:
                image.unlisted.append(f"`{source.raw}` in its Dockerfile is not known")
            elif not step.local:
                self.from_stage(parsed, step, source.text, normal(target), below, image, made, seen)
            elif re.match(r"[a-z]+://|git@", source.text):
                image.unlisted.append(f"it downloads `{source.text}`")
            elif self.build.context is not None:
                for given in self.from_context(step, source.text, normal(target), below, image):
                    made[given.path] = given
                    if given.file and given.file.lower().endswith(ARCHIVES):
                        image.unlisted.append(f"it holds the archive `{given.file}`")

    def from_context(self, step: Instruction, source: str, target: str, below: bool, image: Image) -> Iterator[Given]:
        context = (self.build.context or "").strip("/").removeprefix("./")
        base = "" if context in ("", ".") else context + "/"
        inside = posixpath.normpath(source.lstrip("/") or ".")
        whole = "" if inside == "." else inside
        places = [(base + whole).rstrip("/")]
        if re.search(r"[*?\[]", inside):
            glob = re.compile(re.escape(base) + pattern(inside).pattern)
            known = {e.path for e in self.task.files} | self.task.files.directories
            places = sorted(p for p in known if glob.fullmatch(p))
            below = True
        for place in places:
            if place not in self.task.files and not self.task.files.has_dir(place) and place:
                # A large file is often left out of a checkout; whether it should be there is another rule's question.
                image.unlisted.append(f"`{place}` is not at hand")
                goes = normal(f"{target}/{posixpath.basename(place)}") if below else target
                yield Given(goes, None, step.span)
                continue
            is_file = place in self.task.files
            goes = normal(f"{target}/{posixpath.basename(place)}") if is_file and below else target
            for given in _copied(self.task, place, goes, step.span):
                if given.file is None or not (given.file.startswith(self.hidden) or self.ignored(base, given.file)):
                    yield given

    @cached_property
    def _ignore(self) -> Any:
        context = (self.build.context or "").strip("/").removeprefix("./")
        name = ".dockerignore" if context in ("", ".") else f"{context}/.dockerignore"
        listed = self.task.files.read(name)
        if listed is None:
            return None
        from pathspec import GitIgnoreSpec

        lines = [line.strip() for line in listed.text.splitlines()]
        # Docker's patterns count from the context's root; git's only do so with a leading slash.
        rooted = [re.sub(r"^(!?)/?(.+)$", r"\1/\2", line) for line in lines if line and not line.startswith("#")]
        return GitIgnoreSpec.from_lines(rooted)

    def ignored(self, base: str, file: str) -> bool:
        return self._ignore is not None and bool(self._ignore.match_file(file.removeprefix(base)))

    def from_stage(
        self, parsed: dockerfile.Dockerfile, step: Instruction, source: str, target: str, below: bool,
        image: Image, made: dict[str, Given], seen: set[int],
    ) -> None:  # fmt: skip
        origin = step.flag("from")
        stage = parsed.stage(origin.text or "" if origin else "")
        goes = normal(f"{target}/{posixpath.basename(source.rstrip('/'))}") if below else target
        if stage is None or stage.index in seen:
            made[goes] = Given(goes, None, step.span)
            return
        theirs = self.stage(parsed, stage, image, set(seen))
        root = normal(source if source.startswith("/") else "/" + source)
        found = [g for p, g in theirs.items() if p == root or p.startswith(root.rstrip("/") + "/")]
        for given in found:
            tail = given.path[len(root.rstrip("/")) :] if given.path != root else ""
            place = normal((target if tail or given.folder else goes) + tail)
            made[place] = Given(place, given.file, step.span, given.folder)
        made.setdefault(goes, Given(goes, None, step.span))

    def script(self, fragment: Any, step: Instruction, image: Image, made: dict[str, Given]) -> None:
        if fragment.language != "shell":
            image.unlisted.append(f"its Dockerfile runs {fragment.language} code")
            return
        here = step.workdir or "/"

        def place(word: Any) -> str:
            return normal(posixpath.join(here, word.pattern))

        def put(word: Any, *, folder: bool = False, file: str | None = None) -> None:
            if word.pattern and not word.pattern.startswith(("/dev/", "&")):
                made[place(word)] = Given(place(word), file, step.span, folder)

        for command in shell.parse(fragment).deep():
            name = command.tool or command.program or ""
            words = [w for w in command.arguments if not w.is_option]
            for redirect in command.redirects:
                if redirect.writes and redirect.target:
                    put(redirect.target)
            if name == "cd" and words:
                here = place(words[0])
            elif name in ("mkdir", "touch", "tee"):
                for word in words:
                    put(word, folder=name == "mkdir")
            elif name in ("cp", "mv", "install", "ln") and len(words) > 1:
                self.move(name, [place(w) for w in words], step, made)
            elif name == "rm":
                for gone in map(place, words):
                    for path in [p for p in made if p == gone or p.startswith(gone.rstrip("/") + "/")]:
                        del made[path]
            elif name in ("useradd", "adduser") and words:
                home = f"/home/{words[-1].pattern}"
                made[home] = Given(home, None, step.span, folder=True)
            elif name and name not in _QUIET:
                image.unlisted.append(f"it runs `{name}` while it is built")

    @staticmethod
    def move(name: str, places: list[str], step: Instruction, made: dict[str, Given]) -> None:
        *sources, target = places
        for source in sources:
            known = made.get(source)
            below = len(sources) > 1 or (target in made and made[target].folder)
            goes = normal(f"{target}/{posixpath.basename(source)}") if below else target
            made[goes] = Given(goes, known.file if known else None, step.span, bool(known and known.folder))
            for path in [p for p in made if p.startswith(source.rstrip("/") + "/")]:
                inside = normal(goes + path[len(source.rstrip("/")) :])
                made[inside] = Given(inside, made[path].file, step.span, made[path].folder)
            if name == "mv" and goes != source:
                for path in [p for p in made if p == source or p.startswith(source.rstrip("/") + "/")]:
                    del made[path]
