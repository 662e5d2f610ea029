"""Assertions as they stand in suites: checking and reading them.

Findings in an assertion are of two sorts. Soft ones (lengths, patterns, ranges, operator–value rules, unknown members)
are listed at their own places. A hard one (wrong type, missing member, unknown kind or operator, a number that is not
finite) anywhere in a tree means that the tree fits no kind of assertion: then the outermost assertion is listed once
and nothing else of it. Bounds must have been checked before, so the recursion here is bounded too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from evalrunner.checks import (
    MISSING,
    Findings,
    Object,
    check_id,
    check_length,
    check_no_others,
    check_whole_range,
    is_finite,
    is_json,
    is_list,
    is_object,
)
from evalrunner.data import MAX_WHOLE, check_bounds, freeze_bounded, freeze_bounded_object, whole_number
from evalrunner.errors import ASSERTIONS_INVALID, EvaluationError
from evalrunner.models import (
    AllAssertion,
    AnyAssertion,
    Assertion,
    CheckAssertion,
    CustomAssertion,
    NotAssertion,
    Operator,
)

MAX_LABEL: Final = 500
MAX_PATH: Final = 40
MAX_SEGMENT: Final = 240
MAX_CHILDREN: Final = 100
FORBIDDEN_SEGMENTS: Final = frozenset({"__proto__", "prototype", "constructor"})

_COMMON: Final = frozenset({"id", "label", "kind"})
_OPERATORS: Final = frozenset(map(str, Operator))
_WITHOUT_VALUE: Final = frozenset({"exists", "absent"})
_WITH_NUMBER: Final = frozenset({"gte", "lte", "length"})


class _HardFinding(Exception):
    """The tree fits no kind of assertion."""


# ------------------------------------------------------------------------------------------------------------ checking


def check_assertion(value: object, where: str, findings: Findings) -> None:
    """Check one outermost assertion with everything nested in it."""
    soft: Findings = []
    try:
        _check_nested(value, where, soft)
    except _HardFinding:
        findings.append(where)
    else:
        findings.extend(soft)


def _check_nested(value: Any, where: str, soft: Findings) -> None:
    _demand(is_object(value))
    kind = value.get("kind")
    _demand(isinstance(kind, str) and kind in _KINDS)
    _check_id(value, "id", where, soft)
    if "label" in value:
        _demand(isinstance(value["label"], str))
        check_length(value["label"], f"{where}.label", soft, 0, MAX_LABEL)
    check_members, members = _KINDS[kind]
    check_members(value, where, soft)
    check_no_others(value, where, soft, members)
    if kind == "check":
        _check_operator_value(value, where, soft)


def _demand(condition: bool) -> None:
    if not condition:
        raise _HardFinding


def _check_id(value: Object, name: str, where: str, soft: Findings) -> None:
    _demand(isinstance(value.get(name), str))
    check_id(value, name, where, soft)


def _check_check(value: Object, where: str, soft: Findings) -> None:
    path = value.get("path")
    _demand(isinstance(path, list | tuple))
    for index, segment in enumerate(path or ()):
        _check_segment(segment, f"{where}.path.{index}", soft)
    check_length(path, f"{where}.path", soft, 0, MAX_PATH)
    operator = value.get("operator")
    _demand(isinstance(operator, str) and operator in _OPERATORS)
    _demand("value" not in value or is_json(value["value"]))


def _check_segment(segment: object, where: str, soft: Findings) -> None:
    if isinstance(segment, str):
        check_length(segment, where, soft, 0, MAX_SEGMENT)
        if segment in FORBIDDEN_SEGMENTS:
            soft.append(where)
        return
    number = whole_number(segment) if is_finite(segment) else None
    if number is None:
        raise _HardFinding
    check_whole_range(number, where, soft)


def _check_operator_value(value: Object, where: str, soft: Findings) -> None:
    operator = value["operator"]
    if operator not in _WITHOUT_VALUE and "value" not in value:
        soft.append(f"{where}.value")
    if operator in _WITH_NUMBER and not _is_operand(operator, value.get("value", MISSING)):
        soft.append(f"{where}.value")


def _is_operand(operator: str, value: object) -> bool:
    if operator != "length":
        return is_finite(value)
    number = whole_number(value)
    return number is not None and 0 <= number <= MAX_WHOLE


def _check_composite(value: Object, where: str, soft: Findings) -> None:
    children = value.get("assertions")
    _demand(is_list(children))
    for index, child in enumerate(children or ()):
        _check_nested(child, f"{where}.assertions.{index}", soft)
    check_length(children, f"{where}.assertions", soft, 1, MAX_CHILDREN)


def _check_not(value: Object, where: str, soft: Findings) -> None:
    _check_nested(value.get("assertion"), f"{where}.assertion", soft)


def _check_custom(value: Object, where: str, soft: Findings) -> None:
    _check_id(value, "evaluator", where, soft)
    _demand(is_object(value.get("parameters")) and is_json(value["parameters"]))


_KINDS: Final[Mapping[str, tuple[Callable[[Object, str, Findings], None], frozenset[str]]]] = {
    "check": (_check_check, _COMMON | {"path", "operator", "value"}),
    "all": (_check_composite, _COMMON | {"assertions"}),
    "any": (_check_composite, _COMMON | {"assertions"}),
    "not": (_check_not, _COMMON | {"assertion"}),
    "custom": (_check_custom, _COMMON | {"evaluator", "parameters"}),
}


# ------------------------------------------------------------------------------------------------------------- reading


def read_assertion(value: Object) -> Assertion:
    """Make the model of an assertion that was checked."""
    id, label = value["id"], value.get("label")
    match value["kind"]:
        case "check":
            return _read_check(value)
        case "all":
            return AllAssertion(id, read_assertions(value["assertions"]), label)
        case "any":
            return AnyAssertion(id, read_assertions(value["assertions"]), label)
        case "not":
            return NotAssertion(id, read_assertion(value["assertion"]), label)
        case _:
            return CustomAssertion(id, value["evaluator"], freeze_bounded_object(value["parameters"]), label)


def read_assertions(values: Any) -> tuple[Assertion, ...]:
    return tuple([read_assertion(value) for value in values])


def _read_check(value: Object) -> CheckAssertion:
    return CheckAssertion(
        id=value["id"],
        path=tuple([_read_segment(segment) for segment in value["path"]]),
        operator=Operator(value["operator"]),
        value=freeze_bounded(value.get("value")),
        has_value="value" in value,
        label=value.get("label"),
    )


def _read_segment(segment: str | int | float) -> str | int:
    return segment if isinstance(segment, str) else int(segment)


# ----------------------------------------------------------------------------------------- assertions on their own


def parse_assertions(values: object) -> tuple[Assertion, ...]:
    """Read a list of assertions given for a direct evaluation; models are taken as they are, ids may repeat.

    Raises EVALUATION_DATA_LIMIT or EVALUATION_DATA_CYCLE for the bounds of the whole list, then
    EVALUATION_ASSERTIONS_INVALID with locations that begin with the index in the list.
    """
    if not isinstance(values, list | tuple):
        raise EvaluationError(ASSERTIONS_INVALID, [""])
    check_bounds([None if isinstance(value, Assertion) else value for value in values])
    findings: Findings = []
    for index, value in enumerate(values):
        if not isinstance(value, Assertion):
            check_assertion(value, str(index), findings)
    if findings:
        raise EvaluationError(ASSERTIONS_INVALID, findings)
    return tuple([value if isinstance(value, Assertion) else read_assertion(value) for value in values])
