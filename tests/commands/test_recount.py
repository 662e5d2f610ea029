"""``manage.py recount``."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from reports.models import Case, CaseOutcomes, Run, Team
from tests.factories import report, stored


def recount(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("recount", *arguments, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_stored_counts_agree_after_an_import(team: Team) -> None:
    stored(team, report("PFESBCNR"))

    assert recount("--check") == (0, "1 run, 0 disagreements.\n")


@pytest.mark.parametrize(
    ("column", "value"), [("passed", 7), ("total", 1), ("is_passing", True), ("suite_assertions_failed", 1)]
)
def test_a_wrong_count_is_found_and_put_right(team: Team, column: str, value: object) -> None:
    run = stored(team, report("PF", assertions=[{"id": "a", "passed": True}]))
    Run.objects.update(**{column: value})

    code, text = recount("--check")
    assert code == 1
    assert f"/runs/{run.pk}/ {column}: stored {value!r}" in text
    assert Run.objects.filter(**{column: value}).exists()

    assert recount()[0] == 0
    assert recount("--check")[0] == 0


@pytest.mark.parametrize("harm", [lambda rows: rows.update(payload=b"\x00{}"), lambda rows: rows.delete()])
def test_outcomes_that_are_not_those_of_the_cases_are_found_and_put_right(team: Team, harm: Any) -> None:
    run = stored(team, report("PF"))
    harm(CaseOutcomes.objects.all())

    code, text = recount("--check")
    assert (code, f"/runs/{run.pk}/ outcomes" in text) == (1, True)

    assert recount()[0] == 0
    assert recount("--check")[0] == 0


def test_a_wrong_derived_column_of_a_case_is_found(team: Team) -> None:
    stored(team, report("PF"))
    Case.objects.filter(position=1).update(failing="something else", signature=None)

    code, text = recount("--check")

    assert code == 1
    assert "cases.1 failing" in text
    assert "cases.1 signature__key" in text
