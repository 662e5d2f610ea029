"""What a gate asks for: the defaults, or a TOML file.

margin = 0.05                 # largest fall of the pass rate that is accepted, a fraction
completeness = 0.95           # share of the baseline's decided scenario variants that must be decided again
max_errors = 0                # most cases that may end in an error; left out: any number
min_pairs = 10                # fewest scenario variants decided on both sides
except_known_issues = false   # leave rows with a matching note out of the test and the rates
other_target = false          # compare runs of different targets or suites all the same

[critical]
scenarios = ["refund-paid"]   # these may never break or be lost
tags = ["smoke"]

[accept]
definitions = ["search-flight"]   # scenarios whose new definition counts like the old one
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evalrunner.errors import EvaluationError
from evalrunner.tomltext import TomlTextError, parse_toml

POLICY_INVALID: Final = "EVALUATION_POLICY_INVALID"
LARGEST_COUNT: Final = 2**53 - 1  # what every reader of the document can hold


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Critical scenario ids and tags of a policy that fit nothing, in order."""

    scenarios: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """``margin`` and ``completeness`` are fractions; ``max_errors`` None allows any number of errors."""

    margin: float = 0.05
    completeness: float = 0.95
    max_errors: int | None = None
    min_pairs: int = 10
    except_known_issues: bool = False
    other_target: bool = False
    critical_scenarios: frozenset[str] = field(default_factory=frozenset)
    critical_tags: frozenset[str] = field(default_factory=frozenset)
    accepted_definitions: frozenset[str] = field(default_factory=frozenset)

    @property
    def heeds_known_issues(self) -> bool:
        """Tell whether notes can change a verdict."""
        return self.except_known_issues or self.has_critical

    @property
    def has_critical(self) -> bool:
        return bool(self.critical_scenarios or self.critical_tags)

    def is_critical(self, scenario_id: str, tags: Collection[str]) -> bool:
        return scenario_id in self.critical_scenarios or not self.critical_tags.isdisjoint(tags)

    def unmatched(self, scenarios: Mapping[str, Collection[str]]) -> Unmatched:
        """Return what is critical and fits none of ``scenarios``, given as tags by id: misspelt names guard nothing."""
        tags = self.critical_tags.difference(*scenarios.values())
        return Unmatched(tuple(sorted(self.critical_scenarios - scenarios.keys())), tuple(sorted(tags)))


DEFAULT_POLICY: Final = Policy()
_TOP: Final = frozenset(
    {"margin", "completeness", "max_errors", "min_pairs", "except_known_issues", "other_target", "critical", "accept"}
)


def parse_policy(text: str) -> Policy:
    """Read a policy; an EvaluationError names every member that is unknown or out of range, or where TOML ends."""
    try:
        data = parse_toml(text)
    except TomlTextError as error:
        raise EvaluationError(POLICY_INVALID, (str(error),)) from None
    return policy_of(data)


def policy_of(data: Mapping[str, Any]) -> Policy:
    """Read a policy from the value that its TOML stands for; an EvaluationError as of ``parse_policy``."""
    faults: list[str] = []
    critical = _table(data, "critical", ("scenarios", "tags"), faults)
    accept = _table(data, "accept", ("definitions",), faults)
    members: dict[str, Any] = {
        "margin": _fraction(data, "margin", faults),
        "completeness": _fraction(data, "completeness", faults),
        "max_errors": _count(data, "max_errors", 0, faults),
        "min_pairs": _count(data, "min_pairs", 1, faults),
        "except_known_issues": _flag(data, "except_known_issues", faults),
        "other_target": _flag(data, "other_target", faults),
        "critical_scenarios": _texts(critical, "critical", "scenarios", faults),
        "critical_tags": _texts(critical, "critical", "tags", faults),
        "accepted_definitions": _texts(accept, "accept", "definitions", faults),
    }
    faults += [name for name in data if name not in _TOP]
    if faults:
        raise EvaluationError(POLICY_INVALID, tuple(dict.fromkeys(faults)))
    return Policy(**{name: value for name, value in members.items() if value is not None})


def _table(data: Mapping[str, Any], name: str, known: Collection[str], faults: list[str]) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        faults.append(name)
        return {}
    faults += [f"{name}.{member}" for member in table if member not in known]
    return table


def _fraction(data: Mapping[str, Any], name: str, faults: list[str]) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        faults.append(name)
        return None
    return float(value)


def _count(data: Mapping[str, Any], name: str, lowest: int, faults: list[str]) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= LARGEST_COUNT:
        faults.append(name)
        return None
    return value


def _flag(data: Mapping[str, Any], name: str, faults: list[str]) -> bool | None:
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        faults.append(name)
        return None
    return value


def _texts(table: Mapping[str, Any], holder: str, name: str, faults: list[str]) -> frozenset[str] | None:
    value = table.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        faults.append(f"{holder}.{name}")
        return None
    return frozenset(value)
