"""What of a scenario's definition decides how its results are judged."""

from collections.abc import Mapping
from typing import Any

from evalrunner.canonical import digest

_WORDS = {"name", "description", "tags", "metadata"}


def definition_digest(scenario: Mapping[str, Any]) -> str:
    """Return the digest of a scenario without name, description, tags, metadata and labels of assertions.

    While it stays the same, results of the scenario compare (DESIGN 6: ruler changed). ``scenario`` is its wire format.
    """
    measured = {name: value for name, value in scenario.items() if name not in _WORDS and name != "assertions"}
    measured["steps"] = [_without_labels(step) for step in scenario["steps"]]
    return digest(_with_assertions(measured, scenario))


def _without_labels(holder: Mapping[str, Any]) -> dict[str, Any]:
    return _with_assertions({name: value for name, value in holder.items() if name != "assertions"}, holder)


def _with_assertions(measured: dict[str, Any], holder: Mapping[str, Any]) -> dict[str, Any]:
    if "assertions" in holder:
        measured["assertions"] = [_assertion(each) for each in holder["assertions"]]
    return measured


def _assertion(assertion: Mapping[str, Any]) -> dict[str, Any]:
    measured = {name: value for name, value in assertion.items() if name != "label"}
    if assertion["kind"] in ("all", "any"):
        measured["assertions"] = [_assertion(each) for each in assertion["assertions"]]
    elif assertion["kind"] == "not":
        measured["assertion"] = _assertion(assertion["assertion"])
    return measured
