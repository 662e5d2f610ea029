"""Making a run a baseline, using its name in a comparison, and the rule that is printed with it."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Baseline, Run, Team, User
from reports.services.baselines import set_baseline
from tests import factories
from tests.factories import outcomes
from tests.factories import stored as store
from tests.pages.test_compare import text_of

pytestmark = pytest.mark.django_db
Versions = tuple[Run, Run, Run]


@pytest.fixture
def triager(team: Team) -> User:
    return factories.make_member(team, "triager")


@pytest.fixture
def client_of_triager(triager: User) -> Client:
    client = Client()
    client.force_login(triager)
    return client


@pytest.fixture
def versions(team: Team) -> Versions:
    first, second, third = (
        store(team, outcomes(f"v{day}", a=letters) | {"startedAt": f"2026-03-0{day}T09:00:00Z"})
        for day, letters in ((1, "P"), (2, "F"), (3, "F"))
    )
    return first, second, third


def compare(client: Client, baseline: str, candidate: str, **members: Any) -> Any:
    return client.get("/compare/", {"baseline": baseline, "candidate": candidate} | members)


def test_a_triager_pins_a_run_and_the_page_shows_who_and_why(client_of_triager: Client, versions: Versions) -> None:
    address = f"/runs/{versions[0].pk}/baseline/"
    posted = client_of_triager.post(address, {"name": "production", "reason": "Released <b>", "is_default": "on"})

    words = text_of(client_of_triager.get(posted["Location"]))

    assert posted.status_code == 302
    assert "production default" in words
    assert "Released <b>" in words
    assert "set, default" in words


def test_a_runner_sees_baselines_but_pins_none(client_of_runner: Client, versions: Versions) -> None:
    address = f"/runs/{versions[0].pk}/baseline/"

    assert "Make this run the baseline" not in text_of(client_of_runner.get(address))
    assert client_of_runner.post(address, {"name": "production"}).status_code == 403
    assert not Baseline.objects.exists()


def test_an_incomplete_run_is_refused_in_words(client_of_triager: Client, team: Team) -> None:
    run = store(team, outcomes("v1", a="P") | {"status": "limited"})

    answer = client_of_triager.post(f"/runs/{run.pk}/baseline/", {"name": "production"})

    assert answer.status_code == 400
    assert "This run is limited, not completed." in text_of(answer)


def test_clearing_leads_back(client_of_triager: Client, team: Team, triager: User, versions: Versions) -> None:
    baseline = set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production")

    form = client_of_triager.get(f"/runs/{versions[0].pk}/baseline/").content.decode()
    assert f'action="/baselines/{baseline.pk}/clear/"' in form
    assert 'placeholder="Why it goes"' in form

    members = {"run": str(versions[0].pk), "reason": "Withdrawn <b>"}
    answer = client_of_triager.post(f"/baselines/{baseline.pk}/clear/", members)

    assert answer["Location"] == f"/runs/{versions[0].pk}/baseline/"
    assert not Baseline.objects.exists()
    assert "cleared" in text_of(client_of_triager.get(answer["Location"]))
    assert "Withdrawn <b>" in text_of(client_of_triager.get(answer["Location"]))


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        (
            0,
            "this run is measured against nothing: the run is itself the baseline production, the default of this "
            "target and suite, and no earlier version has a completed run of this suite",
        ),
        (
            1,
            "this run is the baseline production itself, the default, and is measured against the newest earlier "
            "version with a completed run of this suite",
        ),
    ],
)
def test_the_default_baseline_says_so_of_itself(
    client_of_triager: Client, team: Team, triager: User, versions: Versions, place: int, answer: str
) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[place].pk, name="production", is_default=True)

    assert answer in text_of(client_of_triager.get(f"/runs/{versions[place].pk}/baseline/"))


def test_named_baselines_of_which_none_is_the_default_are_not_denied(
    client_of_triager: Client, team: Team, triager: User, versions: Versions
) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[2].pk, name="staging")

    assert "against nothing: no baseline is the default of this target and suite, and no earlier version" in text_of(
        client_of_triager.get(f"/runs/{versions[0].pk}/baseline/")
    )


def test_a_baseline_of_another_team_does_not_exist(client_of_triager: Client, versions: Versions) -> None:
    others = factories.make_team()
    theirs = store(others, outcomes("v1", a="P"))
    kept = set_baseline(team=others, user=factories.make_member(others), run_pk=theirs.pk, name="production")

    client_of_triager.post(f"/baselines/{kept.pk}/clear/")

    assert Baseline.objects.filter(pk=kept.pk).exists()
    assert client_of_triager.get(f"/runs/{theirs.pk}/baseline/").status_code == 404
    assert compare(client_of_triager, "baseline:production", f"run:{versions[1].pk}").status_code == 404


def test_a_name_stands_on_a_side_and_its_rule_is_printed(
    client_of_triager: Client, team: Team, triager: User, versions: Versions
) -> None:
    set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)

    for side in ("baseline:production", "baseline"):
        response = compare(client_of_triager, side, f"run:{versions[2].pk}")
        assert response.context["page"].baseline.version.fingerprint == "v1"
        assert "the baseline production" in text_of(response)
    assert "chosen explicitly" in text_of(response)


def test_without_a_named_one_the_earlier_version_is_the_baseline(client_of_triager: Client, versions: Versions) -> None:
    response = compare(client_of_triager, "baseline", f"version:{versions[2].version_id}")

    assert response.context["page"].baseline.version.fingerprint == "v2"
    assert "the newest earlier version with a completed run of this suite" in text_of(response)


@pytest.mark.parametrize(
    ("baseline", "candidate", "status", "words"),
    [
        ("baseline:nothing", "run:{0}", 404, "nothing is no baseline"),
        ("baseline", "run:{0}", 400, "no earlier version has a completed run"),
        ("baseline", "baseline", 400, "follows from the other side"),
        ("baseline:production", "version:99999", 404, "a version that has no runs"),
    ],
)
def test_a_baseline_that_is_not_there_is_said(
    client_of_triager: Client,
    team: Team,
    triager: User,
    versions: Versions,
    baseline: str,
    candidate: str,
    status: int,
    words: str,
) -> None:
    if "production" in baseline:
        set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production")

    response = compare(client_of_triager, baseline, candidate.format(versions[0].pk))

    assert response.status_code == status
    assert words in text_of(response)


@pytest.mark.django_db(transaction=True)
def test_lists_and_home_say_against_what_they_measure(
    client_of_triager: Client, team: Team, triager: User, versions: Versions
) -> None:
    assert "earlier version" in text_of(client_of_triager.get("/runs/"))

    set_baseline(team=team, user=triager, run_pk=versions[0].pk, name="production", is_default=True)

    lines = client_of_triager.get("/runs/").context["page"].lines
    assert [(line.change.rule, line.change.text) for line in lines[:2]] == [
        ("production", "Inconclusive: 1 broken against its baseline production"),
        ("production", "Inconclusive: 1 broken against its baseline production"),
    ]
    assert "Inconclusive against production 1 scenario variant broke" in text_of(client_of_triager.get("/"))


def test_the_run_page_leads_to_its_baseline(client_of_triager: Client, versions: Versions) -> None:
    page = client_of_triager.get(f"/runs/{versions[2].pk}/").context["page"]

    assert page.baseline_href == f"/compare/?baseline={versions[1].pk}&candidate={versions[2].pk}"
    assert "newest earlier version" in page.baseline_words


def test_the_page_costs_the_same_queries_for_one_baseline_and_for_twenty(
    client_of_triager: Client, team: Team, triager: User, versions: Versions
) -> None:
    counts = []
    for names in (["production"], [f"name-{number}" for number in range(20)]):
        for name in names:
            set_baseline(team=team, user=triager, run_pk=versions[0].pk, name=name)
        with CaptureQueriesContext(connection) as queries:
            client_of_triager.get(f"/runs/{versions[2].pk}/baseline/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 14


def test_a_candidate_alone_is_offered_its_baseline(client_of_triager: Client, versions: Versions) -> None:
    page = client_of_triager.get("/compare/", {"candidate": f"run:{versions[2].pk}"}).context["page"]

    shown = client_of_triager.get(page.completions[0].href).context["page"]

    assert page.completions[0].text.startswith("Its baseline: the newest earlier version")
    assert shown.baseline.version.fingerprint == "v2"
