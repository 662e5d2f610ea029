"""The one document of a comparison."""

import json
from pathlib import Path
from typing import Any

import pytest
from evalrunner.compare import CLUSTER_MIRROR, MATRIX_ORDER, MIRROR, Change, RunOutcomes, VariantId, compare
from evalrunner.compare.document import Naming, RunName, SideName, SignatureName, VariantName, make_document
from evalrunner.compare.judging import judge_files
from evalrunner.compare.verdict import assess
from hypothesis import given

from tests import factories
from tests.runner.compare.files import family, write
from tests.runner.compare.strategies import sides

Side = list[RunOutcomes]
NAMING: Naming[VariantId] = Naming(
    variant=lambda variant: VariantName(variant.scenario_id, dict(variant.variants), tags=("fast",)),
    signature=lambda key: SignatureName(key, f"failed by {key}"),
    is_critical=lambda variant: variant.scenario_id == "pay",
)


def document(left: Side, right: Side, *, is_same: bool = False) -> dict[str, Any]:
    compared = compare(left, right)
    assessment = assess(compared, scenario_of=NAMING.scenario_of, is_critical=NAMING.is_critical, is_same=is_same)
    names = [SideName("desk.agent", name, "desk", "r1", (RunName(name, "completed"),)) for name in ("left", "right")]
    return make_document(compared, assessment, baseline=names[0], candidate=names[1], naming=NAMING)


@given(sides, sides)
def test_the_document_of_swapped_sides_mirrors(left: Side, right: Side) -> None:
    forth, back = document(left, right), document(right, left)

    assert {name: forth["counts"][name] for name in map(str, Change)} == {
        str(change): back["counts"][MIRROR[change]] for change in Change
    }
    assert forth["matrix"] == {
        before: {after: back["matrix"][after][before] for after in MATRIX_ORDER} for before in MATRIX_ORDER
    }
    assert forth["baseline"]["passRate"] == back["candidate"]["passRate"]
    assert mirrored_change(forth["change"]) == pytest.approx(back["change"])
    assert rows(forth) == {key: (-drop, p, right, left) for key, (drop, p, left, right) in rows(back).items()}
    assert {each["signature"]: CLUSTER_MIRROR[each["change"]] for each in forth["clusters"]} == {
        each["signature"]: each["change"] for each in back["clusters"]
    }


def mirrored_change(change: dict[str, Any] | None) -> dict[str, Any] | None:
    return change and change | {"mean": -change["mean"], "low": -change["high"], "high": -change["low"]}


