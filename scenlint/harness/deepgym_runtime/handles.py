"""What stands in the judge for things of the solution that cannot cross. Comparing them is local."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import wire
from .errors import CallTimeoutError, SolutionError, raised
from .process import LOAD_LIMIT, SESSION, Remote


class Handle:
    """An object in the solution's process. It equals only itself, whatever the object over there claims."""

    __slots__ = ("_named", "_owner", "_ref", "_remote", "_type")

    def __init__(self, owner: Owner, remote: Remote | None, ref: Any, type_name: str) -> None:
        self._owner, self._remote, self._ref, self._type = owner, remote, ref, type_name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._do("get", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._do("call", list(args), kwargs)

    def __len__(self) -> int:
        return int(self._typed(self._do("len"), int))

    def __bool__(self) -> bool:
        return bool(self._typed(self._do("bool"), bool))

    def __getitem__(self, key: Any) -> Any:
        return self._do("getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._do("setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        self._do("delitem", key)

    def __contains__(self, key: Any) -> bool:
        return bool(self._typed(self._do("contains", key), bool))

    def __iter__(self) -> Iterator[Any]:
        iterator = self._do("iter")
        return iterator if isinstance(iterator, Handle) else iter(iterator)

    def __next__(self) -> Any:
        return self._do("next")

    def __repr__(self) -> str:
        return f"<{self._type} of the solution>"

    def _do(self, what: str, *args: Any) -> Any:
        return self._owner.do(self._remote, self._ref, what, args)

    def _typed(self, value: Any, kind: type) -> Any:
        if type(value) is not kind:
            raise SolutionError(f"the solution returned a {type(value).__name__} for a {kind.__name__}")
        return value


class Owner:
    """A loaded solution: its files, its exports, and its process, which is started anew when it has died."""

    def __init__(self, files: dict[str, bytes], entry: str) -> None:
        self.files, self.entry = files, entry
        self.exports: dict[str, str] = {}
        self.remote: Remote | None = None
        self.live()

    def live(self) -> Remote:
        if self.remote is None or self.remote.dead:
            if SESSION.left(SESSION.deadline) <= 0:
                raise CallTimeoutError("the run's time is up")
            remote = Remote()
            message = {"op": "load", "files": _packed(self.files), "entry": self.entry}
            answer = remote.request(message, SESSION.until(LOAD_LIMIT), "loading the solution")
            told = answer.get("exports")
            if not isinstance(told, dict):
                remote.close("it sent garbage")
                raise SolutionError("loading the solution sent garbage")
            self.exports = {str(name): str(kind) for name, kind in told.items()}
            self.remote = remote
        return self.remote

    def export(self, name: str) -> Any:
        self.live()
        if name.startswith("_") or name not in self.exports:
            raise raised("AttributeError", "AttributeError", f"the solution has no `{name}`")
        if self.exports[name] == "callable":
            return Handle(self, None, {"name": name}, "function")
        return self.do(None, {"name": name}, "value", ())

    def do(self, remote: Remote | None, ref: Any, what: str, args: tuple[Any, ...]) -> Any:
        """Do something with an object over there. `remote` None: an export, which outlives its process."""
        here = remote or self.live()

        def opaque(value: Any) -> dict[str, Any]:
            if isinstance(value, Handle) and (value._remote is None or value._remote is here):
                return {"h": value._ref}
            raise TypeError(f"only plain data can be given to the solution, not a {type(value).__name__}")

        def handle(data: dict[str, Any]) -> Handle:
            return Handle(self, here, data.get("h"), str(data.get("n", "object"))[:100])

        deadline = SESSION.until()
        message = {"op": "do", "ref": ref, "what": what, "args": [wire.encode(arg, opaque) for arg in args]}
        shown = ref["name"] if isinstance(ref, dict) and "name" in ref else "an object"
        answer = here.request(message, deadline, f"`{shown}`" if what == "call" else f"{what} of `{shown}`")
        if "stop" in answer:
            raise StopIteration
        if "value" not in answer:
            here.close("it sent garbage")
            raise SolutionError("the solution sent an answer without a value")
        return here.decode(answer["value"], deadline, handle)


def _packed(files: dict[str, bytes]) -> dict[str, Any]:
    return {name: wire.encode(content, dict) for name, content in files.items()}
