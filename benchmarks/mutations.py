"""Broken and odd tasks made from sound ones: what a file is decides how it is damaged; a number makes the same again.

The seeds are the base tasks of all formats, the example tasks, and the examples of the rule book. `Maker.make(n, folder)`
lays one of them below a folder and damages it.
"""
# ruff: noqa: E501 - tables

from __future__ import annotations

import ast
import copy
import json
import os
import random
import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from snippets import BYTES, DATA, ODD, PYTHON, SNIPPETS, TOKENS

from scenlint.testing import BASES, Example, base_task, examples, lay

ROOT = Path(__file__).parents[1]
FORMATS = ("harbor", "terminal-bench", "saas-bench", "waza", "deepgym", "packet")
Random = random.Random


def kind_of(path: Path) -> str:
    """What a file is, as far as damaging it goes."""
    name, suffix = path.name.lower(), path.suffix.lower()
    if "dockerfile" in name:
        return "dockerfile"
    kinds = {
        ".py": "python",
        ".sh": "shell",
        ".md": "markdown",
        ".json": "json",
        ".yaml": "yaml",
        ".yml": "yaml",
        ".toml": "toml",
    }
    return kinds.get(suffix, "text")


class Maker:
    """Makes damaged tasks; the same seed and number give the same one wherever it is made."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @cached_property
    def seeds(self) -> list[tuple[str, Callable[[Path], Path]]]:
        """What tasks are made from: a name, and what lays it below a folder and gives the folder it made."""
        out: list[tuple[str, Callable[[Path], Path]]] = []
        for name in FORMATS:
            out.append((name, lambda folder, name=name: base_task(name, folder / name)))  # type: ignore[misc]
        for top in sorted(p for p in (ROOT / "tasks").iterdir() if p.is_dir()):
            out.append((f"tasks/{top.name}", lambda folder, top=top: Path(shutil.copytree(top, folder / top.name))))  # type: ignore[misc]
        for page in sorted((ROOT / "rules").rglob("*.md")):
            for number, example in enumerate(examples(page.read_text("utf-8"))):
                if example.records is None:
                    out.append((f"{page.stem}:{number}", lambda folder, example=example: _laid(example, folder)))  # type: ignore[misc]
        return out

    @cached_property
    def donors(self) -> dict[str, list[str]]:
        """Texts of each kind, parts of which are put into others."""
        out: dict[str, list[str]] = {}
        files = [p for top in (BASES, ROOT / "tasks") for p in sorted(top.rglob("*")) if p.is_file()]
        for path in files:
            out.setdefault(kind_of(path), []).append(path.read_text("utf-8", "replace"))
        return out

    def make(self, number: int, folder: Path) -> str:
        """Lay a damaged task below a folder; gives the name of its seed."""
        chance = Random(f"{self.seed}:{number}")
        # Every format often, the many examples of the rule book together as often as those.
        first = chance.choice(self.seeds[: len(FORMATS)]) if chance.random() < 0.35 else chance.choice(self.seeds)
        top = first[1](folder)
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 5, 8])):
            # What the file system, or Python's own writers, do not allow is not done.
            with suppress(OSError, ValueError, RecursionError):
                (self._tree if chance.random() < 0.15 else self._file)(top, chance)
        return first[0]

    # Files

    def _file(self, top: Path, chance: Random) -> None:
        files = _files(top)
        if not files:
            return
        path = chance.choice(files)
        data = path.read_bytes()[: 1 << 20]
        try:
            text = data.decode()
        except UnicodeDecodeError:
            path.write_bytes(damaged(data, chance))
            return
        kind = kind_of(path)
        structural = {"python": self._python, "json": _json, "yaml": _yaml, "toml": _toml}.get(kind)
        roll = chance.random()
        if roll < 0.4 and structural is not None:
            text = structural(text, chance)
        elif roll < 0.65 and kind in SNIPPETS:
            text = self._spliced(text, kind, chance)
        else:
            path.write_bytes(encoded(text, chance) if roll < 0.75 else damaged(data, chance))
            return
        path.write_bytes(text.encode("utf-8", "surrogatepass"))

    def _spliced(self, text: str, kind: str, chance: Random) -> str:
        """The text with snippets, or lines of another text of its kind, between its lines."""
        lines = text.split("\n")
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(lines))
            if chance.random() < 0.7 or not self.donors.get(kind):
                new = chance.choice(SNIPPETS[kind]).split("\n")
            else:
                other = chance.choice(self.donors[kind]).split("\n")
                begin = chance.randint(0, len(other))
                new = other[begin : begin + chance.randint(1, 12)]
            indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())] if at else ""
            if chance.random() < 0.6:
                new = [indent + line for line in new]
            lines[at : at + (chance.randint(0, 2))] = new
        return "\n".join(lines)

    def _python(self, text: str, chance: Random) -> str:
        """The module with parts of its tree exchanged, doubled, nested or taken out."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tree = ast.parse(text)
                donor = ast.parse(chance.choice([*self.donors["python"], *PYTHON]))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return self._spliced(text, "python", chance)
        for _ in range(chance.randint(1, 4)):
            _regraft(tree, donor, chance)
        try:
            return ast.unparse(ast.fix_missing_locations(tree))
        except Exception:  # what cannot be written as text
            return self._spliced(text, "python", chance)

    # The folder

    def _tree(self, top: Path, chance: Random) -> None:
        """Files and folders taken away, moved, linked, doubled, or put in each other's place."""
        files = _files(top)
        folders = [top, *(p for p in sorted(top.rglob("*")) if p.is_dir() and not p.is_symlink())]
        path, folder = chance.choice(files or [top / "x"]), chance.choice(folders)
        new = folder / chance.choice(["x", "a b", ".hidden", "test_x.py", "conftest.py", "Dockerfile", "task.toml", "verify.py", "eval.yaml", "task.yaml", "meta.json", "packet.json", "metadata.json", "docker-compose.yaml", ".dockerignore", ".gitignore", "é\n", "-rf", "x" * 200, "scenlint.toml", "requirements.txt"])  # fmt: skip
        match chance.randint(0, 13):
            case 0:
                path.unlink(missing_ok=True)
            case 1 if files:
                path.rename(new) if not new.exists() else path.unlink()
            case 2 if files:
                shutil.copy(path, new) if not new.is_dir() else None
            case 3:  # a link in its place, or beside it
                target = chance.choice([str(chance.choice(files or [top])), ".", "..", "/etc/passwd", "/dev/zero", "/proc/self/mem", "gone", path.name, str(top.parent), "\ud800"])  # fmt: skip
                place = path if chance.random() < 0.5 else new
                _gone(place)
                _quietly(lambda: place.symlink_to(target))
            case 4:
                _gone(path)
                _quietly(path.mkdir)
            case 5:
                _gone(path)
                _quietly(lambda: os.mkfifo(path))
            case 6 if folder != top:
                shutil.rmtree(folder)
            case 7 if folder != top:
                shutil.rmtree(folder)
                folder.write_bytes(chance.choice(BYTES))
            case 8:
                path.write_bytes(chance.choice(BYTES))
            case 9:  # huge, and takes no room
                with path.open("ab") as file:
                    file.truncate(chance.choice([3 << 20, 1 << 28, 1 << 40]))
            case 10:
                deep = folder.joinpath(*["d"] * chance.choice([5, 60, 300]))
                _quietly(lambda: (deep.mkdir(parents=True), (deep / "test_x.py").write_text("assert 1")))
            case 11:
                for n in range(chance.choice([50, 400])):
                    _quietly(
                        lambda n=n: (folder / f"f{n}.{chance.choice(['py', 'txt', 'json', 'sh'])}").write_text("x")
                    )  # type: ignore[misc]
            case 12 if len(files) > 1:
                other = chance.choice(files)
                one, two = path.read_bytes(), other.read_bytes()
                path.write_bytes(two)
                other.write_bytes(one)
            case _:  # another format's task in the midst of this one
                shutil.copytree(BASES / chance.choice(FORMATS), folder, dirs_exist_ok=True, copy_function=_copy)


