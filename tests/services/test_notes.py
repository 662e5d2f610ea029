"""Notes: written once, applied to later runs, reopened by another failure, closed when nothing matches."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reports.models import AuditEntry, Note, Run, ScenarioVariant, Signature, Team, User
from reports.selectors.note_list import list_notes
from reports.selectors.note_scope import source_of
from reports.selectors.notes import attention_of_runs
from reports.services.note_checks import NoteContent, NoteRefused
from reports.services.notes import change_note, close_notes, note_cluster, note_signature, note_variant
from reports.text import storable
from tests import factories
from tests.factories import case, report
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
KNOWN = NoteContent("known_issue", text="Ticket 12")


@pytest.fixture
def triager(team: Team) -> User:
    return factories.make_member(team, "triager")


def run_of(team: Team, day: int = 1, **statuses: str) -> Run:
    """Store a run of version v<day>: one case for each scenario."""
    cases = [case(status, scenario_id=name) for name, status in statuses.items()]
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return store(team, report(cases=cases, target={"id": "desk", "fingerprint": f"v{day}"}, **times))


def needed(team: Team, *runs: Run) -> list[int]:
    found = attention_of_runs(team=team, runs=[run.pk for run in runs])
    return [found[run.pk].needed for run in runs]


def on(team: Team, user: User, run: Run, scenario: str, content: NoteContent = KNOWN) -> Note:
    variant = ScenarioVariant.objects.get(team=team, scenario_id=scenario)
    source = source_of(team=team, run=run.pk)
    return note_variant(
        team=team, user=user, target_pk=run.version.target_id, variant=variant.key, content=content, source=source
    )


def test_a_note_on_a_scenario_variant_covers_later_runs_until_it_fails_differently(team: Team, triager: User) -> None:
    first = run_of(team, 1, a="failed", b="failed")
    on(team, triager, first, "a")

    later, otherwise = run_of(team, 2, a="failed", b="passed"), run_of(team, 3, a="error", b="passed")

    assert needed(team, first, later, otherwise) == [1, 0, 1]


def test_a_note_on_a_signature_covers_every_scenario_that_fails_so(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed", b="failed", c="error")
    signature = Signature.objects.get(team=team, error_code="")
    note_signature(team=team, user=triager, target_pk=run.version.target_id, signature=signature.key, content=KNOWN)

    assert needed(team, run, run_of(team, 2, d="failed")) == [1, 0]


def test_what_was_said_to_be_fixed_and_still_fails_needs_attention(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed")
    on(team, triager, run, "a", NoteContent("fixed_verify"))

    assert needed(team, run) == [1]


def test_versions_bound_a_note(team: Team, triager: User) -> None:
    first, second, third = (run_of(team, day, a="failed") for day in (1, 2, 3))
    content = NoteContent("flaky", first_version=second.version_id, last_version=second.version_id)
    on(team, triager, second, "a", content)

    assert needed(team, first, second, third) == [1, 0, 1]


def test_a_cluster_is_noted_scenario_by_scenario_at_once(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed", b="failed", c="error")
    signature = Signature.objects.get(team=team, error_code="")

    source = source_of(team=team, run=run.pk)
    assert source is not None
    noted = note_cluster(team=team, user=triager, source=source, signature=signature.key, content=KNOWN)

    assert sorted(note.variant.scenario_id for note in noted.written if note.variant) == ["a", "b"]
    assert needed(team, run) == [1]


def test_a_note_that_knows_no_failure_covers_none(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="passed", b="skipped")
    on(team, triager, run, "a")
    on(team, triager, run, "b")
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    alone = run_of(team, 2, c="failed")
    note_variant(
        team=team,
        user=triager,
        target_pk=run.version.target_id,
        variant=ScenarioVariant.objects.get(team=team, scenario_id="c").key,
        content=KNOWN,
    )

    assert needed(team, run_of(team, 3, a="failed", b="failed"), alone) == [2, 1]
    notes = Note.objects.order_by("pk").values_list("known", "knows_undecided", "every_failure")
    assert list(notes) == [([], False, False), ([], True, False), ([], False, False)]
    assert variant.notes.get().known == []


def test_a_note_may_cover_every_failure(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="passed")
    on(team, triager, run, "a", NoteContent("flaky", every_failure=True))

    assert needed(team, run_of(team, 2, a="failed"), run_of(team, 3, a="error")) == [0, 0]
    with pytest.raises(NoteRefused, match="Only a note on a scenario variant"):
        signature = Signature.objects.get(team=team, error_code="")
        content = NoteContent("flaky", every_failure=True)
        note_signature(
            team=team, user=triager, target_pk=run.version.target_id, signature=signature.key, content=content
        )


def test_a_note_written_from_a_version_knows_the_failures_of_all_its_runs(team: Team, triager: User) -> None:
    first, again = run_of(team, 1, a="failed"), run_of(team, 1, a="passed")
    source = source_of(team=team, version=again.version_id)
    assert source is not None and first.version_id == again.version_id
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")

    note_variant(team=team, user=triager, target_pk=source.target, variant=variant.key, content=KNOWN, source=source)

    assert needed(team, run_of(team, 2, a="failed"), run_of(team, 3, a="error")) == [0, 1]


def test_a_note_written_from_a_retry_knows_how_the_retried_run_failed(team: Team, triager: User) -> None:
    first = run_of(team, 1, a="failed")
    retry = report(cases=[case("passed", scenario_id="a")], target={"id": "desk", "fingerprint": "v1"})
    again = store(team, retry | {"resumedFrom": first.run_id})

    assert on(team, triager, again, "a").known == [Signature.objects.get(team=team).pk]


def test_a_changed_note_learns_another_failure_only_when_told(team: Team, triager: User) -> None:
    note = on(team, triager, run_of(team, 1, a="failed"), "a")
    otherwise = run_of(team, 2, a="error")
    change_note(team=team, user=triager, pk=note.pk, content=NoteContent("flaky"))
    assert needed(team, otherwise) == [1]

    source = source_of(team=team, run=otherwise.pk)
    change_note(team=team, user=triager, pk=note.pk, content=NoteContent("flaky"), source=source)

    assert needed(team, otherwise) == [0]


def test_a_cluster_keeps_the_notes_that_are_there(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed", b="failed")
    kept = on(team, triager, run, "a", NoteContent("flaky", text="Mine", link="https://x.example", owner=str(triager)))
    source = source_of(team=team, run=run.pk)
    assert source is not None

    noted = note_cluster(
        team=team, user=triager, source=source, signature=Signature.objects.get(team=team).key, content=KNOWN
    )

    assert [note.variant.scenario_id for note in noted.written if note.variant] == ["b"]
    assert [(each.scenario_id, each.note) for each in noted.kept] == [("a", kept.pk)]
    kept.refresh_from_db()
    assert (kept.state, kept.text, kept.link, kept.owner) == ("flaky", "Mine", "https://x.example", triager)


def test_a_change_is_recorded_with_what_was_said_before(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed")
    note = on(team, triager, run, "a", NoteContent("flaky", text="Before \0", last_version=run.version_id))

    for _ in range(2):  # the second changes nothing, so it leaves no entry
        change_note(team=team, user=triager, pk=note.pk, content=NoteContent("flaky", owner=str(triager)))

    (details,) = AuditEntry.objects.filter(action="note.changed").values_list("details", flat=True)
    assert details == {
        "note": note.pk,
        "before": {"text": storable("Before \0"), "owner": "", "last_version": "v1"},
        "after": {"text": "", "owner": str(triager), "last_version": ""},
    }


def test_a_note_that_somebody_changed_meanwhile_is_not_overwritten(team: Team, triager: User) -> None:
    note = on(team, triager, run_of(team, 1, a="failed"), "a")
    opened_at = note.updated_at.isoformat()
    change_note(team=team, user=triager, pk=note.pk, content=NoteContent("flaky", text="Theirs"), opened_at=opened_at)

    with pytest.raises(NoteRefused, match="state flaky; text Theirs"):
        change_note(team=team, user=triager, pk=note.pk, content=KNOWN, opened_at=opened_at)

    assert Note.objects.get().text == "Theirs"


def test_bounds_in_reverse_order_and_a_last_day_that_is_over_are_refused(team: Team, triager: User) -> None:
    first, second = run_of(team, 1, a="failed"), run_of(team, 2, a="failed")
    bad = {
        "versions_reversed": NoteContent("flaky", first_version=second.version_id, last_version=first.version_id),
        "last_day_over": NoteContent("flaky", expires_on=date(2020, 1, 1)),
    }
    for code, content in bad.items():
        with pytest.raises(NoteRefused) as refused:
            on(team, triager, first, "a", content)
        assert refused.value.code == code

    note = on(
        team, triager, first, "a", NoteContent("flaky", first_version=first.version_id, last_version=first.version_id)
    )
    Note.objects.filter(pk=note.pk).update(expires_on=date(2020, 1, 1))
    kept = NoteContent("flaky", text="Its last day may stay", expires_on=date(2020, 1, 1))
    assert change_note(team=team, user=triager, pk=note.pk, content=kept).text == "Its last day may stay"


def test_writing_again_changes_the_open_note_and_closing_ends_it(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed")
    first = on(team, triager, run, "a")
    again = on(team, triager, run, "a", NoteContent("flaky"))
    assert (again.pk, Note.objects.get().state) == (first.pk, "flaky")

    closed = [close_notes(team=team, user=triager, pks=[first.pk]) for _ in range(2)]

    assert closed == [1, 0]
    assert needed(team, run) == [1]
    assert on(team, triager, run, "a").pk != first.pk
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "subject"))
    assert actions == [(f"note.{each}", "a") for each in ("written", "changed", "closed", "written")]


def test_a_note_that_matches_nothing_any_more_is_offered_for_closing(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed", b="failed")
    on(team, triager, run, "a")
    on(team, triager, run, "b")
    run_of(team, 2, a="passed")  # b was not run

    rows, _more = list_notes(team=team)

    assert {row.about: row.is_done for row in rows} == {"a": True, "b": False}


def test_an_expired_note_covers_nothing_and_is_offered_for_closing(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed")
    note = on(team, triager, run, "a")
    Note.objects.filter(pk=note.pk).update(expires_on="2020-01-01")

    assert needed(team, run) == [1]
    assert list_notes(team=team)[0][0].is_done


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"state": "odd"}, "state_unknown"),
        ({"state": "flaky", "owner": "nobody"}, "owner_unknown"),
        ({"state": "flaky", "link": "javascript:alert(1)"}, "link_invalid"),
        ({"state": "flaky", "link": "https://[bad"}, "link_invalid"),
        ({"state": "flaky", "first_version": 99999}, "version_unknown"),
    ],
)
def test_what_makes_no_sense_is_refused(team: Team, triager: User, members: Mapping[str, Any], code: str) -> None:
    run = run_of(team, 1, a="failed")

    with pytest.raises(NoteRefused) as refused:
        on(team, triager, run, "a", NoteContent(**members))

    assert refused.value.code == code
    assert not Note.objects.exists()


def test_notes_of_another_team_are_neither_applied_nor_changed(team: Team, triager: User) -> None:
    others = factories.make_team()
    theirs = run_of(others, 1, a="failed")
    note = on(others, factories.make_member(others, "triager"), theirs, "a")
    run = run_of(team, 1, a="failed")

    with pytest.raises(NoteRefused):
        change_note(team=team, user=triager, pk=note.pk, content=KNOWN)

    assert close_notes(team=team, user=triager, pks=[note.pk]) == 0
    assert needed(team, run) == [1]
    assert list_notes(team=team) == ((), False)


def test_fifty_runs_cost_the_queries_of_one(team: Team, triager: User) -> None:
    run = run_of(team, 1, a="failed", b="failed")
    on(team, triager, run, "a", NoteContent("flaky", first_version=run.version_id))
    runs = [run, *(run_of(team, day, a="failed", b="failed") for day in range(2, 22))]

    counts = []
    for chosen in (runs[:1], runs):
        with CaptureQueriesContext(connection) as queries:
            attention_of_runs(team=team, runs=[each.pk for each in chosen])
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 4
