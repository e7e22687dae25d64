"""Follows a Dockerfile to the files it leaves in an image, as far as they can be known without running it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scenlint.source import dockerfile, shell
from scenlint.source.dockerfile import Instruction, Stage
from scenlint.source.regex import regex
from scenlint.task.context import Context
from scenlint.task.image import ARCHIVES, Given, Image, copied, put
from scenlint.task.paths import normal, pattern
from scenlint.task.policy import DEFAULT_APPROVED_IMAGES

if TYPE_CHECKING:
    from scenlint.task.model import BuildFile, Task

# Commands that leave no file whose name or content a brief could be about.
_SILENT = """
    apt-get apt apt-key apk yum dnf microdnf pip pip3 pipx uv poetry conda mamba echo printf cat chmod chown chgrp
    useradd adduser groupadd usermod passwd chpasswd export set unset true false ls test [ [[ (( : sleep service
    systemctl update-alternatives locale-gen dpkg-reconfigure dpkg update-ca-certificates ldconfig which command type
    hash source . eval exit return read wait trap id whoami pwd date uname grep find sort uniq head tail wc sync rm
    rmdir cd mkdir touch ln tee sed env rustup corepack getent stat file umask visudo debconf-set-selections
    npm yarn pnpm gem cargo go Rscript R cpan cpanm luarocks composer opam stack cabal playwright install cp mv
"""
_WRITTEN = regex(
    r"\bopen\(\s*[\"'](/[\w./-]+)[\"']\s*,\s*(?:mode\s*=\s*)?[\"'][wax]|Path\([\"'](/[\w./-]+)[\"']\)\.write_|"
    r"\.to_\w+\(\s*[\"'](/[\w./-]+)[\"']|>\s*[\"']?(/(?!dev/)[\w./-]+)"
)
_PLAIN = regex(r"(?:ubuntu|debian|python|node|alpine)[-_]?[\d.-]*(?:slim)?$")
_QUIET = frozenset(_SILENT.split())


def plain_base(reference: str) -> bool:
    """Whether an image is one of an operating system or a language, which brings no file a brief would be about."""
    repository = reference.partition("@")[0]
    head, _, last = repository.rpartition("/")
    repository = f"{head}/{last.partition(':')[0]}" if head else last.partition(":")[0]
    known = {name.rpartition("/")[2] for name in DEFAULT_APPROVED_IMAGES}
    name = repository.rpartition("/")[2].lower()
    return repository == "scratch" or name in known or bool(_PLAIN.match(name))


class Builder:
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
                put(self.image, given)

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
        context = Context(self.task.files, self.build.context or "")
        base = context.folder + "/" if context.folder else ""
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
            for given in copied(self.task, place, goes, step.span):
                if given.file is not None and given.file.startswith(self.hidden):
                    self.image.hidden = True
                elif given.file is None or not context.ignores(given.file):
                    yield given

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
                known = made.get(place(command.script_word)) if command.script_word else None
                for path in self.written(known.file if known else None):
                    made[path] = Given(path, None, step.span)
                image.unlisted.append(f"it runs `{name}` while it is built")

    def written(self, script: str | None) -> list[str]:
        """The files that one of the task's own scripts writes, where it names them in full."""
        source = self.task.files.read(script) if script else None
        text = source.text if source and not source.binary else ""
        return [normal(next(filter(None, m.groups()))) for m in _WRITTEN.finditer(text)]

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
