"""What of a scenario's definition decides how its results are judged."""

import copy
from typing import Any

import pytest

from reports.domain.definitions import definition_digest
from tests.factories import scenario


def nested() -> dict[str, Any]:
    check = {"id": "a", "label": "A", "kind": "check", "path": ["label"], "operator": "exists"}
    other = {"id": "c", "label": "C", "kind": "not", "assertion": check}
    custom = {"id": "d", "kind": "custom", "evaluator": "e", "parameters": {"label": "stays"}}
    made = scenario("greet", tags=["smoke"], description="d", metadata={"a": 1})
    made["assertions"] = [{"id": "b", "label": "B", "kind": "any", "assertions": [check, other, custom]}]
    made["steps"][0]["assertions"] = [check]
    return made


def test_words_about_a_scenario_do_not_matter() -> None:
    plain = nested()
    renamed = copy.deepcopy(plain) | {"name": "Other", "description": "x", "tags": [], "metadata": {}}
    renamed["assertions"][0] |= {"label": "Other"}
    renamed["assertions"][0]["assertions"][0] |= {"label": "Other"}
    renamed["assertions"][0]["assertions"][1]["assertion"] |= {"label": "Other"}
    renamed["steps"][0]["assertions"][0] |= {"label": "Other"}

    assert definition_digest(renamed) == definition_digest(plain)


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["steps"][0].update(input={"text": "other"}),
        lambda made: made["steps"][0]["assertions"][0].update(path=["other"]),
        lambda made: made["assertions"][0]["assertions"][2]["parameters"].update(label="other"),
        lambda made: made.update(writePolicy="external"),
        lambda made: made.pop("assertions"),
    ],
)
def test_what_is_measured_matters(change: Any) -> None:
    changed = nested()
    change(changed)

    assert definition_digest(changed) != definition_digest(nested())