def _laid(example: Example, folder: Path) -> Path:
    return lay(example, folder)[0]


def _files(top: Path) -> list[Path]:
    return [p for p in sorted(top.rglob("*")) if p.is_file() and not p.is_symlink() and p.stat().st_size < 1 << 24]


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _quietly(do: Callable[[], object]) -> None:
    """What the file system does not allow is not done."""
    with suppress(OSError, ValueError):
        do()


def _copy(source: str, target: str) -> None:
    if not os.path.lexists(target):
        shutil.copy(source, target)


# ---------------------------------------------------------------- texts


def damaged(data: bytes, chance: Random) -> bytes:
    """Bytes cut off, exchanged, put in or taken out, whatever they are."""
    kind = chance.random()
    if kind < 0.1:
        return data[: chance.randint(0, len(data))]
    if kind < 0.2:
        end = chance.choice([b"\r", b"\r\n", b"\f\n", b"\xe2\x80\xa8"])
        return data.replace(b"\n", end)
    if kind < 0.4:
        lines = data.splitlines(keepends=True)
        chance.shuffle(lines)
        return b"".join(lines[: chance.randint(0, len(lines))])
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(out))
        if chance.random() < 0.7:
            out[at:at] = chance.choice(TOKENS).encode("utf-8", "surrogateescape")
        else:
            del out[at : at + chance.randint(1, 30)]
    return bytes(out)


