"""The audit trail: an admin sees who changed what, page by page, and nothing of another team."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Team, User
from reports.services.audit import differences, record
from tests import factories
from tests.pages.test_compare import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(team: Team) -> User:
    return factories.make_member(team, "admin")


@pytest.fixture
def client_of_admin(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def test_entries_stand_newest_first_with_who_and_what(client_of_admin: Client, team: Team, admin: User) -> None:
    record(team=team, actor=admin, action="note.written", subject="<b>", text="Ticket 12", link="")
    record(team=team, actor=admin, action="note.closed", subject="greet")
    record(team=factories.make_team(), actor=admin, action="note.written", subject="theirs")

    shown = client_of_admin.get("/settings/audit/")

    assert [line.action for line in shown.context["page"].lines] == ["note.closed", "note.written"]
    assert "note.written <b> text Ticket 12" in text_of(shown)
    assert "theirs" not in text_of(shown)


def test_a_change_shows_what_it_replaced_and_everything_can_be_read(
    client_of_admin: Client, team: Team, admin: User
) -> None:
    long = "line one\n" + "x" * 90_000 + " its end"
    record(team=team, actor=admin, action="policy.changed", subject="", before="", after=long)
    record(team=team, actor=admin, action="note.changed", subject="a", **differences({"owner": "ann"}, {"owner": ""}))

    shown = client_of_admin.get("/settings/audit/")

    words = text_of(shown)
    assert "note.changed a owner ann → nothing" in words
    assert "policy nothing → line one … 90,017 characters, 2 lines" in words
    assert "x" * 90_000 + " its end" in words


def test_a_cleared_baseline_shows_what_it_was(client_of_admin: Client, team: Team, admin: User) -> None:
    record(
        team=team, actor=admin, action="baseline.cleared", subject="production", before={"version": "v1"}, reason="Old"
    )

    assert "production version v1 → nothing reason Old" in text_of(client_of_admin.get("/settings/audit/"))


def test_pages_show_each_entry_once_at_the_same_cost(client_of_admin: Client, team: Team, admin: User) -> None:
    seen, counts = [], []
    for number in range(120):
        record(team=team, actor=admin, action="note.written", subject=f"s{number}")
    address = "/settings/audit/"
    while address:
        with CaptureQueriesContext(connection) as queries:
            page = client_of_admin.get(address).context["page"]
        counts.append(len(queries))
        seen += [line.subject for line in page.lines]
        address = page.pager.next_href

    assert seen == [f"s{number}" for number in reversed(range(120))]
    assert len(set(counts)) == 1


def test_only_an_admin_sees_it(client_of_runner: Client) -> None:
    assert client_of_runner.get("/settings/audit/").status_code == 403
