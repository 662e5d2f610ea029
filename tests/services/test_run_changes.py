"""The change of runs against their baselines, counted when they are stored."""

from typing import Any

import pytest
from evalrunner.compare import IMPROVEMENTS, REGRESSIONS, Change

from reports.models import Run, RunChange, Team
from reports.selectors.compare import compare_sides
from reports.services.recount import recount_run
from reports.services.run_changes import refresh_changes
from tests import factories
from tests.factories import LETTERS, case, report, scenario, stored, suite

SHOWN = REGRESSIONS | IMPROVEMENTS | {Change.LOST}


def run_of(team: Team, outcomes: str = "P", *, fingerprint: str = "v1", day: int = 1, **members: Any) -> Run:
    """Store a run; ``outcomes`` holds the cases of each scenario, parted by blanks: "PP PF"."""
    cases = [
        case(LETTERS[letter], scenario_id=f"scenario-{place}", repetition=repetition)
        for place, letters in enumerate(outcomes.split())
        for repetition, letter in enumerate(letters)
    ]
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    made = report(cases=cases, target={"id": "desk", "fingerprint": fingerprint}, **times | members)
    return stored(team, made)


def change_of(run: Run) -> tuple[Any, dict[str, int]] | None:
    row = RunChange.objects.filter(run=run.pk).first()
    return (row.baseline_id, row.counts) if row else None


EVERY_CLASS_BEFORE = "PP PP PP PF FF PF FF FF SS PP SS"
EVERY_CLASS_AFTER = "FF PF SS FF PP PP FF PF PP PP SS"


def test_a_run_is_counted_against_the_version_before(team: Team) -> None:
    before = run_of(team, "PP PP FF PP", fingerprint="v1", day=1)
    after = run_of(team, "FF PF PP PP", fingerprint="v2", day=2)

    assert change_of(before) is None
    assert change_of(after) == (before.pk, {"broken": 1, "fixed": 1, "steady": 1, "unstable": 1})


def test_the_counts_are_those_of_the_comparison(team: Team) -> None:
    before = run_of(team, EVERY_CLASS_BEFORE, fingerprint="v1", day=1)
    after = run_of(team, EVERY_CLASS_AFTER, fingerprint="v2", day=2)

    compared = compare_sides(team=team, baseline=f"run:{before.pk}", candidate=f"run:{after.pk}").result.counts()

    change = change_of(after)
    assert change is not None
    assert {each: change[1].get(str(each), 0) for each in SHOWN} == {each: compared[each] for each in SHOWN}


def test_redefined_scenarios_are_left_out_as_in_the_comparison(team: Team) -> None:
    before = run_of(team, "P P", fingerprint="v1", day=1)
    changed = scenario("scenario-0")
    changed["steps"][0]["input"] = {"text": "Another question"}
    defined = suite() | {"scenarios": [changed, scenario("scenario-1")]}
    after = run_of(team, "F F", fingerprint="v2", day=2, suite=defined)

    assert change_of(after) == (before.pk, {"broken": 1})


def test_the_baseline_is_the_newest_completed_run_of_the_newest_earlier_version(team: Team) -> None:
    run_of(team, fingerprint="v1", day=1)
    run_of(team, fingerprint="v2", day=2)
    newest = run_of(team, fingerprint="v2", day=3)
    run_of(team, fingerprint="v2", day=4, status="cancelled")
    run_of(team, fingerprint="v1", day=5)
    after = run_of(team, fingerprint="v3", day=6)

    change = change_of(after)
    assert change is not None
    assert change[0] == newest.pk


def test_another_suite_target_or_team_is_no_baseline(team: Team) -> None:
    run_of(team, fingerprint="v1", day=1, suite=suite("scenario-0", suite_id="other"))
    run_of(factories.make_team(), fingerprint="v1", day=1)
    after = run_of(team, fingerprint="v2", day=2)

    assert change_of(after) is None


def test_a_run_that_comes_late_becomes_the_baseline_of_those_after_it(team: Team) -> None:
    run_of(team, "P", fingerprint="v1", day=1)
    after = run_of(team, "P", fingerprint="v3", day=3)

    between = run_of(team, "F", fingerprint="v2", day=2)

    assert change_of(after) == (between.pk, {"fixed": 1})


def test_a_later_snapshot_of_the_baseline_is_counted(team: Team) -> None:
    began: dict[str, Any] = {
        "startedAt": "2026-03-01T09:00:00Z",
        "runId": "nightly",
        "target": {"id": "desk", "fingerprint": "v1"},
    }
    waiting = report("N", status="running", **began)
    waiting.pop("finishedAt")
    stored(team, waiting)
    after = stored(team, report("P", target={"id": "desk", "fingerprint": "v2"}))
    assert change_of(after) is None

    done = waiting | {"status": "completed", "finishedAt": "2026-03-01T09:01:00Z"}
    failed = waiting["cases"][0] | {"status": "failed", "turns": [factories.turn("failed")]}
    done |= {"cases": [failed], "summary": factories.summary([failed])}
    baseline = stored(team, done)

    assert change_of(after) == (baseline.pk, {"fixed": 1})


def test_counting_again_changes_nothing(team: Team) -> None:
    run_of(team, "P", fingerprint="v1", day=1)
    after = run_of(team, "F", fingerprint="v2", day=2)
    before = change_of(after)

    refresh_changes(run_pk=after.pk)

    assert change_of(after) == before


@pytest.mark.parametrize("counts", [{"broken": 7}, {}])
def test_a_recount_finds_and_mends_a_wrong_change(team: Team, counts: dict[str, int]) -> None:
    run_of(team, "P", fingerprint="v1", day=1)
    after = run_of(team, "F", fingerprint="v2", day=2)
    RunChange.objects.update(counts=counts)

    assert [found.place for found in recount_run(after, repair=True)] == ["change"]

    assert recount_run(after, repair=False) == ()