def encoded(text: str, chance: Random) -> bytes:
    """The text in another encoding, or in two."""
    name = chance.choice(["utf-16", "utf-32", "utf-16-le", "utf-8-sig", "latin-1", "cp1252", "utf-7", "koi8-r"])
    head = chance.choice(["", "# é 中 🎉\n", "# -*- coding: latin-1 -*-\n# é\n"])
    data = (head + text).encode(name, "replace")
    return data + text.encode() if chance.random() < 0.2 else data


# ---------------------------------------------------------------- data


def _json(text: str, chance: Random) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text + chance.choice(DATA)
    value = changed(value, chance)
    return json.dumps(value, indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)


def _yaml(text: str, chance: Random) -> str:
    try:
        value = yaml.safe_load(text)
        return yaml.safe_dump(changed(value, chance), allow_unicode=chance.random() < 0.5, default_flow_style=chance.random() < 0.2)  # fmt: skip
    except (yaml.YAMLError, ValueError, RecursionError):
        return text + "\n" + chance.choice(DATA)


def _toml(text: str, chance: Random) -> str:
    import tomllib

    try:
        value = changed(tomllib.loads(text), chance)
    except (tomllib.TOMLDecodeError, RecursionError):
        return text + "\n" + chance.choice(DATA)
    rows = value.items() if isinstance(value, dict) else [("x", value)]
    return "".join(f"{json.dumps(str(key))} = {_inline(item)}\n" for key, item in rows)


