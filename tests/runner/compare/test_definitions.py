from collections.abc import Callable
from typing import Any

import pytest
from evalrunner.compare import definition_digest

Data = dict[str, Any]


def scenario(**members: Any) -> Data:
    holds = {"id": "h", "kind": "check", "path": ["a"], "operator": "exists", "label": "Holds"}
    nested = {"id": "n", "kind": "not", "assertion": {"id": "o", "kind": "all", "label": "All", "assertions": [holds]}}
    step = {"id": "ask", "input": {"label": "Hello", "name": "Ada"}, "assertions": [nested]}
    return {"id": "s", "name": "S", "writePolicy": "read_only", "steps": [step], "assertions": [holds]} | members


@pytest.mark.parametrize(
    "members",
    [{"name": "T"}, {"description": "d"}, {"tags": ["x"]}, {"metadata": {"owner": "a"}}],
)
def test_words_about_a_scenario_do_not_change_what_it_asks(members: Data) -> None:
    assert definition_digest(scenario(**members)) == definition_digest(scenario())


def test_labels_do_not_matter_however_deep() -> None:
    relabelled = scenario()
    relabelled["steps"][0]["assertions"][0]["assertion"]["assertions"][0]["label"] = "Otherwise"
    relabelled["assertions"][0] = relabelled["assertions"][0] | {"label": ""}

    assert definition_digest(relabelled) == definition_digest(scenario())


def test_a_label_or_name_inside_an_input_is_data() -> None:
    changed = scenario()
    changed["steps"][0]["input"] = {"label": "Good evening", "name": "Ada"}

    assert definition_digest(changed) != definition_digest(scenario())


def test_a_changed_criterion_changes_the_digest() -> None:
    tightened = scenario()
    tightened["steps"][0]["assertions"][0]["assertion"]["assertions"][0]["operator"] = "absent"

    assert definition_digest(tightened) != definition_digest(scenario())


def test_the_scenario_given_stays_as_it_was() -> None:
    given = scenario()

    definition_digest(given)

    assert given == scenario()


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["steps"][0].update(input={"text": "other"}),
        lambda made: made["assertions"][0].update(path=["other"]),
        lambda made: made.update(writePolicy="external"),
        lambda made: made.update(skipReason="later"),
        lambda made: made.pop("assertions"),
    ],
)
def test_whatever_else_changes_is_another_measure(change: Callable[[Data], None]) -> None:
    changed = scenario()
    change(changed)

    assert definition_digest(changed) != definition_digest(scenario())
