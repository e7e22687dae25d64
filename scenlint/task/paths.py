"""Path-like words of a text, and whether one names a given path."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from scenlint.source.lazy import cached_property
from scenlint.source.regex import regex

_EXTENSIONS = """
    txt md rst log csv tsv json jsonl ndjson geojson yaml yml toml ini cfg conf config env xml html htm css
    scss svg pdf doc docx xls xlsx ppt pptx odt ods tex bib py pyi ipynb js mjs cjs ts tsx jsx vue java kt
    scala go rs c h cc cpp cxx hpp cs rb php pl pm sh bash zsh fish ps1 bat cmd r rmd jl lua sql db sqlite
    sqlite3 wal parquet feather arrow avro orc npy npz pkl pickle pt pth bin onnx safetensors h5 hdf5 mat png
    jpg jpeg gif bmp tif tiff webp ppm pgm ico mp3 mp4 wav avi mov mkv zip tar gz tgz bz2 xz 7z whl jar war
    deb rpm so a o dll exe elf lock pem crt key csr cer p12 pub asc gpg sig patch diff proto graphql tf hcl
    dockerfile service timer socket rules plist ics vcf eml mbox fasta fa fna fastq vcf bam sam bed gff gtf
    pdb mol sdf xyz v sv vhd vhdl cob cbl cpy dat data out err tmp bak old orig sample template tmpl j2
    properties gradle pom csproj sln mod sum gitignore dockerignore editorconfig wat wasm asm s ll ml mli hs
    elm ex exs erl clj lisp scm rkt coq vo agda thy lean stan bugs m nb gpx kml shp osm pcap cap iso img qcow2
    vmdk vdi nix pot po mo srt vtt ass red comp
