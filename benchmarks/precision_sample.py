"""Draws findings of `scenlint check` for a reader to judge, and tables what the reader found.

usage: precision_sample.py draw --seed N [--errors 200] [--warnings 100] [--cap 30] [--same 3]
                                [--rules NAMES] [--seen CSV ...]
                                [--counts CSV] -o CSV REPOSITORY=FOLDER[:TASKS] ...
       precision_sample.py table JUDGED.csv [--counts CSV]

`draw` lints every folder, or TASKS of its sub-folders chosen by the seed, and draws findings so that a rule which
states the same fact of every task cannot fill the sample: each rule gets the same number of places until its findings,
its cap or the sample are used up. Within a rule the repositories take turns, a task comes up again only when every
other task of its repository has, and what a template repeats word for word comes up three times at most. `--seen`
leaves out what an earlier sample held. `--counts` writes how often each rule fired in each repository. The reader
fills the columns `verdict` (true, arguable, false) and `reason`.

`table` prints by rule: how many, how many of each verdict, the share of true ones with its Wilson interval, and the
share when arguable ones are taken as true. With `--counts` it adds the shares of the whole population: those
of the rules, weighted by how often each fired.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Row = dict[str, str]
KEPT = ("rule", "severity", "task", "path", "line", "message", "quote")
COLUMNS = ("number", "repository", *KEPT, "verdict", "reason")


def folders_of(spec: str, seed: int) -> tuple[str, Path, list[Path]]:
    """REPOSITORY=FOLDER[:TASKS] as its name, the folder, and what of it is linted."""
    name, _, place = spec.partition("=")
    folder, colon, tasks = place.rpartition(":")
    if not colon:
        return name, Path(place), [Path(place)]
    choices = sorted(path for path in Path(folder).iterdir() if path.is_dir())
    return name, Path(folder), random.Random(seed).sample(choices, min(int(tasks), len(choices)))


def findings(name: str, root: Path, paths: Sequence[Path]) -> Iterator[Row]:
    """What scenlint says of them, with paths relative to the repository's folder."""
    command = [sys.executable, "-m", "scenlint", "check", "--format", "json", "--exit-zero", *map(str, paths)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for found in report["findings"]:
        row = {column: str(found.get(column) or "") for column in KEPT}
        row["path"] = os.path.relpath(row["path"], root) if row["path"] else ""
        yield {"repository": name, **row}


def in_turns(groups: Iterable[list[Row]]) -> Iterator[Row]:
    """The first of every group, then the second of every group, and so on."""
    waiting = [list(reversed(group)) for group in groups]
    while waiting := [group for group in waiting if group]:
        for group in waiting:
            yield group.pop()


def by(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def drawn(rows: Sequence[Row], places: int, cap: int, same: int, rng: random.Random) -> list[Row]:
    """The sample of one severity, in the order of its rules."""
    queues = []
    for _, of_rule in sorted(by(rows, "rule").items()):
        repositories = []
        for _, of_repository in sorted(by(of_rule, "repository").items()):
            rng.shuffle(of_repository)
            repositories.append(list(in_turns(by(of_repository, "task").values())))
        rng.shuffle(repositories)
        queues.append(list(unlike(in_turns(repositories), same))[:cap])
    rng.shuffle(queues)
    sample = [row for row, _ in zip(in_turns(queues), range(places), strict=False)]
    return sorted(sample, key=lambda row: row["rule"])


def unlike(rows: Iterable[Row], same: int) -> Iterator[Row]:
    """Without those that say of the same text, word for word, what has been said often enough."""
    said: Counter[tuple[str, str]] = Counter()
    for row in rows:
        said[row["message"], row["quote"]] += 1
        if said[row["message"], row["quote"]] <= same:
            yield row


def identity(row: Row) -> tuple[str, ...]:
    return tuple(row[column] for column in ("repository", "rule", "path", "line", "message"))


def draw(args: argparse.Namespace) -> None:
    every: list[Row] = []
    for spec in args.folders:
        every += findings(*folders_of(spec, args.seed))
    if args.counts:
        counts = Counter((row["rule"], row["severity"], row["repository"]) for row in every)
        write(
            args.counts,
            ("rule", "severity", "repository", "findings"),
            ([*key, n] for key, n in sorted(counts.items())),
        )
    seen = {identity(row) for path in args.seen for row in read(path)}
    every = [row for row in every if identity(row) not in seen and (not args.rules or row["rule"] in args.rules)]
    rng = random.Random(args.seed)
    sample = []
    for severity, places in (("error", args.errors), ("warning", args.warnings)):
        sample += drawn([row for row in every if row["severity"] == severity], places, args.cap, args.same, rng)
    rows = ([{**row, "number": str(n)}.get(column, "") for column in COLUMNS] for n, row in enumerate(sample, 1))
    write(args.output, COLUMNS, rows)


def wilson(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The interval of a proportion at 95 %."""
    share, spread = hits / n, z * math.sqrt(hits * (n - hits) / n**3 + z * z / (4 * n * n))
    middle, scale = share + z * z / (2 * n), 1 + z * z / n
    return (middle - spread) / scale, (middle + spread) / scale


def line(title: str, rows: Sequence[Row]) -> str:
    verdicts = Counter(row["verdict"] for row in rows)
    true, arguable, n = verdicts["true"], verdicts["arguable"], len(rows)
    low, high = wilson(true, n)
    shares = f"{true / n:.0%} ({low:.0%} to {high:.0%}) | {(true + arguable) / n:.0%}"
    return f"| {title} | {n} | {true} | {arguable} | {verdicts['false']} | {shares} |"


def table(args: argparse.Namespace) -> None:
    judged = read(args.judged)
    counts: Counter[str] = Counter()
    for row in read(args.counts) if args.counts else []:
        counts[row["rule"], row["severity"]] += int(row["findings"])  # type: ignore[index]
    for severity, rows in sorted(by(judged, "severity").items()):
        print(f"\n| {severity} | n | true | arguable | false | true (95 %) | true or arguable |\n{'|---' * 7}|")
        rules = sorted(by(rows, "rule").items())
        print(*(line(f"`{rule}`", of_rule) for rule, of_rule in rules), line("all", rows), sep="\n")
        if args.counts:
            fired = {rule: counts[rule, severity] for rule, _ in rules}  # type: ignore[index]
            for title, accepted in (("true", {"true"}), ("true or arguable", {"true", "arguable"})):
                hits = sum(fired[rule] * sum(row["verdict"] in accepted for row in of) / len(of) for rule, of in rules)
                print(f"\nOf all {sum(fired.values())} findings, {title}: {hits / sum(fired.values()):.1%}")


def read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    draws = commands.add_parser("draw")
    draws.add_argument("folders", nargs="+", metavar="REPOSITORY=FOLDER[:TASKS]")
    draws.add_argument("--seed", type=int, required=True)
    draws.add_argument("--errors", type=int, default=200)
    draws.add_argument("--warnings", type=int, default=100)
    draws.add_argument("--cap", type=int, default=30, help="places that one rule may take at one severity")
    draws.add_argument(
        "--same", type=int, default=3, help="places for findings with one and the same message and quote"
    )
    draws.add_argument("--rules", type=lambda names: set(names.split(",")), default=set())
    draws.add_argument("--seen", type=Path, action="append", default=[])
    draws.add_argument("--counts", type=Path)
    draws.add_argument("-o", "--output", type=Path, required=True)
    draws.set_defaults(command=draw)
    tables = commands.add_parser("table")
    tables.add_argument("judged", type=Path)
    tables.add_argument("--counts", type=Path)
    tables.set_defaults(command=table)
    args = parser.parse_args()
    args.command(args)


if __name__ == "__main__":
    main()
