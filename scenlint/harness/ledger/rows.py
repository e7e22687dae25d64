"""Light rows of the ledger: what lists, compares and watches many trials, without reading their records."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict


class Head(NamedTuple):
    """How far a run's audit chain has come: its lines, the hash of the last, and of one that is being written."""

    lines: int
    hash: str
    next: str = ""


class Filters(TypedDict, total=False):
    """Which trials; what is left out or empty selects nothing. `since` and `before` are ISO 8601, of the start."""

    trial: str  # an id
    id: str  # or the beginning of some
    run: str  # of the process that ran it
    place: str
    task: str
    agent: str
    model: str
    suite: str
    task_digest: str
    kind: str  # of the experiment: "grade", "calibration", "probe" …
    name: str  # of the experiment: of kind "grade", the run's id
    status: str
    failure_class: str
    since: str
    before: str
    finished: bool | None


class Row(NamedTuple):
    """One trial. Texts are "" and numbers None where nothing is known; seconds, US dollars."""

    id: str
    run: str
    place: str
    settings: str
    task: str
    format: str
    agent: str
    attempt: int
    started: str
    finished: bool
    status: str
    reward: float | None
    failure_class: str
    duration: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    model: str
    suite: str
    task_digest: str
    kind: str
    name: str
    outcome: str
    running: bool = False  # its driver still lives

    @property
    def graded(self) -> bool:
        """Whether it came to a verdict."""
        return self.reward is not None


STORED = Row._fields[:-1]


def condition(filters: Filters) -> tuple[str, list[Any]]:
    """What follows WHERE, and its values."""
    said, values = ["1"], list[Any]()
    for name, value in filters.items():
        if value in ("", None):
            continue
        if name == "trial":
            said.append("id = ?")
            values.append(value)
        elif name == "id":
            said.append("id >= ? AND id < ?")
            values += [value, f"{value}\U0010ffff"]
        elif name in ("since", "before"):
            said.append(f"started {'>=' if name == 'since' else '<'} ?")
            values.append(value)
        elif name == "finished":
            said.append(f"finished = {int(bool(value))}")
        else:
            assert name in STORED
            said.append(f"{name} = ?")
            values.append(value)
            if name == "kind":
                said.append("kind <> ''")  # by which SQLite sees that the index serves
    return " AND ".join(said), values


def ordered(where: str, wanted: str, *, limit: int | None, offset: int, newest: int | None) -> str:
    """The query for `wanted` columns in the order of their start, of all, of some, or of the newest."""
    base = f"SELECT {wanted} FROM trials" + (" JOIN records USING (number)" if "record" in wanted else "")
    if newest is not None:
        picked = f"SELECT number FROM trials WHERE {where} ORDER BY started DESC, number DESC LIMIT {int(newest)}"
        return f"{base} WHERE number IN ({picked}) ORDER BY started, number"
    page = "" if limit is None and not offset else f" LIMIT {-1 if limit is None else int(limit)} OFFSET {int(offset)}"
    return f"{base} WHERE {where} ORDER BY started, number{page}"
