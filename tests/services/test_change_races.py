"""What is stored of a change follows whatever is ruled, also while the change is being counted."""

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Note, Run, RunChange, Team, User
from reports.selectors.note_scope import source_of
from reports.services.note_checks import NoteContent
from reports.services.notes import note_variant
from reports.services.recount import recount_run
from reports.services.run_changes import count_batch, mark_outlived_changes
from reports.services.team_rules import set_policy
from tests import factories
from tests.factories import report, stored

pytestmark = pytest.mark.django_db(transaction=True)
CRITICAL = '[critical]\nscenarios = ["greet"]\n'


@pytest.fixture
def admin(team: Team) -> User:
    return factories.make_member(team, "admin")


def run_of(team: Team, letters: str, *, day: int, **members: Any) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, target={"id": "desk", "fingerprint": f"v{day}"}, **times | members))


def note_on(team: Team, user: User, run: Run, expires_on: date | None = None) -> Note:
    key = team.scenario_variants.get().key
    return note_variant(
        team=team,
        user=user,
        target_pk=run.version.target_id,
        variant=key,
        content=NoteContent("known_issue", expires_on=expires_on),
        source=source_of(team=team, run=run.pk),
    )


# --------------------------------------------------------------------------------------------- the last day of notes


@pytest.mark.parametrize("before", [None, 2, 9])
@pytest.mark.parametrize("after", [None, 2, 9])
def test_a_verdict_holds_until_the_last_day_that_the_note_has_now(
    team: Team, admin: User, monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None
) -> None:
    now = timezone.now()
    days = {None: None} | {number: (now + timedelta(days=number)).date() for number in (2, 9)}
    set_policy(team=team, user=admin, text=CRITICAL)
    run_of(team, "P", day=1)
    run = run_of(team, "F", day=2)
    note_on(team, admin, run, days[before])

    note_on(team, admin, run, days[after])

    assert RunChange.objects.values_list("verdict", "holds_until").get() == ("inconclusive", days[after])
    for passed, is_over in ((5, after == 2), (12, after is not None)):
        later = now + timedelta(days=passed)
        monkeypatch.setattr(timezone, "now", partial(datetime.fromtimestamp, later.timestamp(), later.tzinfo))
        mark_outlived_changes()
        count_batch()
        assert RunChange.objects.get().verdict == ("regressed" if is_over else "inconclusive")
        assert recount_run(Run.objects.get(pk=run.pk), repair=False) == ()
        mark_outlived_changes()
        assert not Run.objects.filter(change_due_at__isnull=False).exists()
