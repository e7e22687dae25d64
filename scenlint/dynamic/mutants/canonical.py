"""What a file says, layout aside, to tell mutants that change nothing."""

from __future__ import annotations

import ast
import csv
import io
import json
from pathlib import PurePosixPath
from typing import Any

from scenlint.dynamic.mutants.trees import read_yaml


def canonical(path: str, content: bytes) -> Any:
    """Equal for files that say the same: parsed where that can be done, floats at 12 digits, code without layout."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    suffix = PurePosixPath(path).suffix.lower()
    try:
        if text.lstrip()[:1] in ("{", "["):
            return "json", _rounded(json.loads(text))
        if suffix in (".yaml", ".yml"):
            return "yaml", _rounded(read_yaml(text))
        if suffix in (".csv", ".tsv"):
            return "table", list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else ","))
        if suffix == ".py":
            return "code", ast.dump(ast.parse(text))
    except (ValueError, SyntaxError, csv.Error, RecursionError):
        pass
    return "text", text.strip()


def _rounded(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value).__name__, value
    if isinstance(value, int | float):
        return "number", type(value).__name__, float(f"{value:.12g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value]
