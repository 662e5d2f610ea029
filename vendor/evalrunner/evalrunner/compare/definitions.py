"""Whether two definitions of a scenario measure the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalrunner.canonical import digest

BY_POLICY: Final = "policy"
BY_TRIAGER: Final = "triager"


@dataclass(frozen=True, slots=True)
class AcceptedDefinition:
    """A scenario that the sides define differently and that counts all the same, because somebody said so.

    ``rule`` tells whether a policy or a triager did. ``by``, ``at`` (ISO 8601) and ``reason`` are "" where not known,
    as of a policy, which is a file.
    """

    scenario_id: str
    rule: str
    by: str = ""
    at: str = ""
    reason: str = ""


_DESCRIPTIVE: Final = frozenset({"name", "description", "tags", "metadata"})


def definition_digest(scenario: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a scenario asks: without name, description, tags, metadata and assertion labels.

    ``scenario`` is plain data in the wire format. While the digest stays, results before and after can be compared.
    """
    kept = {name: value for name, value in scenario.items() if name not in _DESCRIPTIVE}
    steps = [_without_labels(step) for step in scenario["steps"]]
    return digest(_without_labels(kept) | {"steps": steps})


def _without_labels(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a scenario, a step or a composite with the labels of its assertions left out.

    Only assertions have labels to drop: members of the same name in inputs and parameters are data.
    """
    copy = dict(holder)
    if "assertions" in copy:
        copy["assertions"] = [_unlabelled(assertion) for assertion in copy["assertions"]]
    if "assertion" in copy:
        copy["assertion"] = _unlabelled(copy["assertion"])
    return copy


def _unlabelled(assertion: Mapping[str, Any]) -> dict[str, Any]:
    copy = _without_labels(assertion)
    copy.pop("label", None)
    return copy
