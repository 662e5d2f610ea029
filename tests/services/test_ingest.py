"""Storing reports: once, whole or not at all, and later snapshots in place of earlier ones."""

import copy
import gzip
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.conf import settings
from django.utils import timezone

from reports.models import (
    Case,
    Execution,
    Generation,
    Run,
    Scenario,
    ScenarioVariant,
    Signature,
    SuiteRevision,
    Target,
    Team,
    Turn,
    Version,
)
from reports.services import generations, ingest
from reports.services.case_rows import CaseWriter
from reports.services.generations import remove_abandoned_generations
from reports.services.ingest import Ingested, ReportConflict, ReportRejected, ingest_report
from tests import factories
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile
from tests.factories import case, report, turn

CONFORMANCE = Path(__file__).parent.parent / "data" / "conformance"
STORED = (Run, Generation, Case, Turn, Target, Version, SuiteRevision, Scenario, ScenarioVariant, Signature)


def store(team: Team, value: Any, **options: Any) -> Ingested:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return ingest_report(team=team, source=io.BytesIO(text), origin="upload", **options)


def conflict(team: Team, value: Any) -> ReportConflict:
    with pytest.raises(ReportConflict) as caught:
        store(team, value)
    return caught.value


def stored_rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in STORED}


def temporary_files() -> list[Path]:
    return sorted(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir())


def test_a_report_becomes_a_run_with_everything_its_pages_need(team: Team) -> None:
    value = report("PFES")

    done = store(team, value, file_name="nightly.json")

    run = Run.objects.get(pk=done.run_pk)
    assert (done.outcome, done.run_id) == ("created", value["runId"])
    assert (run.total, run.passed, run.failed, run.error, run.skipped) == (4, 1, 1, 1, 1)
    assert (run.status, run.is_passing, run.file_name) == ("completed", False, "nightly.json")
    assert run.started_at is not None and run.started_at.isoformat() == "2026-03-02T09:05:00+00:00"
    assert run.ordered_at == run.started_at
    assert run.version.target.target_id == "desk.agent"
    rows = Case.objects.filter(generation=run.generation).order_by("position").select_related("variant", "signature")
    assert [row.status for row in rows] == ["passed", "failed", "error", "skipped"]
    assert [row.repetition for row in rows] == [0, 1, 2, 3]
    assert [row.turn_count for row in rows] == [1, 1, 1, 0]
    assert [row.duration_ms for row in rows] == [120, 120, 120, 0]
    assert [row.signature is not None for row in rows] == [False, True, True, False]
    assert "completed" in rows[1].failing
    assert len({row.variant_id for row in rows}) == 1


def test_the_same_report_in_any_wrapping_is_one_run(team: Team) -> None:
    value = report("PF")
    text = json.dumps(value).encode()
    first = store(team, text)
    before = stored_rows()

    again = [store(team, each) for each in (text, gzip.compress(text), zstandard.compress(text))]
    spelt = store(team, json.dumps(value, indent=3, sort_keys=True).replace("120", "120.0").encode())

    assert [each.outcome for each in (*again, spelt)] == ["unchanged"] * 4
    assert {each.run_pk for each in (*again, spelt)} == {first.run_pk}
    assert stored_rows() == before


def test_teams_do_not_share_runs(team: Team) -> None:
    value = report("P")
    other = factories.make_team()

    assert store(team, value).run_pk != store(other, value).run_pk


@pytest.mark.parametrize("bad", BAD_FILES, ids=BAD_NAMES)
def test_a_bad_file_leaves_nothing_behind(team: Team, bad: BadFile) -> None:
    files = temporary_files()

    with pytest.raises(ReportRejected) as caught:
        store(team, bad.make())

    assert caught.value.code == bad.code
    assert not any(stored_rows().values())
    assert temporary_files() == files


# ------------------------------------------------------------------------------------------------------------- progress


def snapshots() -> Iterator[dict[str, Any]]:
    """Give the reports of a run as it goes on: one case waits, then runs, then has ended, then the run has."""
    done = case("passed", repetition=0)
    waiting = case("pending", repetition=1)
    both = turn(turnId="t1"), turn("failed", turnId="t2", step_id="again")
    going = waiting | {"status": "running", "turns": [both[0]]}
    ended = waiting | {"status": "failed", "turns": list(both)}
    start = report(cases=[done, waiting], status="running")
    del start["finishedAt"]
    for cases in ([done, waiting], [done, going], [done, ended]):
        yield start | {"cases": cases, "summary": factories.summary(cases)}
    yield start | {
        "cases": [done, ended],
        "summary": factories.summary([done, ended]),
        "status": "completed",
        "finishedAt": "2026-03-02T09:06:00.000Z",
        "assertions": [{"id": "all", "passed": True}],
    }


