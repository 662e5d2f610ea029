"""The frame around every page."""

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone

from reports.models import Execution, Run, Team
from tests import factories
from tests.factories import report, stored


def test_the_import_map_is_the_only_inline_script_and_carries_the_nonce(client_of_viewer: Client) -> None:
    response = client_of_viewer.get("/")

    page = response.content.decode()
    scripts = re.findall(r"<script([^>]*)>([^<]*)</script>", page)
    (inline,) = [(attributes, text) for attributes, text in scripts if text.strip()]
    nonce = re.search(r'nonce="([^"]+)"', inline[0])
    assert nonce is not None
    assert f"'nonce-{nonce[1]}'" in response["Content-Security-Policy"]
    assert 'type="importmap"' in inline[0]
    assert json.loads(inline[1])["imports"]["site/keys"].endswith("/keys.js")


def test_no_page_carries_a_style_of_its_own(client_of_viewer: Client, team: Team) -> None:
    stored(team, report("PF"))

    for address in ("/", "/runs/", "/targets/", "/suites/", "/help/"):
        page = client_of_viewer.get(address).content.decode()
        assert " style=" not in page
        assert "<style" not in page


@pytest.mark.parametrize(
    "address",
    ["runs", "compare", "targets", "suites", "runs/new", "runs/import", "help", "help/connect", "settings/team"]
    + [f"settings/{name}" for name in ("notes", "ignore-rules", "policy", "audit")],
)
def test_every_page_says_where_the_reader_is(client: Client, team: Team, address: str) -> None:
    client.force_login(factories.make_member(team, "admin"))

    page = client.get(f"/{address}/").content.decode()

    assert 'aria-current="page"' in page
    if address.startswith("settings") and address != "settings/team":
        assert re.search(rf'<a href="/{address}/" aria-current="page">', page)
        assert re.search(r"<li><span><bdi>Settings of [^<]+</bdi></span></li><li aria-current", page)


def test_every_static_file_of_a_page_exists(client_of_viewer: Client) -> None:
    page = client_of_viewer.get("/").content.decode()

    served = re.findall(r'"/static/([^"]+)"', page)
    assert len(served) > 10
    assert all(finders.find(name) for name in served)


def test_all_stylesheets_are_served_as_one_that_browsers_keep(client_of_viewer: Client, client: Client) -> None:
    page = client_of_viewer.get("/").content.decode()
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)

    response = client.get(address)

    sheet = response.content.decode()
    assert response["Content-Type"].startswith("text/css")
    assert "immutable" in response["Cache-Control"]
    assert sheet.index("--ground:") < sheet.index("box-sizing") < sheet.index(".badge {") < sheet.index(".tray {")


def test_an_old_address_of_the_stylesheet_is_answered_but_not_kept(client: Client, db: None) -> None:
    response = client.get("/site-0123456789ab.css")

    assert response.status_code == 200
    assert response["Cache-Control"] == "no-cache"


def test_viewers_are_not_offered_to_start_runs(client_of_viewer: Client, client_of_runner: Client) -> None:
    assert "New run" in client_of_runner.get("/runs/").content.decode()
    assert "New run" not in client_of_viewer.get("/runs/").content.decode()


def running(team: Team) -> Run:
    """A run that this site executes."""
    run = stored(team, report("PF"))
    Run.objects.filter(pk=run.pk).update(status="running", ordered_at=timezone.now())
    Execution.objects.create(run=run, target_name="tutorial", request={})
    return run


def test_what_this_site_runs_is_counted_for_its_own_team(client_of_viewer: Client, team: Team) -> None:
    running(team)
    running(team)
    running(factories.make_team())

    assert "2 running" in client_of_viewer.get("/help/").content.decode()


@pytest.mark.parametrize("address", ["/nowhere/", "/targets/999999/", "/suites/999999/"])
def test_an_unknown_address_is_answered_with_a_page(client_of_viewer: Client, address: str) -> None:
    response = client_of_viewer.get(address)

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


def test_a_missing_membership_is_explained(client: Client, db: None) -> None:
    user = factories.make_member(factories.make_team())
    user.memberships.all().delete()
    client.force_login(user)

    response = client.get("/")

    assert response.status_code == 403
    assert "not a member of any team" in response.content.decode()


def test_a_failure_of_ours_needs_no_database(client_of_viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_arguments: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("reports.views.home.home_page", fail)
    client_of_viewer.raise_request_exception = False

    response = client_of_viewer.get("/")

    assert response.status_code == 500
    assert "Something broke on our side" in response.content.decode()


def test_help_is_a_page_and_the_content_of_a_dialog(client_of_viewer: Client) -> None:
    assert "<html" in client_of_viewer.get("/help/").content.decode()
    fragment = client_of_viewer.get("/help/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "Next and previous difference" in fragment


def test_connecting_an_agent_is_explained_with_this_sites_address(client_of_viewer: Client) -> None:
    assert "http://testserver/api/v1/runs/import" in client_of_viewer.get("/help/connect/").content.decode()


def test_a_favicon_asked_for_beside_a_document_is_answered(client: Client, db: None) -> None:
    assert client.get("/favicon.ico").status_code == 302
