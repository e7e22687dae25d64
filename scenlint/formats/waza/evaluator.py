"""Evaluates one of Waza's graders that are declared and not programs; it runs by itself, beside the work to be graded.

Standard input is what the agent said, the argument is the grader as `declared.py` wrote it down. Exit status 0 passes,
1 does not, and the reasons are printed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any


def text(grader: dict[str, Any], output: str) -> Iterator[str]:
    folded = output.lower()
    for part in grader["contains"]:
        if part.lower() not in folded:
            yield f"missing: {part}"
    for part in grader["not_contains"]:
        if part.lower() in folded:
            yield f"forbidden, but there: {part}"
    for part in grader["contains_cs"]:
        if part not in output:
            yield f"missing: {part}"
    for part in grader["not_contains_cs"]:
        if part in output:
            yield f"forbidden, but there: {part}"
    yield from _patterns(grader["regex_match"], grader["regex_not_match"], output, "the output")


def file(grader: dict[str, Any], output: str) -> Iterator[str]:
    for path in grader["must_exist"]:
        if not os.path.exists(_inside(path)):
            yield f"{path} does not exist"
    for path in grader["must_not_exist"]:
        if os.path.exists(_inside(path)):
            yield f"{path} exists"
    for entry in grader["content_patterns"]:
        content = _read(_inside(entry["path"]))
        if content is None:
            yield f"{entry['path']} cannot be read"
        else:
            yield from _patterns(entry["must_match"], entry["must_not_match"], content, entry["path"])


def diff(grader: dict[str, Any], output: str) -> Iterator[str]:
    for entry in grader["expected_files"]:
        path = entry["path"]
        content = _read(_inside(path))
        if content is None:
            yield f"{path} cannot be read"
            continue
        if entry["snapshot"] and content != _read(entry["snapshot"]):
            yield f"{path} differs from its snapshot"
        for part in entry["contains"]:
            wanted = not part.startswith("-")
            part = part[1:] if part[:1] in ("+", "-") else part
            if part.strip() and (part.strip() in content) is not wanted:
                yield f"{path} {'lacks' if wanted else 'has'}: {part.strip()}"


def json_schema(grader: dict[str, Any], output: str) -> Iterator[str]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    try:
        value = json.loads(output)
    except ValueError as exc:
        yield f"the output is not JSON: {exc}"
        return
    schema = grader["schema"]
    for error in validator_for(schema, default=Draft202012Validator)(schema).iter_errors(value):
        yield f"{error.json_path}: {error.message}"


def code(grader: dict[str, Any], output: str) -> Iterator[str]:
    known = (len, any, all, str, int, float, bool, list, dict)
    names = {"output": output, "re": re, **{function.__name__: function for function in known}}
    for assertion in grader["assertions"]:
        try:
            held = bool(eval(assertion, {"__builtins__": {}}, names))
        except Exception as exc:
            yield f"{assertion}: {exc}"
        else:
            if not held:
                yield assertion


def _patterns(wanted: list[str], unwanted: list[str], content: str, where: str) -> Iterator[str]:
    for pattern in wanted:
        if not _found(pattern, content):
            yield f"{where} does not match {pattern}"
    for pattern in unwanted:
        if _found(pattern, content):
            yield f"{where} matches {pattern}"


def _found(pattern: str, content: str) -> bool:
    return re.search(pattern, content, re.ASCII if pattern.isascii() else 0) is not None


def _inside(path: str) -> str:
    return os.path.join(os.environ["WAZA_WORKSPACE_DIR"], path)


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as opened:
            return opened.read().decode("utf-8", "surrogateescape")
    except OSError:
        return None


GRADERS = {"text": text, "file": file, "diff": diff, "json_schema": json_schema, "code": code}


def main(argument: str) -> int:
    grader = json.loads(argument)
    output = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    failures = list(GRADERS[grader["type"]](grader, output))
    for failure in failures:
        print(failure.encode("utf-8", "backslashreplace").decode())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
