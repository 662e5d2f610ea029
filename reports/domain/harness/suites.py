"""A scenario file as a suite: each row one scenario, its messages as steps, its expectations as criteria.

The row as it stands in the file is kept in the scenario's metadata, so that a stored suite can be run and shown again.
What decides a row beyond its messages and expectations (profile, policies, system text) stands in the parameters of the
criterion ``row``: two definitions compare only where these agree, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalrunner.errors import EvaluationError
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.scenarios import Scenario, parse_scenarios, read_scenarios
from evalrunner.harness.strictjson import parse_strict, plain
from evalrunner.models import EvaluationScenario, EvaluationSuite
from evalrunner.suites import MAX_STEPS, MAX_TAG, MAX_TAGS, parse_evaluation_suite

from reports.domain.harness.criteria import criteria_of
from reports.domain.harness.names import ROW, ROW_LABEL, SUITE_ID, shown_name, step_id, suite_id

_DECIDING = ("profile", "approval_policy", "sandbox_policy", "system_instructions")


class ScenariosUnusable(ValueError):
    """A scenario file is none, or is beyond what a suite may hold; the text is a sentence."""


def read_scenario_suite(text: str, *, id: str = SUITE_ID, name: str = "") -> EvaluationSuite:
    """Read the text of a scenario file as a suite. ScenariosUnusable names the line at fault."""
    try:
        scenarios = read_scenarios(text).scenarios
    except HarnessSetupError as error:
        raise ScenariosUnusable(f"This is no scenario file: {error}.") from error
    lines = text.split("\n")
    rows = [plain(parse_strict(lines[scenario.line - 1].strip())) for scenario in scenarios]
    return suite_of_rows(scenarios, rows, id=id, name=name)


def suite_of_rows(
    scenarios: Sequence[Scenario], rows: Sequence[Mapping[str, Any]], *, id: str, name: str
) -> EvaluationSuite:
    """Make a suite of scenarios and the same rows as plain data. ScenariosUnusable."""
    if not scenarios:
        raise ScenariosUnusable("This file holds no scenario.")
    ids = _unique_ids(scenario.id for scenario in scenarios)
    definitions = [
        scenario_definition(scenario, row, own_id) for scenario, row, own_id in zip(scenarios, rows, ids, strict=True)
    ]
    return suite_of_definitions(definitions, id=id, name=name)


def suite_of_definitions(definitions: Sequence[Mapping[str, Any]], *, id: str, name: str = "") -> EvaluationSuite:
    """Make the suite of scenario definitions. ScenariosUnusable when it is larger than a suite may be."""
    data = {"schemaVersion": 1, "id": suite_id(id), "name": shown_name(name or id), "scenarios": list(definitions)}
    try:
        return parse_evaluation_suite(data)
    except EvaluationError as error:
        raise ScenariosUnusable(
            "This is more than a suite may hold: 10,000 scenarios, 500 messages a scenario, 60 levels, and 500,000 "
            f"values in all ({error.code}{': ' + error.paths[0] if error.paths else ''})."
        ) from error


def scenario_definition(scenario: Scenario, row: Mapping[str, Any], id: str) -> dict[str, Any]:
    """Return a scenario's definition in the wire format."""
    messages = (scenario.prompt, *scenario.turns)
    if len(messages) > MAX_STEPS:
        raise ScenariosUnusable(
            f"Line {scenario.line} has {len(messages)} messages; a scenario has at most {MAX_STEPS}."
        )
    return {
        "id": id,
        "name": shown_name(scenario.id),
        "tags": _tags(scenario.tags),
        "writePolicy": "read_only",
        "metadata": {"harness": {"id": scenario.id, "scenario": dict(row)}},
        "steps": [{"id": step_id(place), "input": {"text": text}} for place, text in enumerate(messages)],
        "assertions": [
            *(criterion.definition() for criterion in criteria_of(scenario.expected)),
            row_criterion({name: row[name] for name in _DECIDING if row.get(name) is not None}),
        ],
    }


def unknown_definition(scenario_id: str, id: str) -> dict[str, Any]:
    """Return the definition of a scenario of which only its results are known: the same whatever they are."""
    return {
        "id": id,
        "name": shown_name(scenario_id),
        "writePolicy": "read_only",
        "metadata": {"harness": {"id": scenario_id}},
        "steps": [{"id": step_id(0), "input": {"scenario": scenario_id}}],
        "assertions": [row_criterion({})],
    }


def row_criterion(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": ROW,
        "label": ROW_LABEL,
        "kind": "custom",
        "evaluator": "harness.row",
        "parameters": dict(parameters),
    }


def _tags(tags: Sequence[str]) -> list[str]:
    """Keep the tags that a suite can hold; the row in the metadata has all of them."""
    return [tag for tag in dict.fromkeys(tags) if 1 <= len(tag) <= MAX_TAG][:MAX_TAGS]


def _unique_ids(texts: Any) -> list[str]:
    """Give ids in the order of their texts; one that stands again gets a number."""
    taken: set[str] = set()
    ids = []
    for text in texts:
        id = first = suite_id(text)
        number = 1
        while id in taken:
            number += 1
            id = suite_id(f"{first}.{number}")
        taken.add(id)
        ids.append(id)
    return ids


# ---------------------------------------------------------------------------------------------------------- and back


def scenarios_of(suite: EvaluationSuite) -> dict[str, Scenario]:
    """Return the harness's scenarios of a suite by the suite's ids.

    ScenariosUnusable for a suite that did not come from a scenario file, also for one that was made to look as if: what
    is shown must be what is run.
    """
    rows = {scenario.id: _row_in(scenario) for scenario in suite.scenarios}
    made: dict[str, Scenario] = {}
    for scenario in suite.scenarios:
        row = rows[scenario.id]
        if row is None:
            raise ScenariosUnusable(f"The scenario {scenario.id!r} did not come from a scenario file.")
        made[scenario.id] = _scenario_of(scenario, row)
    return made


def holds_row(definition: Mapping[str, Any]) -> bool | None:
    """Tell whether a scenario came from a scenario file; None where only results of it did, which nothing can run."""
    kept = _kept(definition)
    return None if kept is not None and _row_of(kept) is None else kept is not None


def _row_in(scenario: EvaluationScenario) -> Mapping[str, Any] | None:
    kept = _kept(scenario.to_data())
    return _row_of(kept) if kept is not None else None


def _kept(definition: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = definition.get("metadata")
    harness = data.get("harness") if isinstance(data, Mapping) else None
    return harness if isinstance(harness, Mapping) else None


def _row_of(kept: Mapping[str, Any]) -> Mapping[str, Any] | None:
    row = kept.get("scenario")
    return row if isinstance(row, Mapping) else None


def _scenario_of(scenario: EvaluationScenario, row: Mapping[str, Any]) -> Scenario:
    try:
        [read] = parse_scenarios(json.dumps(row))
        defined = suite_of_definitions([scenario_definition(read, row, scenario.id)], id=SUITE_ID).scenarios[0]
    except (HarnessSetupError, ValueError) as error:
        raise ScenariosUnusable(f"The row of scenario {scenario.id!r} cannot be read: {error}") from error
    if defined.to_data() != scenario.to_data():
        raise ScenariosUnusable(f"The scenario {scenario.id!r} shows something else than the row that it would run.")
    return read
