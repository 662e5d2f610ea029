"""Reading suites: the corpus, every limit at its boundary, and what the result may be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from evalrunner.canonical import canonical_text
from evalrunner.data import freeze, thaw
from evalrunner.errors import EvaluationError
from evalrunner.models import EvaluationSuite
from evalrunner.suites import parse_assertions, parse_evaluation_suite
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.documents import (
    CHECK,
    SUITE,
    count_calls,
    generate_suite,
    make_suite,
    make_suite_with_scenario,
    make_suite_with_step,
    nest,
)
from tests.runner.replay import read_corpus, read_member

VECTORS = read_corpus("suites.json")


def read_vector(vector: Mapping[str, Any]) -> Any:
    return generate_suite(vector["generator"]) if "generator" in vector else read_member(vector, "suite")


def refusal(value: object) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(EvaluationError) as caught:
        parse_evaluation_suite(value)
    return caught.value.code, caught.value.paths


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["ok"]], ids=lambda vector: vector["name"])
def test_a_suite_of_the_corpus_is_accepted_and_normalised(vector: Mapping[str, Any]) -> None:
    value = read_vector(vector)
    expected = vector.get("parsed", freeze(value) if "generator" in vector else thaw(value))

    suite = parse_evaluation_suite(value)

    assert canonical_text(suite.to_data()) == canonical_text(expected)  # numbers compare as doubles, -0 as 0


@pytest.mark.parametrize("vector", [v for v in VECTORS if not v["ok"]], ids=lambda vector: vector["name"])
def test_a_suite_of_the_corpus_is_refused_at_these_places_in_this_order(vector: Mapping[str, Any]) -> None:
    assert refusal(read_vector(vector)) == (vector["code"], tuple(vector["paths"]))


# -------------------------------------------------------------------------------------------------------------- limits


def check(**members: Any) -> dict[str, Any]:
    return make_suite(assertions=[CHECK | members])


def items(count: int) -> list[dict[str, Any]]:
    return [{"id": f"i{index}", "input": {}} for index in range(count)]


def checks(count: int) -> list[dict[str, Any]]:
    return [CHECK | {"id": f"a{index}"} for index in range(count)]


def composite(kind: str, count: int) -> dict[str, Any]:
    return make_suite(assertions=[{"id": "x", "kind": kind, "assertions": checks(count)}])


# name: (what makes the suite of a size, smallest size, largest size, location of the finding)
SIZES: dict[str, tuple[Any, int | None, int, str]] = {
    "id": (lambda n: make_suite(id="a" * n), None, 160, "id"),
    "suite name": (lambda n: make_suite(name="n" * n), 1, 500, "name"),
    "suite name, in characters": (lambda n: make_suite(name="😀" * n), 1, 500, "name"),
    "suite name, trimmed": (lambda n: make_suite(name="\ufeff" + "n" * n + "\u3000"), 1, 500, "name"),
    "scenario id": (lambda n: make_suite_with_scenario(id="a" * n), None, 160, "scenarios.0.id"),
    "scenario name": (lambda n: make_suite_with_scenario(name="n" * n), 1, 500, "scenarios.0.name"),
    "description": (lambda n: make_suite_with_scenario(description="d" * n), None, 5_000, "scenarios.0.description"),
    "tags": (lambda n: make_suite_with_scenario(tags=["t"] * n), None, 100, "scenarios.0.tags"),
    "tag": (lambda n: make_suite_with_scenario(tags=["t" * n]), 1, 160, "scenarios.0.tags.0"),
    "skip reason": (lambda n: make_suite_with_scenario(skipReason="r" * n), 1, 2_000, "scenarios.0.skipReason"),
    "scenarios": (lambda n: generate_suite({"kind": "scenarios", "n": n}), 1, 10_000, "scenarios"),
    "steps": (lambda n: make_suite_with_scenario(steps=items(n)), 1, 500, "scenarios.0.steps"),
    "step id": (lambda n: make_suite_with_step(id="a" * n), None, 160, "scenarios.0.steps.0.id"),
    "variants": (lambda n: make_suite_with_step(variants=items(n)), 1, 100, "scenarios.0.steps.0.variants"),
    "suite assertions": (lambda n: make_suite(assertions=checks(n)), None, 200, "assertions"),
    "scenario assertions": (
        lambda n: make_suite_with_scenario(assertions=checks(n)),
        None,
        200,
        "scenarios.0.assertions",
    ),
    "step assertions": (
        lambda n: make_suite_with_step(assertions=checks(n)),
        None,
        200,
        "scenarios.0.steps.0.assertions",
    ),
    "label": (lambda n: check(label="l" * n), None, 500, "assertions.0.label"),
    "path": (lambda n: check(path=["k"] * n), None, 40, "assertions.0.path"),
    "path text": (lambda n: check(path=["k" * n]), None, 240, "assertions.0.path.0"),
    "path number": (lambda n: check(path=[n]), 0, 2**53 - 1, "assertions.0.path.0"),
    "length": (lambda n: check(operator="length", value=n), 0, 2**53 - 1, "assertions.0.value"),
    "children of all": (lambda n: composite("all", n), 1, 100, "assertions.0.assertions"),
    "children of any": (lambda n: composite("any", n), 1, 100, "assertions.0.assertions"),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_is_accepted_up_to_its_limit_and_refused_beyond(name: str) -> None:
    make, smallest, largest, location = SIZES[name]

    parse_evaluation_suite(make(largest))
    if smallest is not None:
        parse_evaluation_suite(make(smallest))
        assert refusal(make(smallest - 1)) == ("EVALUATION_SUITE_INVALID", (location,))
    assert refusal(make(largest + 1)) == ("EVALUATION_SUITE_INVALID", (location,))


@pytest.mark.parametrize(
    ("make", "largest"),
    [
        (lambda n: make_suite(metadata=nest(n)), 59),
        (lambda n: make_suite_with_step(input=nest(n)), 55),
        (lambda n: generate_suite({"kind": "not-chain", "n": n}), 56),
        (lambda n: generate_suite({"kind": "total-values", "n": n}), 500_000),
    ],
    ids=["metadata", "input", "assertions", "values"],
)
def test_depth_and_number_of_values_are_bounded_for_the_suite_as_a_whole(make: Any, largest: int) -> None:
    parse_evaluation_suite(make(largest))

    assert refusal(make(largest + 1)) == ("EVALUATION_DATA_LIMIT", ())


def test_a_suite_nested_beyond_the_recursion_limit_is_refused_before_anything_recurses() -> None:
    assert refusal(make_suite() | {"metadata": nest(100_000)}) == ("EVALUATION_DATA_LIMIT", ())


def test_a_cyclic_suite_is_refused() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = [cycle]

    assert refusal(SUITE | {"metadata": cycle}) == ("EVALUATION_DATA_CYCLE", ())


@pytest.mark.parametrize("operator", ["equals", "matches", "contains", "gte", "lte", "length"])
def test_an_operator_that_compares_needs_a_value(operator: str) -> None:
    code, paths = refusal(check(operator=operator))

    assert (code, set(paths)) == ("EVALUATION_SUITE_INVALID", {"assertions.0.value"})


@pytest.mark.parametrize("member", ["schemaVersion", "id", "name", "scenarios"])
@pytest.mark.parametrize("value", [None, True, object(), b"x"])
def test_a_member_of_a_type_that_is_never_right_is_found_at_its_place(member: str, value: object) -> None:
    assert refusal(make_suite() | {member: value}) == ("EVALUATION_SUITE_INVALID", (member,))


@pytest.mark.parametrize("blank", ["\t", "\v", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\ufeff"])
def test_javascript_blanks_are_trimmed(blank: str) -> None:
    assert parse_evaluation_suite(make_suite(name=f"{blank}a{blank}")).name == "a"


@pytest.mark.parametrize("other", ["\u0085", "\u001c", "\u001f", "\u200b"])
def test_what_only_python_calls_blank_is_kept(other: str) -> None:
    assert parse_evaluation_suite(make_suite(name=f"{other}a{other}")).name == f"{other}a{other}"


# ------------------------------------------------------------------------------------------------------- the result


def test_a_model_is_given_back_as_it_is() -> None:
    suite = parse_evaluation_suite(make_suite())

    assert parse_evaluation_suite(suite) is suite


def test_a_suite_is_detached_from_what_it_was_read_from() -> None:
    value = make_suite(metadata={"list": [1]})
    suite = parse_evaluation_suite(value)

    value["metadata"]["list"].append(2)
    suite.to_data()["metadata"]["list"].append(3)  # type: ignore[call-overload, index, union-attr]  # plain JSON

    assert suite.metadata == {"list": [1]}


TEXTS = st.text(max_size=8)
DATA = st.dictionaries(TEXTS, st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, st.lists, max_leaves=5))
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,5}", fullmatch=True)


def by_id(item: dict[str, Any]) -> str:
    return str(item["id"])


STEP: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({"id": IDS, "input": DATA})
STEPS = st.lists(STEP, min_size=1, max_size=3, unique_by=by_id)
SCENARIO: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"id": IDS, "name": st.just("n"), "writePolicy": st.sampled_from(["read_only", "external"]), "steps": STEPS},
    optional={"tags": st.lists(st.text(min_size=1, max_size=3)), "metadata": DATA},
)
SCENARIOS = st.lists(SCENARIO, min_size=1, max_size=3, unique_by=by_id)


@given(SCENARIOS)
def test_reading_what_a_suite_gives_back_changes_nothing(scenarios: list[dict[str, Any]]) -> None:
    suite = parse_evaluation_suite(make_suite(scenarios=scenarios))

    assert parse_evaluation_suite(suite.to_data()) == suite


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["id", "name", "scenarios", "assertions", "metadata", "schemaVersion", "other"])


@given(st.dictionaries(MEMBERS, JUNK), st.sampled_from(["suite", "scenario", "step", "assertion"]))
def test_whatever_stands_in_a_suite_is_read_or_refused_with_a_code(junk: dict[str, Any], place: str) -> None:
    makers = {"suite": make_suite, "scenario": make_suite_with_scenario, "step": make_suite_with_step}
    value = makers[place](**junk) if place in makers else make_suite(assertions=[CHECK | junk])

    try:
        outcome: object = parse_evaluation_suite(value)
    except EvaluationError as error:
        outcome = error

    assert isinstance(outcome, EvaluationSuite) or outcome.paths or outcome.code != "EVALUATION_SUITE_INVALID"  # type: ignore[attr-defined]  # else an error


def test_the_cost_of_reading_grows_with_the_number_of_scenarios_and_no_faster() -> None:
    small, large = (generate_suite({"kind": "scenarios", "n": n}) for n in (1_000, 10_000))

    assert count_calls(lambda: parse_evaluation_suite(large)) < 10.5 * count_calls(
        lambda: parse_evaluation_suite(small)
    )


# ------------------------------------------------------------------------------------------- assertions on their own


def test_assertions_on_their_own_may_share_ids_and_be_models() -> None:
    model = parse_assertions([CHECK])[0]

    assert parse_assertions([model, CHECK, CHECK]) == (model, model, model)


@pytest.mark.parametrize("value", [None, {}, "x", [None], [CHECK | {"operator": "eq"}]])
def test_what_is_no_list_of_assertions_is_refused(value: object) -> None:
    with pytest.raises(EvaluationError) as caught:
        parse_assertions(value)

    assert caught.value.code == "EVALUATION_ASSERTIONS_INVALID"


def test_the_bounds_of_a_list_of_assertions_are_counted_from_the_list() -> None:
    def equals(depth: int) -> list[Any]:
        return [CHECK | {"operator": "equals", "value": nest(depth)}]

    parse_assertions(equals(58))
    with pytest.raises(EvaluationError) as caught:
        parse_assertions(equals(59))
    assert caught.value.code == "EVALUATION_DATA_LIMIT"
