"""Outcomes that are kept of runs say the same as their cases, and never outlive them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reports.models import Case, CaseOutcomes, Run, Team
from reports.selectors import compare
from reports.selectors.compare import StoredComparison, compare_sides
from reports.selectors.outcomes import gather_outcomes, kept_outcomes
from reports.services.outcomes import keep_outcomes, wrong_outcomes
from tests.factories import outcomes, report, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db


def compared(team: Team, *runs: Run) -> StoredComparison:
    return compare_sides(team=team, baseline=str(runs[0].pk), candidate=str(runs[1].pk))


def told(stored: StoredComparison) -> Any:
    return stored.result, dict(stored.variants)


def test_an_import_keeps_the_outcomes_that_its_cases_have(team: Team) -> None:
    run = store(team, outcomes("v1", a="PFE", b="SP", c="FF"))
    assert run.generation_id

    assert kept_outcomes([run.generation_id])[run.generation_id] == gather_outcomes(generation=run.generation_id)


@pytest.mark.parametrize("order", [(2, 0, 1), (0, 2, 1)])
def test_repetitions_out_of_order_are_put_in_order(team: Team, order: tuple[int, ...]) -> None:
    made = outcomes("v1", a="PFE")
    made["cases"] = [made["cases"][place] for place in order]
    run = store(team, made)
    assert run.generation_id

    assert gather_outcomes(generation=run.generation_id).samples[0].statuses == ("passed", "failed", "error")


def test_a_comparison_says_the_same_whether_outcomes_are_kept_or_not(team: Team) -> None:
    runs = [store(team, outcomes("v1", a="PPP", b="FF", c="P")), store(team, outcomes("v2", a="PFF", b="EF", d="S"))]
    kept = told(compared(team, *runs))
    CaseOutcomes.objects.all().delete()
    compare._KEPT.clear()

    assert told(compared(team, *runs)) == kept


def test_a_run_that_goes_on_is_read_anew_each_time(team: Team) -> None:
    before = store(team, outcomes("v1", a="PP"))
    running = store(team, report("PR", status="running", target={"id": "desk.agent", "fingerprint": "v2"}))
    keep_outcomes(run_pk=running.pk)
    assert kept_outcomes([running.generation_id or 0]) == {}
    first = compared(team, before, running).result.candidate

    Case.objects.filter(generation=running.generation_id, position=1).update(status="passed")

    assert (first.passed, compared(team, before, running).result.candidate.passed) == (1, 2)


def test_a_later_snapshot_has_outcomes_of_its_own(team: Team) -> None:
    other = store(team, outcomes("v0", greet="PP"))
    made = report("PN", status="running")
    first = store(team, made)
    assert compared(team, other, first).result.candidate.decided == 1

    waited = made["cases"][1]
    waited |= {"status": "failed", "turns": [turn("failed")]}
    later = store(team, report(cases=made["cases"], runId=made["runId"]))

    assert later.pk == first.pk
    assert compared(team, other, later).result.candidate.decided == 2


def test_the_second_look_reads_no_outcomes(team: Team) -> None:
    runs = [store(team, outcomes("v1", a="PPP")), store(team, outcomes("v2", a="PFF"))]
    compared(team, *runs)

    with CaptureQueriesContext(connection) as queries:
        compared(team, *runs)

    assert len(queries) == 1
    assert "reports_run" in queries[0]["sql"]


def test_wrong_outcomes_are_found_and_put_right(team: Team) -> None:
    run = store(team, report("PF"))
    assert not wrong_outcomes(run_pk=run.pk, repair=False)
    CaseOutcomes.objects.update(payload=b"\x00{}")

    assert wrong_outcomes(run_pk=run.pk, repair=True)

    assert not wrong_outcomes(run_pk=run.pk, repair=False)


def test_outcomes_go_with_the_cases(team: Team) -> None:
    run = store(team, report("PF"))

    run.delete()

    assert not CaseOutcomes.objects.filter(generation__current_run__isnull=False).exists()
