"""Rows of cases as the checkpoints of a run write them."""

from typing import Any

import pytest
from django.utils import timezone

from reports.models import Case, Generation, Team, Turn
from reports.payloads import unpack
from reports.selectors.stored_reports import get_stored_case
from reports.services.case_rows import CaseWriter, pack_data, prepare_case
from tests.factories import case, turn


@pytest.fixture
def generation(team: Team) -> Generation:
    return Generation.objects.create(team=team, renewed_at=timezone.now())


def stored(generation: Generation, position: int = 0) -> dict[str, Any]:
    found = get_stored_case(generation.pk, position)
    assert found is not None
    return found.to_data()


def test_a_case_grows_turn_by_turn_without_rewriting_what_stands(team: Team, generation: Generation) -> None:
    writer = CaseWriter(team, generation)
    waiting = case("pending")
    first, second = turn(), turn("failed", step_id="again")
    writer.write_case(waiting, 0)
    writer.replace_case(waiting | {"status": "running", "turns": [first]}, 0)
    kept = Turn.objects.get()

    ended = waiting | {"status": "failed", "turns": [first, second]}
    writer.replace_case(ended, 0)

    row = Case.objects.select_related("signature").get()
    assert stored(generation) == ended
    assert Turn.objects.order_by("pk").first() == kept
    assert (row.status, row.turn_count, row.duration_ms) == ("failed", 2, 240)
    assert row.signature is not None and row.signature.step_id == "again"
    assert row.failing


def test_writing_renews_the_generation(team: Team, generation: Generation) -> None:
    before = generation.renewed_at

    CaseWriter(team, generation).write_case(case(), 0)

    generation.refresh_from_db()
    assert generation.renewed_at > before


def test_signatures_and_variants_are_shared_between_writers(team: Team, generation: Generation) -> None:
    for position in range(2):
        CaseWriter(team, generation).write_case(case("failed", repetition=position), position)

    rows = Case.objects.values_list("variant_id", "signature_id")
    assert len(set(rows)) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"a": "\ud83d"},
        {"a": 2**70},
        {"a": -0.0, "b": 1.5, "c": [None, True]},
        {"\x00": "\x00"},
    ],
)
def test_payloads_keep_what_databases_and_encoders_refuse(value: dict[str, Any]) -> None:
    assert str(unpack(pack_data(value))) == str(value)


def test_proto_members_are_dropped_at_any_depth_and_nothing_else() -> None:
    value = {"a": [{"__proto__": 1, "b": "__proto__"}], "__proto__": {}, "constructor": 1}

    assert unpack(pack_data(value)) == {"a": [{"b": "__proto__"}], "constructor": 1}
    assert unpack(pack_data(value | {"c": "\ud83d"})) == {"a": [{"b": "__proto__"}], "constructor": 1, "c": "\ud83d"}


def test_durations_beyond_a_double_stay_finite() -> None:
    prepared = prepare_case(case(turns=[turn(durationMs=1e308), turn(durationMs=1e308)]), 0)

    assert prepared.duration_ms == pytest.approx(1.797e308, rel=1e-3)
