"""What is stored of a change follows whatever is ruled, also while the change is being counted."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Note, Run, RunChange, Team, User
from reports.selectors.note_scope import source_of
from reports.selectors.run_verdicts import Ground, JudgedChange, judged_change
from reports.services import run_changes
from reports.services.baselines import set_baseline
from reports.services.definitions import accept_definitions
from reports.services.note_checks import NoteContent
from reports.services.notes import close_notes, note_variant
from reports.services.recount import recount_run
from reports.services.run_changes import count_batch, mark_outlived_changes
from reports.services.team_rules import set_policy
from tests import factories
from tests.factories import report, scenario, stored, suite

pytestmark = pytest.mark.django_db(transaction=True)
CRITICAL = '[critical]\nscenarios = ["greet"]\n'


@pytest.fixture
def admin(team: Team) -> User:
    return factories.make_member(team, "admin")


def run_of(team: Team, letters: str, *, day: int, **members: Any) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, **times | {"target": {"id": "desk", "fingerprint": f"v{day}"}} | members))


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


# -------------------------------------------------------------------------------- while it is counted the first time

Rule = Callable[[Team, User, list[Run]], object]


def rule_policy(team: Team, admin: User, runs: list[Run]) -> None:
    set_policy(team=team, user=admin, text="min_pairs = 1")


def rule_note(team: Team, admin: User, runs: list[Run]) -> None:
    note_on(team, admin, runs[1])


def rule_no_note(team: Team, admin: User, runs: list[Run]) -> None:
    close_notes(team=team, user=admin, pks=Note.objects.values_list("pk", flat=True))


def rule_definition(team: Team, admin: User, runs: list[Run]) -> None:
    pair = (runs[0].revision_id, runs[1].revision_id)
    key = team.scenario_variants.get().scenario_key
    accept_definitions(team=team, user=admin, revisions=pair, scenario_keys=[key], reason="")


def rule_baseline(team: Team, admin: User, runs: list[Run]) -> None:
    set_baseline(team=team, user=admin, run_pk=runs[1].pk, name="production", is_default=True)


def rule_another_snapshot(team: Team, admin: User, runs: list[Run]) -> None:
    """Let the default baseline, which is of a later version, have other cases."""
    spare = run_of(team, "F", day=4, target={"id": "another", "fingerprint": "v1"})
    Run.objects.filter(pk=spare.pk).update(generation=None)
    Run.objects.filter(pk=runs[2].pk).update(generation=spare.generation_id)
    run_changes.mark_affected(run_pk=runs[2].pk)


@pytest.mark.parametrize(
    "rule", [rule_policy, rule_note, rule_no_note, rule_definition, rule_baseline, rule_another_snapshot]
)
def test_what_is_ruled_while_a_change_is_counted_for_the_first_time_counts(
    team: Team, admin: User, monkeypatch: pytest.MonkeyPatch, rule: Rule
) -> None:
    set_policy(team=team, user=admin, text=CRITICAL)
    asked = scenario("greet")
    asked["steps"][0]["input"] = {"text": "Another question"}
    defined = {"suite": suite(scenarios=[asked])} if rule is rule_definition else {}
    runs = [run_of(team, "P", day=1), run_of(team, "F", day=2, **defined), run_of(team, "P", day=3)]
    if rule is rule_no_note:
        note_on(team, admin, runs[1])
    if rule is rule_another_snapshot:
        set_baseline(team=team, user=admin, run_pk=runs[2].pk, name="production", is_default=True)
    RunChange.objects.filter(run=runs[1].pk).delete()
    run_changes.mark_changes(Run.objects.filter(pk=runs[1].pk))
    ruled: list[Rule] = []

    def judged_meanwhile(ground: Ground) -> JudgedChange:
        found = judged_change(ground)
        if not ruled:
            ruled.append(rule)
            rule(team, admin, runs)
        return found

    monkeypatch.setattr(run_changes, "judged_change", judged_meanwhile)
    count_batch()
    count_batch()

    assert ruled
    left = [found for run in Run.objects.all() for found in recount_run(run, repair=False)]
    assert [found for found in left if found.place == "change"] == []
