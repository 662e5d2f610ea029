"""The chips of a comparison: which run or version stands on a side, and what kind of run it is."""

from typing import Any

import pytest
from django.test import Client

from reports.models import Baseline, Run, Team
from reports.selectors.run_verdicts import ground_of, judged_change
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


def test_the_chip_of_a_version_says_how_many_of_its_runs_do_not_count(
    client_of_viewer: Client, team: Team, before: Run, cancelled: Run
) -> None:
    other = run_of(team, "v2", 3)
    sides = {"baseline": f"run:{before.pk}", "candidate": f"version:{other.version_id}"}

    chip = client_of_viewer.get("/compare/", sides).context["page"].candidate

    assert chip.detail.startswith("version, 1 run, 1 left out because never completed, revision ")


def test_a_run_is_named_by_its_address_though_the_run_that_it_continues_claims_a_later_start(
    client_of_viewer: Client, team: Team, before: Run
) -> None:
    first = run_of(team, "v2", 20, "C", status="cancelled", runId="first")
    later = run_of(team, "v2", 4, resumedFrom=first.run_id)

    assert page_of(client_of_viewer, before, later).candidate.href == f"/runs/{later.pk}/"


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


def test_a_follow_up_is_marked_and_refused_in_the_words_of_the_gate(
    client_of_viewer: Client, team: Team, before: Run
) -> None:
    chosen = run_of(team, "v2", 2)
    Run.objects.filter(pk=chosen.pk).update(follow_up="failures")
    sides = {"baseline": str(before.pk), "candidate": str(chosen.pk)}

    page = page_of(client_of_viewer, before, chosen)
    refused = client_of_viewer.get("/api/v1/gate", sides)
    document = client_of_viewer.get("/api/v1/compare", sides).json()

    assert (page.baseline.is_follow_up, page.candidate.is_follow_up) == (False, True)
    assert (refused.status_code, refused.json()["code"]) == (409, "follow_up")
    assert refused.json()["detail"] == page.differences[0] == document["differences"][0]["sentence"]
    assert page.verdict.reasons[0].text == "the candidate is a follow-up, whose scenarios were chosen by their outcome"
    assert page.verdict.word == "Not comparable"
    assert document["verdict"] == "not_comparable"


def test_the_stored_verdict_of_a_run_changes_where_it_turns_out_to_be_a_follow_up(team: Team, before: Run) -> None:
    chosen = run_of(team, "v2", 2)
    earlier = ground_of(chosen.pk)
    Run.objects.filter(pk=chosen.pk).update(follow_up="failures")

    ground = ground_of(chosen.pk)

    assert ground is not None and earlier is not None
    assert ground.basis != earlier.basis
    assert judged_change(ground).verdict == "not_comparable"