def rows(made: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {
        json.dumps([row["scenarioId"], row["variants"]]): (
            row["drop"],
            None if row["adjustedP"] is None else pytest.approx(row["adjustedP"]),
            row["baseline"],
            row["candidate"],
        )
        for row in made["rows"]
    }


@given(sides)
def test_a_run_against_itself_passes_and_asks_for_nothing(only: Side) -> None:
    same = document(only, only, is_same=True)

    assert same["verdict"] == ("pass" if same["rows"] else "not_comparable")
    assert not same["plan"]["isNeeded"]
    assert same["regressions"] == same["improvements"] == 0


@given(sides, sides)
def test_the_document_is_plain_json_and_its_counts_add_up(left: Side, right: Side) -> None:
    made = document(left, right)

    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert sum(made["groups"].values()) == made["rowsTotal"] == len(made["rows"])
    assert sum(made["counts"].values()) + made["redefined"] == made["rowsTotal"]
    assert set(made["counts"]) == set(map(str, Change))


@given(sides, sides)
def test_critical_rows_come_first_in_their_group(left: Side, right: Side) -> None:
    by_group: dict[str, list[bool]] = {}
    for row in document(left, right)["rows"]:
        by_group.setdefault(row["group"], []).append(row["isCritical"])

    assert all(marks == sorted(marks, reverse=True) for marks in by_group.values())


def test_a_page_of_rows_can_be_asked_for() -> None:
    from tests.runner.compare.test_engine import side

    left, right = side(a="PPP", b="PPP"), side(a="FFF", b="PPP")
    compared = compare(left, right)
    name = SideName("desk.agent", "v1", "desk", "r1", ())

    made = make_document(
        compared,
        assess(compared, scenario_of=NAMING.scenario_of),
        baseline=name,
        candidate=name,
        naming=NAMING,
        rows=compared.rows[1:],
    )

    assert ([row["scenarioId"] for row in made["rows"]], made["rowsTotal"]) == (["b"], 2)
    assert made["rows"][0]["adjustedP"] == 1.0


def test_words_of_a_failure_hold_nothing_of_the_one_case_that_was_seen_first(tmp_path: Path) -> None:
    def side(fingerprint: str, **found: str) -> str:
        cases = [
            factories.case("failed", scenario_id=scenario, turns=[factories.turn("failed", assertions=[wrong])])
            for scenario, value in found.items()
            for wrong in [{"id": "pick", "label": value, "passed": False, "actual": {"present": True, "value": value}}]
        ]
        made = factories.report(cases=cases, target={"id": "desk.agent", "fingerprint": fingerprint})
        return write(tmp_path / f"{fingerprint}.json", made)

    made = judge_files([side("v1", a="a before", b="b before")], [side("v2", a="a now", b="b now")])

    said = [row[name]["failures"][0]["words"] for row in made["rows"] for name in ("baseline", "candidate")]
    assert said == ["ask: pick"] * 4
    assert [each["words"] for each in made["clusters"]] == ["ask: pick"]


# ------------------------------------------------------------------------------------------------------- the families


def judged(name: str, number: int) -> dict[str, Any]:
    return judge_files([family(name, number)], [family(name, number + 1)])


@pytest.mark.parametrize(("name", "highest"), [("clinic", 0.0005), ("flights", 0.002)])
def test_the_second_versions_of_clinic_and_flights_regressed(name: str, highest: float) -> None:
    made = judged(name, 1)

    assert (made["verdict"], made["reasons"][0]["kind"]) == ("regressed", "got_worse")
    assert made["test"]["pValue"] < highest
    assert made["test"]["expectedRegressions"] > 0
    assert made["sentence"].endswith(": regressed.")


def test_the_sentence_of_flights_answers_in_words_and_numbers_first() -> None:
    assert judged("flights", 1)["sentence"] == (
        "5 scenario variants broke; 2 were fixed, 2 stabilised, 1 got better; "
        "difference −1.7 points (95% interval −9.9 to +6.5): regressed."
    )


def test_the_pending_tail_of_the_fourth_refunds_run_is_lost_and_no_regression() -> None:
    made = judged("refunds", 3)

    tail = [
        row for row in made["rows"] if set(row["candidate"]["statuses"]) == {"pending"} and row["baseline"]["decided"]
    ]
    assert len(tail) == made["counts"]["lost"] == 60
    assert {row["class"] for row in tail} == {"lost"}
    assert all(row["adjustedP"] is None for row in tail)
    fallen = {row["scenarioId"] for row in made["rows"] if row["class"] in ("broken", "unstable", "worse")}
    assert fallen.isdisjoint(row["scenarioId"] for row in tail)
    assert made["test"]["fallen"] == made["regressions"] == 5


@pytest.mark.parametrize(("name", "scenario"), [("clinic", "move-radiology"), ("flights", "rebook-tlv-ath")])
def test_tightened_expectations_stand_among_the_changed_definitions(name: str, scenario: str) -> None:
    made = judged(name, 4)

    rows = [row for row in made["rows"] if row["scenarioId"] == scenario]
    assert rows
    assert {row["group"] for row in rows} == {"redefined"}
    assert all(row["isRedefined"] and row["adjustedP"] is None for row in rows)


def test_a_flaky_variant_that_flips_has_no_small_adjusted_p() -> None:
    row = next(row for row in judged("clinic", 1)["rows"] if row["scenarioId"] == "move-radiology" and row["drop"] > 0)

    assert (row["baseline"]["words"], row["candidate"]["words"]) == ("3 of 3", "2 of 3")
    assert row["adjustedP"] == 1.0


@pytest.mark.parametrize("name", ["clinic", "flights", "refunds"])
def test_a_family_member_against_itself_passes(name: str) -> None:
    for number in range(1, 6):
        assert judge_files([family(name, number)], [family(name, number)])["verdict"] == "pass"
