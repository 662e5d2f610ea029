"""Failure signatures: what failed, regardless of which case; and the same in words.

Cases are plain values in the wire format. Results do not say whether a composite is an ``all``, an ``any`` or a
``not``, and need not: of a composite that did not pass, the children that failed decide (all of them in an ``any``);
where no child failed, it is a ``not`` whose child holds, and it is named itself. Children of composites that passed
decide nothing. An error wins over a verdict, as it does when assertions are evaluated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Data: TypeAlias = Mapping[str, Any]
IdPath: TypeAlias = tuple[str, ...]

TURN: Final = "turn"
SCENARIO: Final = "scenario"
CASE: Final = "case"

LONGEST_WORDS: Final = 300  # characters of a failure in words
LONGEST_VALUE: Final = 60  # characters of a value inside it
_AT_THE_END: Final = "at the end: "
_UNSTATED: Final = "failed without a stated reason"


@dataclass(frozen=True, slots=True)
class FailureSignature:
    """``scope`` is "turn", "scenario" or "case"; ``assertions`` the sorted id paths of the results that decided."""

    scope: str
    step_id: str = ""
    assertions: tuple[IdPath, ...] = ()
    error_code: str = ""

    @property
    def key(self) -> str:
        """Return 32 hex digits of the SHA-256 of the signature's JSON; never of joined text."""
        parts = [self.scope, self.step_id, [list(path) for path in self.assertions], self.error_code]
        return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode("ascii")).hexdigest()[:32]

    @property
    def words(self) -> str:
        """Say what failed in at most 300 characters: step, ids of what decided, error code.

        Nothing in it (no label, no value) could be said of one case and not of another with the same signature.
        """
        place = {TURN: f"{self.step_id}: ", SCENARIO: _AT_THE_END}.get(self.scope, "")
        paths = ", ".join(" › ".join(path) for path in self.assertions)
        what = paths or self.error_code or _UNSTATED
        code = f" ({self.error_code})" if paths and self.error_code else ""
        return shortened(f"{place}{what}{code}", LONGEST_WORDS)


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a case failed: the turn (or None) and the results that decided, with the path of ids to each."""

    scope: str
    turn: Data | None
    deciding: tuple[tuple[IdPath, Data], ...]
    error_code: str

    @property
    def step_id(self) -> str:
        return str(self.turn["stepId"]) if self.turn is not None else ""


def failure_signature(case: Data) -> FailureSignature | None:
    """Return what failed in a case; None where nothing did (passed, skipped, never begun)."""
    failure = first_failure(case)
    if failure is None:
        return None
    paths = tuple(sorted({path for path, _result in failure.deciding}))
    return FailureSignature(failure.scope, failure.step_id, paths, failure.error_code)


def first_failure(case: Data) -> Failure | None:
    """Find the first turn that is failed or error; else the scenario's assertions; else the case's error code."""
    if case["status"] == "passed":
        return None
    for turn in case["turns"]:
        if turn["status"] in ("failed", "error"):
            deciding = tuple(deciding_results(turn["assertions"]))
            return Failure(TURN, turn, deciding, turn.get("errorCode") or _first_code(deciding))
    deciding = tuple(deciding_results(case["assertions"]))
    if deciding:
        return Failure(SCENARIO, None, deciding, _first_code(deciding))
    code = case.get("errorCode", "")
    is_failure = bool(code) or case["status"] in ("failed", "error")
    return Failure(CASE, None, (), code) if is_failure else None


def deciding_results(results: Sequence[Data], above: IdPath = ()) -> Iterator[tuple[IdPath, Data]]:
    """Yield the results that made a list of results not pass, as deep as possible, with the ids that lead there."""
    for result in results:
        if not result["passed"]:
            yield from _deciding_leaves(result, above)


def _deciding_leaves(result: Data, above: IdPath) -> Iterator[tuple[IdPath, Data]]:
    path = (*above, result["id"])
    children = result.get("children") or ()
    errors = [child for child in children if "errorCode" in child]
    blamed = errors if errors else [child for child in children if not child["passed"]]
    if not blamed:
        yield path, result
    for child in blamed:
        yield from _deciding_leaves(child, path)


def _first_code(deciding: Sequence[tuple[IdPath, Data]]) -> str:
    return next((str(result["errorCode"]) for _path, result in deciding if result.get("errorCode")), "")


# ------------------------------------------------------------------------------------------------------------ in words


def failing_in_words(case: Data) -> str:
    """Say what failed first in at most 300 characters: step, assertion label or id, what was expected, or the code.

    "" where nothing failed.
    """
    failure = first_failure(case)
    if failure is None:
        return ""
    return shortened(f"{_place(failure)}{_what(failure)}", LONGEST_WORDS)


def _place(failure: Failure) -> str:
    if failure.turn is not None:
        return f"{shortened(failure.step_id, LONGEST_VALUE)}: "
    return _AT_THE_END if failure.scope == SCENARIO else ""


def _what(failure: Failure) -> str:
    if not failure.deciding:
        return failure.error_code or _UNSTATED
    if failure.turn is not None and failure.turn.get("errorCode"):
        return failure.error_code
    more = len(failure.deciding) - 1
    words = result_in_words(failure.deciding[0][1])
    return f"{words} (and {more} more)" if more else words


def result_in_words(result: Data) -> str:
    """Say how one assertion result did not hold: its label or id, then code, or expected and found values."""
    name = shortened(result.get("label") or result["id"], 2 * LONGEST_VALUE)
    return f"{name}: {reason}" if (reason := reason_in_words(result)) else name


def reason_in_words(result: Data) -> str:
    """Say why one result did not hold, without its name; "" where the result does not tell."""
    if "errorCode" in result:
        return str(result["errorCode"])
    if result.get("children"):
        return "its condition holds, and must not"
    actual = result.get("actual")
    if actual is None:
        return ""
    found = f"got {value_text(actual['value'])}" if "value" in actual else "found it" if actual["present"] else ""
    if "expected" in result:
        return f"expected {value_text(result['expected'])}, {found or 'found nothing'}"
    return found or "found nothing"


def value_text(value: object) -> str:
    """Return the JSON of a value, shortened."""
    return shortened(json.dumps(_cut(value), ensure_ascii=False), LONGEST_VALUE)


def _cut(value: object) -> object:
    """Cut long texts before they are written out, so that a value of megabytes costs nothing."""
    if isinstance(value, str):
        return value[: LONGEST_VALUE + 1]
    if isinstance(value, Mapping):
        return {str(name)[:LONGEST_VALUE]: _cut(value[name]) for name in list(value)[: LONGEST_VALUE // 4]}
    if isinstance(value, Sequence):
        return [_cut(item) for item in value[: LONGEST_VALUE // 2]]
    return value


def shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
