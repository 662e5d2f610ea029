"""Errors of the runner core, one tree:

    EvaluationError           a refusal with a stable ``code`` and the places it concerns
    └── NotJsonError          a value that is no JSON value, or free data that is no JSON object
    JsonTextError             text that is no JSON, with line and column
    PathTextError             text that is no path into a JSON value, with the character
    AdapterSetupError         an adapter that cannot be made as asked; its text is a sentence for the host

A failing case is a result, never an exception. Messages hold a code and locations only, so that no input value and no
secret of a target can leak through them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

ASSERTIONS_INVALID: Final = "EVALUATION_ASSERTIONS_INVALID"
CASE_LIMIT: Final = "EVALUATION_CASE_LIMIT"
DATA_CYCLE: Final = "EVALUATION_DATA_CYCLE"
DATA_LIMIT: Final = "EVALUATION_DATA_LIMIT"
OBSERVATION_INVALID: Final = "EVALUATION_OBSERVATION_INVALID"
OPTIONS_INVALID: Final = "EVALUATION_OPTIONS_INVALID"
RESUME_INVALID: Final = "EVALUATION_RESUME_INVALID"
SCENARIO_NOT_FOUND: Final = "EVALUATION_SCENARIO_NOT_FOUND"
SELECTION_EMPTY: Final = "EVALUATION_SELECTION_EMPTY"
SUITE_INVALID: Final = "EVALUATION_SUITE_INVALID"


class EvaluationError(Exception):
    """A refusal: ``code`` is stable text for programs, ``paths`` name the places at fault.

    A path is written with dots (``scenarios.0.steps.1.id``); the empty text is the whole value. The same place may be
    listed more than once, one time for each finding. Adapters may raise it with codes of their own.
    """

    def __init__(self, code: str, paths: Iterable[str] = ()) -> None:
        self.code = code
        self.paths = tuple(paths)
        super().__init__(code, self.paths)

    def __str__(self) -> str:
        if not self.paths:
            return self.code
        return f"{self.code} at {', '.join(path or '(the whole value)' for path in self.paths)}"


class NotJsonError(EvaluationError):
    """Free data that is no JSON object, or that holds something JSON does not know."""

    def __init__(self, code: str = OBSERVATION_INVALID, paths: Iterable[str] = ()) -> None:
        super().__init__(code, paths)


class JsonTextError(ValueError):
    """Text from outside that is no JSON; ``line`` and ``column`` count from 1 and are None where no place is known."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(reason if line is None else f"line {line}, column {column}: {reason}")


class PathTextError(ValueError):
    """Text that is no path into a JSON value, or no rule; ``character`` counts from 1."""

    def __init__(self, reason: str, character: int) -> None:
        self.reason, self.character = reason, character
        super().__init__(f"character {character}: {reason}")


class AdapterSetupError(ValueError):
    """An adapter cannot be made as asked: a missing extra, an unset variable, an address that is none."""
