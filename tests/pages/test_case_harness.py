"""The page of a case shows what the scenario harness recorded of its row."""

import io

from django.test import Client
from django.urls import reverse

from reports.importers.given import Given
from reports.models import Team
from reports.services.ingest import ingest_report
from tests.importers.harness_files import lines, row


def case_page(client: Client, team: Team, **members: object) -> str:
    source = io.BytesIO(lines(row("greet", "missing event type: X", **members)))
    done = ingest_report(team=team, source=source, origin="upload", given=Given("assistant", "abc"))
    return client.get(reverse("case", args=[done.run_pk, 0])).content.decode()


def test_events_tools_and_tokens_are_shown(client_of_viewer: Client, team: Team) -> None:
    usage = {"request_count": 2, "input_tokens": 4321, "output_tokens": 87, "cache_read_input_tokens": 1000}

    page = case_page(
        client_of_viewer,
        team,
        assistant_response="Here it is.",
        event_types=["SessionInitialized", "ModelTokenDelta", "ModelTokenDelta", "Evil<script>"],
        tool_invocations=2,
        tool_failures=1,
        trajectory_actions=["fs.read", "shell.exec"],
        context_input_tokens=2048,
        context_window=8192,
        model_usage=usage | {"cache_creation_input_tokens": 0},
        turns_count=1,
    )

    for words in ("Here it is.", "2, 1 failed", "2,048 of 8,192", "4,321, 1,000 from the cache", "87", "4 events"):
        assert words in page
    assert page.index("fs.read") < page.index("shell.exec")
    assert "× 2" in page
    assert "<script>" not in page.replace('<script type="', "")
    assert "missing event type: X" in page


def test_what_only_carries_the_row_is_no_criterion(client_of_viewer: Client, team: Team) -> None:
    page = case_page(client_of_viewer, team)

    assert "0 of 1 criterion holds" in page
