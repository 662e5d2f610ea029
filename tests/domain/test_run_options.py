"""What a run is asked to do, and what that makes."""

import pytest
from evalrunner.suites import parse_evaluation_suite
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.run_options import NUMBERS, OptionLimits, RequestRefused, RunOptions, check_options, plan_run
from tests import factories

texts = st.lists(st.text(max_size=20), max_size=3).map(tuple) | st.none()


def variant_step(*ids: str) -> dict[str, object]:
    return {
        "id": "ask",
        "input": {},
        "variants": [{"id": each, "input": {}} for each in ids],
    }


@given(texts, texts, st.integers(1, 100), st.booleans())
def test_options_survive_being_stored(
    ids: tuple[str, ...] | None, tags: tuple[str, ...] | None, repetitions: int, alarm: bool
) -> None:
    options = RunOptions(scenario_ids=ids, tags=tags, repetitions=repetitions, early_alarm=alarm)

    assert RunOptions.from_data(options.to_data()) == options


@pytest.mark.parametrize("name", list(NUMBERS))
@pytest.mark.parametrize(("offset", "is_refused"), [(0, False), (1, True)])
def test_each_number_is_taken_up_to_the_runners_limit(name: str, offset: int, is_refused: bool) -> None:
    options = RunOptions(**{name: NUMBERS[name] + offset})  # type: ignore[arg-type]  # every one of them is a number

    refusals = check_options(options, OptionLimits(), allows_external_writes=False)

    assert [(refusal.field, refusal.code) for refusal in refusals] == (
        [(name, "EVALUATION_OPTIONS_INVALID")] if is_refused else []
    )


def test_a_target_may_allow_less_than_the_runner() -> None:
    refusals = check_options(RunOptions(concurrency=5), OptionLimits(concurrency=4), allows_external_writes=False)

    assert [(refusal.field, refusal.code) for refusal in refusals] == [("concurrency", "TARGET_LIMIT_EXCEEDED")]


@pytest.mark.parametrize(
    ("shards", "concurrency", "is_refused"), [(2, 4, False), (8, 1, False), (9, 1, True), (3, 3, True)]
)
def test_what_a_target_takes_at_once_holds_in_all_shards_together(
    shards: int, concurrency: int, is_refused: bool
) -> None:
    options = RunOptions(shards=shards, concurrency=concurrency)

    refusals = check_options(options, OptionLimits(concurrency=8, lanes=8), allows_external_writes=False)

    assert [(each.field, each.code) for each in refusals] == [("shards", "TARGET_LIMIT_EXCEEDED")] * is_refused


def test_a_plan_counts_cases_and_turns_and_says_how_they_come_about() -> None:
    scenarios = [
        factories.scenario("plain"),
        factories.scenario("three", steps=[variant_step("a", "b", "c"), {"id": "then", "input": {}}]),
        factories.scenario("writes", writePolicy="external"),
        factories.scenario("left-out", skipReason="not yet"),
    ]
    suite = parse_evaluation_suite(factories.suite(scenarios=scenarios))

    plan = plan_run(suite, RunOptions(repetitions=2))

    assert plan.words == "4 scenarios in 6 variants × 2 repetitions = 12 cases, 16 turns"
    assert (plan.external, plan.skipped) == (("writes",), ("left-out",))


def test_a_plan_of_one_is_said_in_the_singular() -> None:
    suite = parse_evaluation_suite(factories.suite("one"))

    assert plan_run(suite, RunOptions()).words == "1 scenario × 1 repetition = 1 case, 1 turn"


def test_what_the_runner_refuses_keeps_its_code_at_its_option() -> None:
    suite = parse_evaluation_suite(factories.suite("one", "two"))

    with pytest.raises(RequestRefused) as refused:
        plan_run(suite, RunOptions(repetitions=2, max_cases=3))

    assert [(each.field, each.code) for each in refused.value.refusals] == [("max_cases", "EVALUATION_CASE_LIMIT")]