def test_later_snapshots_update_the_run_and_its_counts(team: Team) -> None:
    done = [store(team, value) for value in snapshots()]

    run = Run.objects.get()
    assert [each.outcome for each in done] == ["created", "updated", "updated", "updated"]
    assert {each.run_pk for each in done} == {run.pk}
    assert (run.status, run.total, run.passed, run.failed, run.pending) == ("completed", 2, 1, 1, 0)
    assert (run.suite_assertions, run.suite_assertions_failed) == (1, 0)
    assert [row.turn_count for row in Case.objects.filter(generation=run.generation).order_by("position")] == [1, 2]


def test_what_was_replaced_is_removed_after_its_readers_have_gone(team: Team) -> None:
    for value in snapshots():
        store(team, value)
    run = Run.objects.get()
    assert Generation.objects.count() == 4

    Generation.objects.update(renewed_at=timezone.now() - timedelta(hours=1))
    removed = remove_abandoned_generations()

    assert removed == 3
    assert list(Generation.objects.values_list("pk", flat=True)) == [run.generation_id]
    assert Case.objects.count() == 2
    assert Turn.objects.count() == 3


def test_earlier_snapshots_are_refused_with_the_first_difference(team: Team) -> None:
    steps = list(snapshots())
    for value in steps:
        store(team, value)
    before = stored_rows(), Run.objects.values().get()

    refused = [conflict(team, value) for value in steps[:3]]

    assert {each.code for each in refused} == {"run_is_later"}
    assert [each.faults[0][0] for each in refused] == ["finishedAt"] * 3
    assert (stored_rows(), Run.objects.values().get()) == before


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda value: value["cases"][0].update(name="Other"), "cases.0.name"),
        (
            lambda value: value["cases"][0]["turns"][0]["observation"].update(extra=1),
            "cases.0.turns.0.observation.extra",
        ),
        (lambda value: value["cases"].reverse(), "cases.0.id"),
        (lambda value: value["suite"].update(name="Other"), "suite.name"),
        (lambda value: value["target"].update(fingerprint="v2"), "target.fingerprint"),
        (lambda value: value.update(startedAt="2026-03-02T09:05:00.001Z"), "startedAt"),
    ],
)
def test_contradictions_are_refused_and_change_nothing(team: Team, change: Any, path: str) -> None:
    value = next(snapshots())
    store(team, value)
    before = stored_rows()
    other = copy.deepcopy(value)
    change(other)

    error = conflict(team, other)

    assert (error.code, error.faults[0][0]) == ("run_differs", path)
    assert path in error.sentence
    assert stored_rows() == before


def test_another_number_of_cases_is_a_contradiction(team: Team) -> None:
    value = report("PP")
    store(team, value)
    shorter = value | {"cases": value["cases"][:1], "summary": factories.summary(value["cases"][:1])}

    assert conflict(team, shorter).faults[0][0] == "cases"


def test_the_snapshots_of_the_reference_follow_each_other(team: Team) -> None:
    start, mid = (
        json.loads((CONFORMANCE / "reports" / f"flights-running-{name}.json").read_text()) for name in ("start", "mid")
    )
    if start["runId"] != mid["runId"]:
        mid = json.loads(json.dumps(mid).replace(mid["runId"], start["runId"])) | {"startedAt": start["startedAt"]}

    assert store(team, start).outcome == "created"
    assert store(team, mid).outcome == "updated"
    assert conflict(team, start).code == "run_is_later"


def test_a_run_that_is_executed_here_is_not_imported(team: Team) -> None:
    value = next(snapshots())
    run = Run.objects.get(pk=store(team, value).run_pk)
    Execution.objects.create(run=run, target_name="x", request={})

    assert conflict(team, value).code == "run_is_executed_here"

    Run.objects.update(status="completed")
    assert store(team, value).outcome == "unchanged"
    assert conflict(team, list(snapshots())[1] | {"runId": value["runId"]}).code in (
        "run_is_executed_here",
        "run_differs",
    )


