"""Notes: written once, applied to later runs, reopened by another failure, closed when nothing matches."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reports.models import AuditEntry, Note, Run, ScenarioVariant, Signature, Team, User
from reports.selectors.note_list import list_notes
from reports.selectors.notes import attention_of_runs
from reports.services.notes import (
    NoteContent,
    NoteRefused,
    change_note,
    close_notes,
    note_cluster,
    note_signature,
    note_variant,
)
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
    return note_variant(
        team=team, user=user, target_pk=run.version.target_id, variant=variant.key, content=content, run=run
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

    notes = note_cluster(team=team, user=triager, run=run, signature=signature.key, content=KNOWN)

    assert sorted(note.variant.scenario_id for note in notes if note.variant) == ["a", "b"]
    assert needed(team, run) == [1]


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
