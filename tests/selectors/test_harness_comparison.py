"""The harness's own comparison of two runs is exactly that of its reports."""

import io
import json

import pytest
from django.test import Client
from django.urls import reverse
from evalrunner.harness import compare_reports

from reports.importers.given import Given
from reports.models import Run, Team
from reports.selectors.compare_sides import resolve_sides
from reports.selectors.harness_comparison import compare_harness
from reports.services.ingest import ingest_report
from tests import factories
from tests.importers.harness_files import DATA, report, row

VECTORS = [
    json.loads(line) for line in (DATA / "compare" / "vectors.jsonl").read_text(encoding="utf-8").split("\n") if line
]
FULL = [vector for vector in VECTORS if vector["baseline"]["results"] and vector["candidate"]["results"]]


def imported(team: Team, data: bytes, fingerprint: str) -> Run:
    given = Given("assistant", fingerprint)
    done = ingest_report(team=team, source=io.BytesIO(data), origin="upload", given=given)
    return Run.objects.get(pk=done.run_pk)


def compared(team: Team, baseline: Run, candidate: Run) -> object:
    sides = resolve_sides(team=team, baseline=f"run:{baseline.pk}", candidate=f"run:{candidate.pk}")
    found = compare_harness(*sides)
    return None if found is None else found.result


def test_every_stored_comparison_comes_out_exactly(team: Team) -> None:
    assert len(FULL) > 30
    for number, vector in enumerate(FULL):
        before = imported(team, json.dumps(vector["baseline"]).encode(), f"{number}-before")
        after = imported(team, json.dumps(vector["candidate"]).encode(), f"{number}-after")

        assert compared(team, before, after) == vector["comparison"]


def test_the_six_versions_compare_as_the_harness_compares_them(team: Team) -> None:
    texts = [(DATA / "reports" / f"v{number}" / "report.json").read_text() for number in range(1, 7)]
    runs = [imported(team, text.encode(), str(number)) for number, text in enumerate(texts)]

    for place in range(5):
        wanted = compare_reports(json.loads(texts[place]), json.loads(texts[place + 1]))
        assert compared(team, runs[place], runs[place + 1]) == wanted


def test_other_runs_have_no_such_comparison(team: Team) -> None:
    other = imported(team, json.dumps(factories.report("P")).encode(), "")
    ours = imported(team, report(row()), "a")

    assert compared(team, other, ours) is None


# -------------------------------------------------------------------------------------------------------- page and API


@pytest.fixture
def pair(team: Team) -> tuple[Run, Run]:
    before = report(
        row("slow <b>", elapsed_ms=100, context_input_tokens=100, tool_invocations=2),
        row("broken", elapsed_ms=10),
    )
    after = report(
        row("slow <b>", elapsed_ms=163, context_input_tokens=180, tool_invocations=3),
        row("broken", "missing event type: X", elapsed_ms=10),
    )
    return imported(team, before, "one"), imported(team, after, "two")


def test_the_page_shows_its_kinds_and_the_figures_beside_our_classes(
    client_of_viewer: Client, pair: tuple[Run, Run]
) -> None:
    query = {"baseline": f"run:{pair[0].pk}", "candidate": f"run:{pair[1].pk}", "class": "all"}

    page = client_of_viewer.get(reverse("compare"), query).content.decode()

    assert "By the scenario harness" in page
    assert "3 regressions, 0 improvements" in page
    assert "passed → failed" in page
    assert page.count("slower by 63%") == 2  # in the list of the harness, and as a mark of the row
    assert page.count("more tokens 80%") == 2
    assert "+80 (+80%)" in page
    assert "slow <b>" not in page


def test_the_api_gives_the_comparison_of_the_harness(client_of_viewer: Client, pair: tuple[Run, Run]) -> None:
    address = reverse("api-1:compare_harness")

    body = client_of_viewer.get(address, {"baseline": str(pair[0].pk), "candidate": f"version:{pair[1].version_id}"})

    assert body.json()["regressions"] == [
        {"scenario_id": "slow <b>", "kind": "slower_by_63%"},
        {"scenario_id": "slow <b>", "kind": "more_tokens_80%"},
        {"scenario_id": "broken", "kind": "passed_to_failed"},
    ]
    assert body.json()["total_token_delta"] == 80
    missing = client_of_viewer.get(address, {"baseline": str(pair[0].pk), "candidate": "run:nothing"})
    assert missing.status_code == 404


def test_pages_of_other_comparisons_say_nothing_of_it(client_of_viewer: Client, team: Team) -> None:
    run = imported(team, json.dumps(factories.report("PF")).encode(), "")

    page = client_of_viewer.get(reverse("compare"), {"baseline": str(run.pk), "candidate": str(run.pk)})

    assert page.status_code == 200
    assert "By the scenario harness" not in page.content.decode()