# ------------------------------------------------------------------------------------------------- broken off and raced


def test_an_import_that_breaks_off_leaves_no_staged_cases(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = 0
    write = CaseWriter.write_cases

    def failing(self: CaseWriter, cases: Any) -> None:
        nonlocal writes
        writes += 1
        if writes == 2:
            raise RuntimeError("disk full")
        write(self, cases)

    monkeypatch.setattr(generations, "MAX_ROWS", 2)
    monkeypatch.setattr(CaseWriter, "write_cases", failing)

    with pytest.raises(RuntimeError):
        store(team, report("PPPP"))

    assert writes == 2
    assert (Run.objects.count(), Generation.objects.count(), Case.objects.count(), Turn.objects.count()) == (0, 0, 0, 0)


def test_what_a_killed_import_staged_is_removed_by_the_next_one(team: Team) -> None:
    old = Generation.objects.create(team=team, renewed_at=timezone.now() - timedelta(hours=1))
    young = Generation.objects.create(team=team, renewed_at=timezone.now())

    store(team, report("P"))

    left = set(Generation.objects.values_list("pk", flat=True))
    assert old.pk not in left
    assert young.pk in left


def test_the_loser_of_a_race_finds_the_winners_run(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    value = report("PF")
    staged = generations.staged_generation
    raced: list[Ingested] = []

    def racing(*args: Any) -> Any:
        if not raced:
            monkeypatch.setattr(ingest, "staged_generation", staged)
            raced.append(store(team, value))
        return staged(*args)

    monkeypatch.setattr(ingest, "staged_generation", racing)

    done = store(team, value)

    assert raced[0].outcome == "created"
    assert (done.outcome, done.run_pk) == ("unchanged", raced[0].run_pk)
    assert (Run.objects.count(), Generation.objects.count(), Case.objects.count()) == (1, 1, 2)


def test_an_update_that_lost_a_race_compares_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _, last = snapshots()
    store(team, first)
    replace = ingest._replace
    raced: list[str] = []

    def racing(*args: Any) -> Any:
        if not raced:
            raced.append("begun")
            raced.append(store(team, last).outcome)
        return replace(*args)

    monkeypatch.setattr(ingest, "_replace", racing)

    error = conflict(team, second)

    assert raced == ["begun", "updated"]
    assert error.code == "run_is_later"
    assert Run.objects.get().status == "completed"
    assert Generation.objects.count() == 2


# ------------------------------------------------------------------------------------------------------------- moments


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-02T09:05:00.000Z", "2026-03-02T09:05:00+00:00"),
        ("2026-03-02T09:05:00-05:00", "2026-03-02T14:05:00+00:00"),
        ("2026-03-02T09:05:00", None),
        ("9999-12-31T23:59:59-01:00", None),
        ("0001-01-01T00:00:00+02:00", None),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
        ("yesterday", None),
    ],
)
def test_times_are_kept_as_text_and_read_where_they_are_a_moment(team: Team, text: str, moment: str | None) -> None:
    store(team, report("P", startedAt=text, finishedAt=text))

    run = Run.objects.get()
    assert (run.started_text, run.finished_text) == (text, text)
    assert (run.started_at.isoformat() if run.started_at else None) == moment
    assert run.ordered_at == (run.started_at or run.ordered_at)


@pytest.mark.parametrize(
    ("value", "passes"),
    [
        (report("PP"), True),
        (report("PP", assertions=[{"id": "a", "passed": True}]), True),
        (report("PP", assertions=[{"id": "a", "passed": False}]), False),
        (report("PF"), False),
        (report("PS"), False),
        (report("PP", status="cancelled"), False),
        (report("", cases=[]), False),
    ],
)
def test_a_run_passes_only_when_all_of_it_passed(team: Team, value: dict[str, Any], passes: bool) -> None:
    store(team, value)

    assert Run.objects.get().is_passing is passes


def test_scenarios_are_stored_with_their_definition(team: Team) -> None:
    store(team, report("P"))

    scenario = Scenario.objects.get()
    assert (scenario.scenario_id, scenario.position, scenario.write_policy) == ("greet", 0, "read_only")
    assert len(scenario.definition_digest) == 64
    assert scenario.definition
