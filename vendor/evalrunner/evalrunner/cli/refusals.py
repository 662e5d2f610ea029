"""Sentences for a run that is refused before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalrunner.codes import EVALUATOR_NOT_FOUND, OBSERVER_FAILED, RESUME_INCOMPATIBLE, RESUME_REQUIRED
from evalrunner.errors import (
    CASE_LIMIT,
    OPTIONS_INVALID,
    RESUME_INVALID,
    SCENARIO_NOT_FOUND,
    SELECTION_EMPTY,
    EvaluationError,
)

_SENTENCES: Final[Mapping[str, str]] = {
    CASE_LIMIT: "this makes more cases than --max-cases allows; select fewer or raise it (at most 100000)",
    EVALUATOR_NOT_FOUND: "the suite names an evaluator that nobody supplies (--evaluators MODULE:OBJECT does): {}",
    OBSERVER_FAILED: "the report could not be kept up with the run in time; raise --timeout-ms",
    OPTIONS_INVALID: "an option is out of its range, or the adapter has no id or version",
    RESUME_INCOMPATIBLE: (
        "the report to resume belongs to another suite, selection, number of repetitions, target, fingerprint or "
        "adapter; give the same ones as then"
    ),
    RESUME_INVALID: "the report to resume does not fit the suite's cases",
    RESUME_REQUIRED: "--retry-failed needs --resume",
    SCENARIO_NOT_FOUND: "the suite has no such scenario: {}",
    SELECTION_EMPTY: "no scenario is left by --scenario and --tag together",
}


def refusal_text(error: EvaluationError) -> str:
    """Say why a run is refused and what to do, with the code for whoever looks it up."""
    sentence = _SENTENCES.get(error.code, "the run is refused: {}").format(", ".join(error.paths) or "unknown")
    return f"{sentence} ({error.code})"
