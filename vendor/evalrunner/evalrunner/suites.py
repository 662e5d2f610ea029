"""Reading suites: bounds first, then the structure with every fault named, then the uniqueness of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, cast

from evalrunner.assertion_rules import check_assertion, parse_assertions, read_assertions
from evalrunner.checks import (
    MISSING,
    Findings,
    Object,
    check_choice,
    check_data,
    check_id,
    check_list,
    check_no_others,
    check_text,
    check_text_value,
    is_object,
    trim,
)
from evalrunner.data import FreeData, check_bounds, freeze_bounded_object
from evalrunner.errors import SUITE_INVALID, EvaluationError
from evalrunner.models import (
    AllAssertion,
    AnyAssertion,
    Assertion,
    EvaluationScenario,
    EvaluationStep,
    EvaluationSuite,
    EvaluationVariant,
    NotAssertion,
    WritePolicy,
)

__all__ = ["check_schema_version", "parse_assertions", "parse_evaluation_suite"]

MAX_NAME: Final = 500
MAX_DESCRIPTION: Final = 5_000
MAX_SKIP_REASON: Final = 2_000
MAX_TAG: Final = 160
MAX_TAGS: Final = 100
MAX_SCENARIOS: Final = 10_000
MAX_STEPS: Final = 500
MAX_VARIANTS: Final = 100
MAX_ASSERTIONS: Final = 200

_SUITE: Final = frozenset({"schemaVersion", "id", "name", "metadata", "scenarios", "assertions"})
_SCENARIO: Final = frozenset(
    {"id", "name", "description", "tags", "writePolicy", "skipReason", "metadata", "steps", "assertions"}
)
_STEP: Final = frozenset({"id", "input", "assertions", "variants"})
_VARIANT: Final = frozenset({"id", "input"})
_WRITE_POLICIES: Final = frozenset(map(str, WritePolicy))


def parse_evaluation_suite(value: object) -> EvaluationSuite:
    """Read a suite from a plain JSON value; a suite model is given back as it is.

    The result is detached from ``value`` and normalised: names and skip reasons are trimmed, ``__proto__`` members of
    free data dropped. Raises EvaluationError with EVALUATION_DATA_LIMIT or EVALUATION_DATA_CYCLE for the bounds of
    the whole, else with EVALUATION_SUITE_INVALID and one location for each finding ("" is the suite itself).
    """
    if isinstance(value, EvaluationSuite):
        return value
    check_bounds(value)
    findings: Findings = []
    _check_suite(value, findings)
    _refuse_findings(findings)
    suite = _read_suite(cast(Object, value))
    for duplicate in _duplicates(suite):
        _refuse_findings([duplicate])
    return suite


def _refuse_findings(findings: Findings) -> None:
    if findings:
        raise EvaluationError(SUITE_INVALID, findings)


# ------------------------------------------------------------------------------------------------------------ checking


def check_schema_version(holder: Object, findings: Findings) -> None:
    version = holder.get("schemaVersion")
    if isinstance(version, bool) or version != 1:
        findings.append("schemaVersion")


def _check_suite(suite: Any, findings: Findings) -> None:
    if not is_object(suite):
        findings.append("")
        return
    check_schema_version(suite, findings)
    check_id(suite, "id", "", findings)
    check_text(suite, "name", "", findings, maximum=MAX_NAME, trimmed=True)
    check_data(suite, "metadata", "", findings, optional=True)
    check_list(suite, "scenarios", "", findings, _check_scenario, minimum=1, maximum=MAX_SCENARIOS)
    _check_assertions(suite, "", findings)
    check_no_others(suite, "", findings, _SUITE)


def _check_assertions(holder: Object, where: str, findings: Findings) -> None:
    check_list(holder, "assertions", where, findings, check_assertion, maximum=MAX_ASSERTIONS, optional=True)


def _check_scenario(scenario: Any, where: str, findings: Findings) -> None:
    if not is_object(scenario):
        findings.append(where)
        return
    check_id(scenario, "id", where, findings)
    check_text(scenario, "name", where, findings, maximum=MAX_NAME, trimmed=True)
    check_text(scenario, "description", where, findings, minimum=0, maximum=MAX_DESCRIPTION, optional=True)
    check_list(scenario, "tags", where, findings, _check_tag, maximum=MAX_TAGS, optional=True)
    check_choice(scenario, "writePolicy", where, findings, _WRITE_POLICIES)
    check_text(scenario, "skipReason", where, findings, maximum=MAX_SKIP_REASON, optional=True, trimmed=True)
    check_data(scenario, "metadata", where, findings, optional=True)
    check_list(scenario, "steps", where, findings, _check_step, minimum=1, maximum=MAX_STEPS)
    _check_assertions(scenario, where, findings)
    check_no_others(scenario, where, findings, _SCENARIO)


def _check_tag(tag: object, where: str, findings: Findings) -> None:
    check_text_value(tag, where, findings, 1, MAX_TAG)


def _check_step(step: Any, where: str, findings: Findings) -> None:
    if not is_object(step):
        findings.append(where)
        return
    check_id(step, "id", where, findings)
    check_data(step, "input", where, findings)
    _check_assertions(step, where, findings)
    check_list(step, "variants", where, findings, _check_variant, minimum=1, maximum=MAX_VARIANTS, optional=True)
    check_no_others(step, where, findings, _STEP)


def _check_variant(variant: Any, where: str, findings: Findings) -> None:
    if not is_object(variant):
        findings.append(where)
        return
    check_id(variant, "id", where, findings)
    check_data(variant, "input", where, findings)
    check_no_others(variant, where, findings, _VARIANT)


# ------------------------------------------------------------------------------------------------------------- reading


def _read_suite(suite: Object) -> EvaluationSuite:
    return EvaluationSuite(
        id=suite["id"],
        name=trim(suite["name"]),
        scenarios=tuple([_read_scenario(scenario) for scenario in suite["scenarios"]]),
        metadata=_read_metadata(suite),
        assertions=_read_assertions(suite),
    )


def _read_metadata(holder: Object) -> FreeData | None:
    return freeze_bounded_object(holder["metadata"]) if "metadata" in holder else None


def _read_assertions(holder: Object) -> tuple[Assertion, ...] | None:
    return read_assertions(holder["assertions"]) if "assertions" in holder else None


def _read_scenario(scenario: Object) -> EvaluationScenario:
    reason = scenario.get("skipReason", MISSING)
    return EvaluationScenario(
        id=scenario["id"],
        name=trim(scenario["name"]),
        write_policy=WritePolicy(scenario["writePolicy"]),
        steps=tuple([_read_step(step) for step in scenario["steps"]]),
        description=scenario.get("description"),
        tags=tuple(scenario["tags"]) if "tags" in scenario else None,
        skip_reason=None if reason is MISSING else trim(reason),
        metadata=_read_metadata(scenario),
        assertions=_read_assertions(scenario),
    )


def _read_step(step: Object) -> EvaluationStep:
    variants = tuple([_read_variant(variant) for variant in step["variants"]]) if "variants" in step else None
    return EvaluationStep(step["id"], freeze_bounded_object(step["input"]), _read_assertions(step), variants)


def _read_variant(variant: Object) -> EvaluationVariant:
    return EvaluationVariant(variant["id"], freeze_bounded_object(variant["input"]))


# ---------------------------------------------------------------------------------------------------------- unique ids


def _duplicates(suite: EvaluationSuite) -> Iterable[str]:
    """Give the places where ids repeat, in the order in which the format looks for them."""
    yield from _repeated(suite.scenarios, "scenarios")
    yield from _repeated_assertions(suite.assertions, "assertions")
    for scenario in suite.scenarios:
        where = f"scenarios.{scenario.id}"
        yield from _repeated(scenario.steps, f"{where}.steps")
        yield from _repeated_assertions(scenario.assertions, f"{where}.assertions")
        for step in scenario.steps:
            yield from _repeated(step.variants or (), f"{where}.{step.id}.variants")
            yield from _repeated_assertions(step.assertions, f"{where}.{step.id}.assertions")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


def _repeated(models: Sequence[_HasId], where: str) -> Iterable[str]:
    if len({model.id for model in models}) < len(models):
        yield where


def _repeated_assertions(assertions: Sequence[Assertion] | None, where: str) -> Iterable[str]:
    """Compare direct children only: parent, child and cousins may share an id."""
    yield from _repeated(assertions or (), where)
    for assertion in assertions or ():
        if isinstance(assertion, AllAssertion | AnyAssertion):
            yield from _repeated_assertions(assertion.assertions, f"{where}.{assertion.id}")
        elif isinstance(assertion, NotAssertion):
            yield from _repeated_assertions((assertion.assertion,), f"{where}.{assertion.id}")
