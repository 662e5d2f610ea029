"""The stored data of the harness's tests, and how expected text is held against it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "harness"
_WILD = {"{{int}}": "[0-9]+", "{{any}}": "(?s:.+)"}


def read_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def read_json(path: Path) -> Any:
    return json.loads(read_text(path))


def read_rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in read_text(path).split("\n") if line]


def vectors(name: str) -> list[Any]:
    return read_rows(DATA / "vectors" / f"{name}.jsonl")


def text_matches(want: str, got: str) -> bool:
    """Compare literally, except for the two placeholders."""
    parts = re.split(r"(\{\{int\}\}|\{\{any\}\})", want)
    return re.fullmatch("".join(_WILD.get(part, re.escape(part)) for part in parts), got) is not None


def like(want: Any, got: Any) -> Any:
    """Give ``want`` with the texts of ``got`` where its placeholders let them stand, so that ``==`` shows the rest."""
    if isinstance(want, str) and isinstance(got, str):
        return got if text_matches(want, got) else want
    if isinstance(want, dict) and isinstance(got, dict):
        return {key: like(value, got.get(key)) for key, value in want.items()}
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [like(*pair) for pair in zip(want, got, strict=True)]
    return want
