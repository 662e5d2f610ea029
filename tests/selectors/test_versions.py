"""Versions and their pooled counts."""

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from reports.models import Run, Team
from reports.selectors.versions import VersionRow, newest_versions
from tests import factories
from tests.factories import case, report, stored, suite


def run_of(team: Team, letters: str = "P", *, fingerprint: str = "v1", day: int = 1, **members: Any) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, target={"id": "desk", "fingerprint": fingerprint}, **times | members))


def versions(team: Team, **members: Any) -> tuple[VersionRow, ...]:
    run = Run.objects.for_team(team).select_related("version", "revision").order_by("ordered_at")[0]
    return newest_versions(
        team=team, target_pk=run.version.target_id, suite_pk=run.revision.suite_id, **{"limit": 50} | members
    )


def test_versions_stand_in_the_order_of_their_first_runs(team: Team) -> None:
    run_of(team, fingerprint="old", day=1)
    run_of(team, fingerprint="new", day=3)
    run_of(team, fingerprint="old", day=9)

    assert [row.fingerprint for row in versions(team)] == ["new", "old"]


def test_completed_and_limited_runs_are_pooled_and_others_are_not(team: Team) -> None:
    run_of(team, "PF")
    run_of(team, "PE", status="limited", day=2)
    run_of(team, "FC", status="cancelled", day=3)

    (row,) = versions(team)

    assert row.runs == 3
    assert row.tally.words == "2 of 4 decided"


def test_a_retry_supersedes_only_undecided_attempts(team: Team) -> None:
    run_of(team, "PFB", runId="first", day=1)
    run_of(team, "PPP", runId="second", resumedFrom="first", day=2)

    (row,) = versions(team)

    assert row.tally.words == "2 of 3 decided"


def test_a_version_counts_the_suite_revision_that_it_ran_last(team: Team) -> None:
    run_of(team, "FFF", day=1)
    changed = suite("greet", "leave")
    run_of(team, cases=[case("passed"), case("passed", scenario_id="leave")], suite=changed, day=2)

    (row,) = versions(team)

    assert row.tally.words == "2 of 2 decided"
    assert row.runs == 2


def test_only_runs_of_the_suite_count(team: Team) -> None:
    run_of(team, "PF", day=1)
    run_of(team, "FFFF", suite=suite(suite_id="other"), day=2)

    (row,) = versions(team)

    assert row.tally.words == "1 of 2 decided"


def test_paging_continues_behind_the_last_one(team: Team) -> None:
    for number in range(7):
        run_of(team, fingerprint=f"v{number}", day=1)

    first = versions(team, limit=4)
    rest = versions(team, limit=4, before=(first[-1].first_at, first[-1].pk))

    assert [row.fingerprint for row in first + rest] == [f"v{number}" for number in reversed(range(7))]


def test_another_teams_versions_are_not_counted(team: Team) -> None:
    run_of(team, "P")
    run_of(factories.make_team(), "F")

    (row,) = versions(team)

    assert row.tally.words == "1 of 1 decided"


def count_queries(team: Team) -> int:
    with CaptureQueriesContext(connection) as queries:
        versions(team)
    return len(queries)


def test_many_versions_cost_no_more_queries(team: Team) -> None:
    run_of(team)
    few = count_queries(team)

    for number in range(20):
        run_of(team, fingerprint=f"v{number}", day=2)

    assert count_queries(team) == few
