"""Report files for tests of the comparison."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import factories

FAMILIES = Path(__file__).parents[2] / "data" / "conformance" / "families"


def family(name: str, number: int) -> str:
    """Return the path of a family's version, counted from 1."""
    [path] = (FAMILIES / name).glob(f"{number}-*")
    return str(path)


def write(path: Path, report: Mapping[str, Any]) -> str:
    path.write_text(json.dumps(report))
    return str(path)


def version(path: Path, letters: Mapping[str, str], fingerprint: str = "v1", **members: Any) -> str:
    """Write a version's report: scenario ids with one letter per repetition."""
    return write(path, factories.outcomes(fingerprint, **letters) | members)


def many(letters: str = "PPPPP", number: int = 40) -> dict[str, str]:
    return {f"s{index:02}": letters for index in range(number)}
