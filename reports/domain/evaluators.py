"""Evaluators that a suite asks for and its target does not have: told before a run is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from evalrunner.codes import EVALUATOR_NOT_FOUND
from evalrunner.models import EvaluationSuite
from evalrunner.runner.options import missing_evaluators

from reports.domain.run_options import Refusal

_MOST_PLACES = 20
_MOST_NAMED = 5


def refuse_missing(suite: EvaluationSuite, scenario_ids: Collection[str], known: Collection[str]) -> list[Refusal]:
    """Return one refusal of the suite, with the first places, if the scenarios ask for an evaluator not ``known``."""
    missing = list(_missing(suite, known, scenario_ids))
    if not missing:
        return []
    places = tuple(place for place, _ in missing[:_MOST_PLACES])
    sentence = f"The suite {_words([name for _, name in missing])}; its operator can register more."
    return [Refusal("suite", EVALUATOR_NOT_FOUND, sentence, places)]


def missing_words(suite: EvaluationSuite, known: Collection[str], scenario_ids: Collection[str] | None = None) -> str:
    """Say which evaluators scenarios (None: all) of a suite ask for that are not ``known``; "" where there are none."""
    names = [name for _, name in _missing(suite, known, scenario_ids)]
    return _words(names) if names else ""


def _missing(
    suite: EvaluationSuite, known: Collection[str], scenario_ids: Collection[str] | None
) -> Iterator[tuple[str, str]]:
    chosen = None if scenario_ids is None else set(scenario_ids)
    return missing_evaluators(suite, [each for each in suite.scenarios if chosen is None or each.id in chosen], known)


def _words(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMED} more" if len(distinct) > _MOST_NAMED else ""
    noun = "an evaluator" if len(distinct) == 1 else "evaluators"
    return f"asks for {noun} that the target does not have: {', '.join(map(repr, distinct[:_MOST_NAMED]))}{more}"
