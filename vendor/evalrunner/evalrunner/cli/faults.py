"""Words for the refusals of the core: which place, what stands there, which code.

The core's errors hold no values, and neither do these sentences: only whether something is missing and of which kind
it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evalrunner.errors import (
    DATA_CYCLE,
    DATA_LIMIT,
    OBSERVATION_INVALID,
    RESUME_INVALID,
    SUITE_INVALID,
    EvaluationError,
)

_MISSING: Final = object()
_OVERALL: Final[Mapping[str, str]] = {
    DATA_LIMIT: "a part is nested more than 60 levels deep or holds more than 500,000 values",
    DATA_CYCLE: "a value holds itself",
    OBSERVATION_INVALID: "an input, observation, checkpoint or evidence is no JSON object or holds no valid JSON",
    RESUME_INVALID: "the summary does not agree with the cases",
}
_KINDS: Final[Sequence[tuple[type | tuple[type, ...], str]]] = (
    (bool, "a truth value"),
    ((int, float), "a number"),
    (str, "a text"),
    (Mapping, "an object"),
    (Sequence, "a list"),
)


def describe_faults(error: EvaluationError, document: object, kind: str) -> list[str]:
    """Give one line for each place of a refusal, in the order the core found them.

    ``kind`` is what the document was read as: a suite or a report.
    """
    if not error.paths:
        return [f"{_OVERALL.get(error.code, 'not valid')} ({error.code})"]
    holder, prefix = _holder(error, document, kind)
    return [f"{_place(prefix, path)}: {_what(holder, path)} ({error.code})" for path in dict.fromkeys(error.paths)]


def _holder(error: EvaluationError, document: object, kind: str) -> tuple[object, str]:
    """A report's suite is refused with places inside the suite."""
    if kind == "report" and error.code == SUITE_INVALID and isinstance(document, Mapping):
        return document.get("suite", _MISSING), "suite"
    return document, ""


def _place(prefix: str, path: str) -> str:
    return ".".join(part for part in (prefix, path) if part) or "(the whole document)"


def _what(document: object, path: str) -> str:
    found = document
    for segment in path.split(".") if path else ():
        if isinstance(found, Mapping):
            found = found.get(segment, _MISSING)
        elif _is_list(found):
            found = _item(found, segment)
        else:
            found = _MISSING
        if found is _MISSING:
            break
    return _missing(document, path) if found is _MISSING else _unfit(found)


def _item(items: object, segment: str) -> object:
    assert isinstance(items, Sequence)
    known = segment.isascii() and segment.isdigit() and int(segment) < len(items)
    return items[int(segment)] if known else _MISSING


def _missing(document: object, path: str) -> str:
    """A place that names ids instead of positions tells a list in which ids repeat."""
    if any(_named(document, path)):
        return "ids are not unique here"
    return "missing"


def _named(document: object, path: str) -> Iterator[bool]:
    scenarios = document.get("scenarios") if isinstance(document, Mapping) else None
    for scenario in scenarios if _is_list(scenarios) else ():  # type: ignore[union-attr]
        name = scenario.get("id") if isinstance(scenario, Mapping) else None
        yield isinstance(name, str) and path.startswith(f"scenarios.{name}.")


def _unfit(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object with a member that is not allowed, or none expected here"
    if _is_list(value):
        return "a list of the wrong length, with ids that are not unique, or not expected here"
    if value == "" and isinstance(value, str):
        return "an empty text"
    return f"{_kind(value)} that is not allowed here"


def _kind(value: object) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "null")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