"""
EXTENSIONS = frozenset(_EXTENSIONS.split())
_NOT_FILES = regex(
    r"(?:node|vue|next|nuxt|react|express|three|d3|chart|socket|discord|angular|ember|backbone|alpine|p5|moment|plotly|leaflet|lodash|"
    r"jquery|underscore|handlebars|require|knockout|meteor|koa|fastify|nest|mocha|pixi|babylon|paper|ext|sails|day)\.js$|"
    r"(?:e\.g|i\.e|etc|vs|a\.m|p\.m|fig|no|al|u\.s)\.?$|"
    r".*\.(?:com|org|net|io|edu|gov|local|internal|localhost|example|dev|app|cn|de|uk)$",
    re.I,
)
_HOLE = r"<[\w \-]+>|\{[\w:, \-]*\}"
# A file's name has 255 characters at most: without a bound, a long run of marks would be read again from each of them.
_PART = rf"(?:[\w.\-+@*?%=~]{{1,255}}+|{_HOLE}|\$\{{?\w+\}}?|\[[\w\-]+\])"
# Possessive wherever what follows cannot stand in what was taken: most words are no path, and fail at once.
_TOKEN = regex(
    r"(?<![\w/.\-:@])(?:"
    rf"(?:~|\$\{{?\w+\}}?|\.{{1,2}})?(?:/{_PART}++)++/?"  # /app/x, ./x, ~/x, $HOME/x
    rf"|(?:{_PART}{{1,40}}+/)++{_PART}{{0,40}}+"  # x/y
    rf"|(?:[\w\-+*?]{{1,255}}+|{_HOLE}){{1,9}}+(?:\.[\w\-*?]+)*\.[A-Za-z][A-Za-z0-9]{{0,11}}(?![\w/])"  # x.ext
    r"|\.[a-z][\w\-]+(?:\.[\w\-]+)*(?![\w/(])"  # .env
    r"|(?:Dockerfile|Makefile|README|LICENSE|Gemfile)(?![\w/]))",
    re.A,
)
_PLACEHOLDER = regex(r"<[\w \-]+>|\{[\w:, \-]*\}|\$\{?\w+\}?|\*+|\?|\[[\w\-]+\]|X{3,}|N{2,}|Y{4}")
_ELSEWHERE = regex(  # URLs and addresses
    r"\b[a-z][a-z0-9+.\-]{1,15}://[^\s<>()`'\"]+|(?<![\w.+\-])[\w.+\-]++@[\w\-]+\.[\w.\-]+"
)
_RULER = regex(r"[+*?%=~]{12,}")  # no part of a path, and what looks for one would try every place in it
_LETTER = regex(r"[A-Za-z]")
_MEDIA = regex(r"(?:application|image|text|audio|video|multipart|font|model)/[\w.+\-]+$", re.I)


@dataclass(frozen=True)
class Token:
    """A path-like word: `text` as written without a trailing full stop, and where."""

    text: str
    start: int
    end: int

    @property
    def absolute(self) -> bool:
        return self.text.startswith("/")

    @property
    def folder(self) -> bool:
        """Written as a folder, or without an extension."""
        return self.text.endswith("/") or "." not in posixpath.basename(self.text)

    @cached_property
    def plain(self) -> str:
        """Normalised: no `./`, no doubled or trailing slash."""
        text = self.text.rstrip("/")
        return posixpath.normpath(text) if text else "/"

    @cached_property
    def open(self) -> bool:
        """Whether it has a part that stands for something (`<name>`, `*`, `{id}`)."""
        return bool(_PLACEHOLDER.search(self.text))


def find_paths(text: str) -> Iterator[Token]:
    """Every path-like word of a text; URLs, media types, host names and fractions left out."""
    masked = _RULER.sub(lambda m: " " * len(m.group()), text)
    if "://" in text or "@" in text:
        masked = _ELSEWHERE.sub(lambda m: " " * len(m.group()), text)
    for match in _TOKEN.finditer(masked):
        word = match.group().rstrip(".,;:!?")
        if _is_path(word):
            yield Token(word, match.start(), match.start() + len(word))


def _is_path(word: str) -> bool:
    name = posixpath.basename(word.rstrip("/"))
    if not word.strip("/.~") or _MEDIA.match(word) or not _LETTER.search(word):
        return False
    if "/" not in word:
        return word[0] == "." or "." not in word or (extension(word) in EXTENSIONS and not _NOT_FILES.match(word))
    if word[0] in "/.~$":
        return True
    # a relative path with folders: "and/or", "read/write" and "I/O" are none.
    deep = word.count("/") > 1 and "." not in word and word.islower()
    return extension(name) in EXTENSIONS or word.endswith("/") or deep


def extension(path: str) -> str:
    """The extension without its dot, in lower case; "" where there is none."""
    stem, dot, last = posixpath.basename(path.rstrip("/")).rpartition(".")
    return last.lower() if dot and stem else ""


@lru_cache(maxsize=4096)
def pattern(path: str) -> re.Pattern[str]:
    """What a path with open parts (`*`, `<name>`, `{id}`) matches."""
    out, at = [], 0
    for hole in _PLACEHOLDER.finditer(path):
        out += [re.escape(path[at : hole.start()]), ".*" if "**" in hole.group() else r"[^/]*"]
        at = hole.end()
    return re.compile("".join([*out, re.escape(path[at:])]), re.I | re.S)


def names(token: Token, want: str, folders: Callable[[], frozenset[str]], workdir: str | None) -> bool:
    """Whether a word of a text names a path: as it stands, from the working directory, or as a file of a stated folder.

    `want` is a normal path; `folders` tells the folders that are named somewhere or exist; without a known working
    directory any folder will do.
    """
    said = token.plain
    if _matches(said, want):
        return True
    if said.startswith(("~/", "$")):
        return _matches("*/" + said.partition("/")[2], want) or want.endswith("/" + said.partition("/")[2])
    if token.absolute:
        return False
    said = said.removeprefix("./")
    size = said.count("/") + 1
    parts = want.split("/")
    if not _matches(said, "/".join(parts[-size:])):
        return False
    rest = "/".join(parts[:-size])
    home = workdir is None or rest in ("", ".", workdir.rstrip("/"), "*")
    return home or (size == 1 and ("*" in rest or not folders().isdisjoint((rest, rest.rpartition("/")[2]))))


def normal(path: str) -> str:
    """A path without `./` and doubled slashes; relative ones stay so."""
    # POSIX lets two slashes at the beginning mean something else; nothing here does.
    return posixpath.normpath(path.strip()).replace("//", "/") if path.strip() else ""


def _matches(said: str, want: str) -> bool:
    if said.lower() == want.lower():
        return True
    form = _form(said)
    if form and form.fullmatch(want):
        return True
    return "*" in want and bool(pattern(want).fullmatch(said))


@lru_cache(maxsize=4096)
def _form(path: str) -> re.Pattern[str] | None:
    """The pattern of a path, if it has open parts."""
    return pattern(path) if _PLACEHOLDER.search(path) else None