def _inline(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(k))} = {_inline(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case str():
            return json.dumps(value)
    return "''" if value is None else str(value)


def changed(value: Any, chance: Random) -> Any:
    """A document with some of its values or keys exchanged, doubled, nested or taken out."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 4)):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(chance.choice(ODD))
        holder, key = chance.choice(places)
        match chance.randint(0, 7):
            case 0 | 1 | 2:
                holder[key] = copy.deepcopy(chance.choice(ODD))
            case 3:
                del holder[key]
            case 4:  # copies that are one thing in memory would grow without bound when they are written
                holder[key] = [holder[key]] * (chance.choice([1, 2, 50]) if len(places) < 500 else 1)
            case 5:
                for _ in range(chance.choice([1, 30, 150, 400])):
                    holder[key] = {"a": holder[key]} if chance.random() < 0.5 else [holder[key]]
            case 6:
                other, name = chance.choice(places)
                if name in other if isinstance(other, dict) else name < len(other):
                    holder[key] = copy.deepcopy(other[name])
            case _:
                if isinstance(holder, dict):
                    holder[chance.choice(["", "x", "name", "id", str(key) + "s", str(key).upper(), "é", "a.b"])] = holder.pop(key)  # fmt: skip
                else:
                    holder.insert(0, holder[key])
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    out: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(out) < 5000:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else []
        out += [(item, key) for key in keys]
        waiting += [item[key] for key in keys]
    return out


# ---------------------------------------------------------------- Python


def _regraft(tree: ast.Module, donor: ast.Module, chance: Random) -> None:
    """Change one place of a tree; what comes of it need not compile."""
    blocks = [b for node in ast.walk(tree) for b in (getattr(node, "body", None), getattr(node, "orelse", None)) if isinstance(b, list) and b]  # fmt: skip
    kind = chance.randint(0, 8)
    if kind <= 3 and blocks:
        block = chance.choice(blocks)
        at = chance.randrange(len(block))
        other = chance.choice(list(ast.walk(donor)) or [donor])
        statement = (
            other if isinstance(other, ast.stmt) else ast.Expr(other) if isinstance(other, ast.expr) else ast.Pass()
        )
        match kind:
            case 0:
                block[at] = copy.deepcopy(statement)
            case 1:
                block.insert(at, copy.deepcopy(statement))
            case 2:
                wrap = chance.choice([
                    lambda s: ast.If(ast.Constant(True), [s], []), lambda s: ast.While(ast.Name("x"), [s], []),
                    lambda s: ast.Try([s], [ast.ExceptHandler(None, None, [ast.Pass()])], [], []),
                    lambda s: ast.FunctionDef("test_f", ast.arguments([], [], None, [], [], None, []), [s], []),
                    lambda s: ast.With([ast.withitem(ast.Call(ast.Name("open"), [], []), None)], [s]),
                    lambda s: ast.For(ast.Name("i"), ast.List([]), [s], [ast.Break()]),
                    lambda s: ast.ClassDef("TestC", [], [], [s], []),
                ])  # fmt: skip
                for _ in range(chance.choice([1, 2, 15])):
                    block[at] = wrap(block[at])
            case _:
                del block[at]
                if not block:
                    block.append(ast.Pass())
        return
    places = [(node, name, n) for node in ast.walk(tree) for name, value in ast.iter_fields(node) for n, item in enumerate(value if isinstance(value, list) else [value]) if isinstance(item, ast.expr)]  # fmt: skip
    if not places:
        return
    node, name, n = chance.choice(places)
    value = getattr(node, name)
    old = value[n] if isinstance(value, list) else value
    expressions = [e for e in ast.walk(donor if chance.random() < 0.5 else tree) if isinstance(e, ast.expr)]
    match kind:
        case 4 | 5:
            new = copy.deepcopy(chance.choice(expressions or [old]))
        case 6:
            odd = chance.choice([v for v in ODD if isinstance(v, str | int | float | bool | None)])
            new = ast.Constant(odd)
        case _:
            new = old
            for _ in range(chance.choice([1, 3, 60, 200])):
                new = chance.choice([
                    lambda e: ast.Call(e, [ast.Name("x")], []), lambda e: ast.BinOp(e, ast.Add(), ast.Constant(1)), lambda e: ast.UnaryOp(ast.Not(), e),
                    lambda e: ast.Subscript(e, ast.Constant(0)), lambda e: ast.Attribute(e, "a"), lambda e: ast.Lambda(ast.arguments([], [], None, [], [], None, []), e),
                    lambda e: ast.List([e]), lambda e: ast.IfExp(ast.Constant(1), e, ast.Constant(2)), lambda e: ast.BoolOp(ast.Or(), [e, ast.Constant(0)]),
                    lambda e: ast.Compare(e, [ast.Eq()], [ast.Constant(1)]), lambda e: ast.Starred(e), lambda e: ast.Await(e), lambda e: ast.NamedExpr(ast.Name("w"), e),
                ] if chance.random() > 0.2 else [lambda e: ast.List([e])])(new)  # fmt: skip
                if len(list(ast.walk(new))) > 3000:
                    break
    if isinstance(value, list):
        value[n] = new
    else:
        setattr(node, name, new)
