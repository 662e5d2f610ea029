"""What is stored of a change follows whatever is ruled, also while the change is being counted."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Note, Run, RunChange, Team, User
from reports.selectors.note_scope import source_of
from reports.selectors.run_verdicts import Ground, JudgedChange, judged_change
from reports.services import notes, run_changes
from reports.services.baselines import set_baseline
from reports.services.definitions import accept_definitions
from reports.services.locks import lock_targets
from reports.services.note_checks import NoteContent, NoteRefused
from reports.services.notes import change_note, close_notes, note_variant
from reports.services.recount import recount_run
from reports.services.run_changes import count_batch, mark_outlived_changes
from reports.services.team_rules import set_policy
from tests import factories
from tests.factories import report, scenario, stored, suite
from tests.processes import fresh_postgres_database, migrate, run_program, site_environment

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


# ---------------------------------------------------------------------------------- writers that wait for each other

LOCKING = """
import os, threading, time
import django
django.setup()
import psycopg
from django.db import connection, transaction
from reports.models import Run, Target, Team
from reports.services.locks import lock_targets, locked_team
from reports.services.run_changes import mark_changes
from tests import factories

url = os.environ["DATABASE_URL"]
team = factories.make_team()
for number in range(6):
    factories.stored(team, factories.report(target={"id": "desk", "fingerprint": f"v{number}"}))
last = Run.objects.order_by("pk").values_list("pk", flat=True).reverse()[0]
Run.objects.exclude(pk=last).update(change_due_at=None)  # the others stand behind it in the table now

with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as other:
    holder.execute("SELECT 1 FROM reports_run WHERE id = %s FOR UPDATE", [last])
    writer = threading.Thread(target=lambda: (mark_changes(Run.objects.all()), connection.close()))
    writer.start()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while writer.is_alive() and not other.execute(waiting).fetchone()[0]:
        time.sleep(0.01)
    free = other.execute("SELECT id FROM reports_run FOR UPDATE SKIP LOCKED").fetchall()
    holder.rollback()
    writer.join()
    print(len(free), Run.objects.filter(change_due_at__isnull=False).count())
    with transaction.atomic():
        locked_team(team.pk)
        lock_targets([Target.objects.get().pk])
        for table in ("reports_team", "reports_target"):  # as a row that refers to one does when it is stored
            print(other.execute(f"SELECT 1 FROM {table} FOR KEY SHARE NOWAIT").fetchone()[0])
            print(len(other.execute(f"SELECT 1 FROM {table} FOR NO KEY UPDATE SKIP LOCKED").fetchall()))
"""


def test_writers_lock_runs_in_one_order_and_leave_keys_alone(tmp_path: Path, postgres_url: str) -> None:
    with fresh_postgres_database(postgres_url) as url:
        env = site_environment(url, tmp_path)
        migrate(env)

        said = run_program(LOCKING, env).split()

    assert said == ["0", "6", "1", "0", "1", "0"]


def test_a_note_is_read_once_its_target_is_locked(team: Team, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    run_of(team, "F", day=1)
    note = note_on(team, admin, Run.objects.get())

    def closed_before(pks: Any) -> None:
        lock_targets(pks)
        Note.objects.filter(pk=note.pk).update(closed_at=timezone.now())

    monkeypatch.setattr(notes, "lock_targets", closed_before)

    with pytest.raises(NoteRefused):
        change_note(team=team, user=admin, pk=note.pk, content=NoteContent("known_issue"))
    Note.objects.update(closed_at=None)
    assert close_notes(team=team, user=admin, pks=[note.pk]) == 0
