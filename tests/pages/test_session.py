"""Signing in and out, the theme, the comparison tray."""

import pytest
from django.test import Client

from reports.models import Membership, Team, User
from tests import factories
from tests.factories import report, stored


def test_a_password_signs_in_and_leads_on(client: Client, runner: User) -> None:
    runner.set_password("correct horse battery staple")
    runner.save()

    response = client.post(
        "/sign-in/",
        {"username": runner.username, "password": "correct horse battery staple", "next": "/targets/"},
    )

    assert (response.status_code, response["Location"]) == (302, "/targets/")


def test_a_wrong_password_is_said_and_keeps_the_name(client: Client, runner: User) -> None:
    response = client.post("/sign-in/", {"username": runner.username, "password": "wrong"})

    page = response.content.decode()
    assert "correct username and password" in page
    assert f'value="{runner.username}"' in page


def test_the_page_tells_of_the_one_time_address(client: Client, db: None) -> None:
    assert "manage.py sign_in_link" in client.get("/sign-in/").content.decode()


def test_signing_out_is_a_post(client_of_viewer: Client) -> None:
    assert client_of_viewer.get("/sign-out/").status_code == 405

    client_of_viewer.post("/sign-out/")

    assert client_of_viewer.get("/").status_code == 302


@pytest.mark.parametrize("theme", ["light", "dark", ""])
def test_a_theme_is_kept_for_the_reader(client_of_viewer: Client, viewer: User, theme: str) -> None:
    client_of_viewer.post("/settings/theme/", {"theme": theme, "next": "/runs/"})

    viewer.refresh_from_db()
    assert viewer.theme == theme
    assert (f'data-theme="{theme}"' in client_of_viewer.get("/runs/").content.decode()) is bool(theme)


def test_an_unknown_theme_is_refused(client_of_viewer: Client, viewer: User) -> None:
    assert client_of_viewer.post("/settings/theme/", {"theme": "pink"}).status_code == 400


def test_a_form_opened_before_a_sign_in_is_refused_in_words(viewer: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(viewer)

    answer = client.post("/settings/theme/", {"theme": "dark", "csrfmiddlewaretoken": "a" * 32})

    assert answer.status_code == 403
    assert b"This form cannot be taken any more" in answer.content and b"reload the page" in answer.content
    assert b"<style" not in answer.content


def test_too_many_wrong_passwords_are_answered_with_a_page(client: Client, runner: User) -> None:
    for _ in range(11):
        answer = client.post("/sign-in/", {"username": runner.username, "password": "wrong"})

    assert answer.status_code == 429
    assert b"<title>The password was wrong too often" in answer.content


def test_wrong_passwords_lock_one_name_and_nobody_else(client: Client, runner: User, viewer: User) -> None:
    viewer.set_password("right")
    viewer.save()
    for _ in range(11):
        client.post("/sign-in/", {"username": runner.username, "password": "wrong"})

    answer = client.post("/sign-in/", {"username": viewer.username, "password": "right"})

    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""])
def test_nobody_is_led_to_another_site(client_of_viewer: Client, address: str) -> None:
    response = client_of_viewer.post("/settings/theme/", {"theme": "dark", "next": address})

    assert response["Location"] == "/"


def test_a_baseline_waits_in_the_tray_until_it_is_cleared(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("P"))

    client_of_viewer.post("/settings/tray/", {"side": f"version:{run.version_id}", "next": "/targets/"})
    filled = client_of_viewer.get("/targets/").content.decode()
    client_of_viewer.post("/settings/tray/", {"side": ""})

    assert "Comparison tray" in filled
    assert "desk.agent @ v1" in filled
    assert "Comparison tray" not in client_of_viewer.get("/targets/").content.decode()


def test_a_run_and_a_version_complete_the_pair_of_the_tray(client_of_viewer: Client, team: Team) -> None:
    first, second = (
        stored(team, report("P")),
        stored(team, report("F", target={"id": "desk.agent", "fingerprint": "v2"})),
    )
    client_of_viewer.post("/settings/tray/", {"side": f"run:{first.pk}"})

    run = client_of_viewer.get(f"/runs/{second.pk}/").content.decode()
    target = client_of_viewer.get(f"/targets/{second.version.target_id}/").content.decode()
    itself = client_of_viewer.get(f"/runs/{first.pk}/").content.decode()

    assert f'href="/compare/?baseline={first.pk}&amp;candidate={second.pk}">Compare<' in run
    assert f'href="/compare/?baseline={first.pk}&amp;candidate=version:{second.version_id}">Compare<' in target
    assert ">Compare<span" not in itself


@pytest.mark.parametrize("side", ["run:x", "version:x", "version:99999999999999999999", "moon:1", "run:" + "0" * 32])
def test_what_does_not_exist_cannot_be_a_baseline(client_of_viewer: Client, side: str) -> None:
    assert client_of_viewer.post("/settings/tray/", {"side": side}).status_code == 404


def test_another_teams_run_cannot_be_a_baseline(client_of_viewer: Client) -> None:
    run = stored(factories.make_team(), report("P"))

    for side in (f"run:{run.pk}", f"version:{run.version_id}"):
        assert client_of_viewer.post("/settings/tray/", {"side": side}).status_code == 404


def test_a_member_of_two_teams_switches_between_them(client_of_viewer: Client, viewer: User, team: Team) -> None:
    other = factories.make_team("Another team")
    Membership.objects.create(team=other, user=viewer, role="runner")
    run = stored(team, report("P"))
    client_of_viewer.post("/settings/tray/", {"side": f"run:{run.pk}"})

    listed = client_of_viewer.get("/settings/team/").content.decode()
    client_of_viewer.post("/settings/team/", {"team": str(other.pk)})

    home = client_of_viewer.get("/").content.decode()
    assert "Switch to" in listed
    assert "<h1><bdi>Another team</bdi></h1>" in home
    assert "Comparison tray" not in home
    assert client_of_viewer.get(f"/runs/{run.pk}/").status_code == 404


@pytest.mark.parametrize("text", ["", "x", "999999"])
def test_nobody_switches_to_what_is_not_their_team(client_of_viewer: Client, text: str) -> None:
    foreign = factories.make_team()

    for chosen in (text, str(foreign.pk)):
        assert client_of_viewer.post("/settings/team/", {"team": chosen}).status_code == 404


def test_a_member_of_one_team_is_not_offered_to_switch(client_of_viewer: Client) -> None:
    assert "/settings/team/" not in client_of_viewer.get("/").content.decode()
