"""The chips of a comparison: which run or version stands on a side, and what kind of run it is."""

from typing import Any

import pytest
from django.test import Client

from reports.models import Baseline, Run, Team
from tests.factories import outcomes, stored

pytestmark = pytest.mark.django_db


def run_of(team: Team, fingerprint: str, day: int, letters: str = "P", **members: Any) -> Run:
    return stored(team, outcomes(fingerprint, a=letters) | {"startedAt": f"2026-03-{day:02}T09:00:00Z"} | members)


def page_of(client: Client, baseline: Run, candidate: Run) -> Any:
    return client.get("/compare/", {"baseline": f"run:{baseline.pk}", "candidate": f"run:{candidate.pk}"}).context[
        "page"
    ]


@pytest.fixture
def before(team: Team) -> Run:
    return run_of(team, "v1", 1)


@pytest.fixture
def cancelled(team: Team) -> Run:
    return run_of(team, "v2", 2, "C", status="cancelled", runId="first")


@pytest.fixture
def resumed(team: Team, cancelled: Run) -> Run:
    return run_of(team, "v2", 4, resumedFrom=cancelled.run_id)


def test_the_chip_of_a_resumed_run_names_and_links_that_run(
    client_of_viewer: Client, before: Run, resumed: Run
) -> None:
    chip = page_of(client_of_viewer, before, resumed).candidate

    assert (chip.detail, chip.href) == (
        "run of 4 Mar 2026, completed; 1 earlier attempt counts too",
        f"/runs/{resumed.pk}/",
    )


def test_a_baseline_that_points_to_an_earlier_attempt_does_not_mark_the_run_that_continues_it(
    client_of_viewer: Client, team: Team, before: Run, cancelled: Run, resumed: Run
) -> None:
    place = {"target": resumed.version.target, "suite": resumed.revision.suite, "team": team}
    Baseline.objects.create(name="earlier", run=cancelled, **place)
    Baseline.objects.create(name="this", run=resumed, **place)

    assert page_of(client_of_viewer, before, resumed).candidate.pinned == ("this",)


def test_a_run_is_called_by_its_own_version_though_it_claims_to_continue_another(
    client_of_viewer: Client, team: Team, before: Run, cancelled: Run
) -> None:
    other = run_of(team, "v3", 5, resumedFrom=cancelled.run_id)

    page = page_of(client_of_viewer, before, other)

    assert page.title == "v1 → v3"
    assert page.candidate.version.fingerprint == "v3"
