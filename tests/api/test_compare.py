"""The comparison over the API."""

import json
from typing import Any

import pytest
from django.test import Client
from evalrunner.compare import MATRIX_ORDER, Change

from reports.models import Run, Team, User
from reports.services.tokens import create_token
from tests.factories import outcomes
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
Pair = tuple[Run, Run]


@pytest.fixture
def bearer(viewer: User, team: Team) -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(team=team, maker=viewer, name='ci', scope='read')}"}


@pytest.fixture
def pair(team: Team) -> Pair:
    names = {f"s{number:02}": "P" for number in range(60)}
    return (
        store(team, outcomes("v1", breaks="PPP", **names)),
        store(team, outcomes("v2", breaks="FFF", **dict.fromkeys(names, "F"))),
    )


def get(client: Client, bearer: dict[str, str], pair: Pair, **members: str) -> Any:
    query = {"baseline": str(pair[0].pk), "candidate": f"version:{pair[1].version_id}"} | members
    return client.get("/api/v1/compare", query, headers=bearer)


def test_the_document_holds_every_count_zeros_included(client: Client, bearer: dict[str, str], pair: Pair) -> None:
    answer = get(client, bearer, pair)

    whole = json.loads(answer.content)
    assert answer.status_code == 200
    assert whole["counts"] == {str(change): 61 if change == Change.BROKEN else 0 for change in Change}
    assert set(whole["matrix"]) == set(MATRIX_ORDER) == set(whole["matrix"]["passed"])
    assert whole["matrix"]["passed"]["failed"] == 63
    assert whole["matrix"]["failed"]["passed"] == 0
    rate = whole["baseline"]["passRate"]
    assert (rate["passed"], rate["decided"], rate["undecided"], rate["rate"]) == (63, 63, 0, 1.0)
    assert whole["sentence"].startswith("61 scenario variants broke; difference −100.0 points")
    assert (whole["verdict"], whole["reasons"][0]["kind"]) == ("regressed", "got_worse")


def test_a_row_names_its_variant_and_where_to_look(client: Client, bearer: dict[str, str], pair: Pair) -> None:
    row = get(client, bearer, pair, q="breaks").json()["rows"][0]

    assert (row["scenarioId"], row["class"], row["drop"]) == ("breaks", "broken", 1.0)
    assert (row["baseline"]["passed"], row["candidate"]["decided"], len(row["candidate"]["cases"])) == (3, 3, 3)
    assert row["candidate"]["failing"] == 'ask: answered: expected "completed", got "refused"'
    assert "/compare/case/?" in row["url"]


def test_rows_come_in_pages_each_variant_once(client: Client, bearer: dict[str, str], pair: Pair) -> None:
    first = get(client, bearer, pair).json()
    second = get(client, bearer, pair, cursor=first["nextCursor"]).json()

    seen = [row["variant"] for page in (first, second) for row in page["rows"]]
    assert (len(seen), len(set(seen)), second["nextCursor"]) == (61, 61, None)
    assert first["rowsTotal"] == 61


def test_a_cursor_of_a_row_that_fits_no_more_is_refused(client: Client, bearer: dict[str, str], pair: Pair) -> None:
    cursor = get(client, bearer, pair).json()["nextCursor"]

    answer = get(client, bearer, pair, cursor=cursor, q="breaks")

    assert (answer.status_code, answer.json()["paths"]) == (422, ["query.cursor"])


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"baseline": "version:9999"}, 404, "not_found"),
        ({"candidate": "nothing"}, 404, "not_found"),
        ({"class": "odd"}, 422, "parameters_invalid"),
        ({"clas": "broken"}, 422, "parameters_invalid"),
        ({"from": "odd"}, 422, "parameters_invalid"),
        ({"baseline": ""}, 422, "parameters_invalid"),
        ({"cursor": "0" * 32}, 422, "cursor_invalid"),
        ({"suite": "987654"}, 400, "side_not_comparable"),
    ],
)
def test_what_cannot_be_compared_is_a_problem_with_its_place(
    client: Client, bearer: dict[str, str], pair: Pair, members: dict[str, str], status: int, code: str
) -> None:
    answer = get(client, bearer, pair, **members)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["paths"]


def test_without_a_token_nothing_is_told(client: Client, pair: Pair) -> None:
    assert get(client, {}, pair).status_code == 401


def test_the_api_and_the_page_say_the_same(
    client: Client, client_of_viewer: Client, bearer: dict[str, str], pair: Pair
) -> None:
    whole = get(client, bearer, pair).json()

    page = client_of_viewer.get(whole["url"]).context["page"]

    shown = [line.scenario_id for group in page.groups for line in group.lines]
    assert shown == [row["scenarioId"] for row in whole["rows"]]
    assert "".join(phrase.text for phrase in page.verdict.sentence) == whole["sentence"]
    assert (page.rates, page.verdict.key, page.verdict.size) == (whole["rates"], whole["verdict"], whole["size"])
