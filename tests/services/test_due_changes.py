"""Changes that no longer hold are marked with what made them doubtful, shown by nobody, and counted in batches."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from reports.dispatcher import EMBEDDED, Dispatcher
from reports.models import Note, Run, RunChange, Team, User
from reports.selectors.note_scope import source_of
from reports.selectors.run_verdicts import ground_of
from reports.selectors.stored_changes import change_of_run
from reports.selectors.verdict_rules import REPORTS, SITE, rules_digest
from reports.services import run_changes
from reports.services.baselines import set_baseline
from reports.services.note_checks import NoteContent
from reports.services.notes import close_notes, note_variant
from reports.services.recount import recount_run
from reports.services.run_changes import count_batch, count_due_changes, mark_changes, mark_outlived_changes
from reports.services.team_rules import set_policy
from tests import factories
from tests.factories import case, report, stored

pytestmark = pytest.mark.django_db(transaction=True)
CRITICAL = '[critical]\nscenarios = ["greet"]\n'


@pytest.fixture
def admin(team: Team) -> User:
    return factories.make_member(team, "admin")


def run_of(team: Team, letters: str = "P", *, day: int, **members: Any) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, target={"id": "desk", "fingerprint": f"v{day}"}, **times | members))


def due(team: Team) -> int:
    return Run.objects.for_team(team).filter(change_due_at__isnull=False).count()


@pytest.fixture
def many(team: Team, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Return nine versions on a site that counts two changes at once."""
    runs = [run_of(team, "F" if day % 2 else "P", day=day) for day in range(1, 10)]
    monkeypatch.setattr(run_changes, "RUNS_AT_ONCE", 2)
    monkeypatch.setattr(run_changes, "RUNS_A_BATCH", 2)
    return runs


def test_another_default_baseline_counts_the_newest_at_once_and_leaves_the_rest_to_a_worker(
    team: Team, admin: User, many: list[Run]
) -> None:
    set_baseline(team=team, user=admin, run_pk=many[1].pk, name="production", is_default=True)
    assert due(team) == 7

    Batches().drain()

    assert due(team) == 0
    measured = dict(RunChange.objects.values_list("run_id", "baseline_id"))
    assert {measured[run.pk] for run in many if run != many[1]} == {many[1].pk}
    assert measured[many[1].pk] == many[0].pk
    assert all(recount_run(run, repair=False) == () for run in Run.objects.all())


class Batches:
    """A worker with its dispatcher: every message that is sent counts a batch."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []

    def __call__(self, task: str, key: str) -> None:
        self.messages.append((task, key))
        count_batch()

    def drain(self) -> None:
        dispatcher = Dispatcher(self, EMBEDDED)
        for _ in range(20):
            sent = len(self.messages)
            dispatcher.tick()
            if len(self.messages) == sent:
                return
        raise AssertionError("there was always more to send")


def test_the_dispatcher_sends_one_message_a_batch_until_nothing_waits(many: list[Run]) -> None:
    mark_changes(Run.objects.all())

    batches = Batches()
    batches.drain()

    assert [task for task, _key in batches.messages] == ["reports.count_changes"] * 5
    assert batches.messages[0][1] == str(many[-1].pk)


@pytest.mark.parametrize("address", ["/", "/runs/", "/runs/{0}/", "/targets/{1}/"])
def test_no_page_shows_a_change_that_waits(client_of_viewer: Client, many: list[Run], address: str) -> None:
    place = address.format(many[-1].pk, many[-1].version.target_id)
    assert "1 broken" in client_of_viewer.get("/runs/").content.decode()
    mark_changes(Run.objects.all())

    page = client_of_viewer.get(place).content.decode()

    assert "eing judged" in page
    assert "scenario variant broke" not in page
    assert "1 broken" not in page


def test_the_api_says_that_a_change_waits(client_of_viewer: Client, many: list[Run]) -> None:
    mark_changes(Run.objects.all())

    shown = client_of_viewer.get(f"/api/v1/runs/{many[-1].pk}").json()["againstBaseline"]

    assert shown.pop("isDue") is True
    assert set(shown.values()) == {None}


def test_a_recount_tells_of_what_waits_and_counts_it(many: list[Run]) -> None:
    mark_changes(Run.objects.filter(pk=many[-1].pk))
    run = Run.objects.get(pk=many[-1].pk)

    assert [(found.place, found.stored) for found in recount_run(run, repair=True)] == [
        ("change", "waits to be counted")
    ]

    assert recount_run(Run.objects.get(pk=run.pk), repair=False) == ()


def test_a_mark_that_is_renewed_while_a_change_is_counted_stays(
    many: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Run.objects.filter(pk=many[-1].pk)
    mark_changes(chosen)

    def marked_meanwhile(run_pk: Any) -> Any:
        found = ground_of(run_pk)
        mark_changes(chosen)
        return found

    monkeypatch.setattr(run_changes, "ground_of", marked_meanwhile)
    count_due_changes(chosen)

    assert change_of_run(many[-1]).is_due  # type: ignore[union-attr]
    monkeypatch.undo()
    count_due_changes(chosen)
    assert not change_of_run(many[-1]).is_due  # type: ignore[union-attr]


def test_a_run_is_counted_by_one_worker_and_again_when_that_one_died(many: list[Run]) -> None:
    chosen = Run.objects.filter(pk=many[-1].pk)
    mark_changes(chosen)
    claims = run_changes._claimed(chosen, 10, 1_000, at_least=1)

    assert len(claims) == 1
    assert run_changes._claimed(chosen, 10, 1_000, at_least=1) == []

    chosen.update(change_due_at=timezone.now() - timedelta(seconds=1))  # the lease has run out
    count_batch()
    assert not change_of_run(many[-1]).is_due  # type: ignore[union-attr]


def test_one_change_that_cannot_be_counted_keeps_no_other_from_it(
    team: Team, many: list[Run], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mark_changes(Run.objects.filter(pk__in=[many[-1].pk, many[-2].pk]))

    def broken_for_the_newest(run_pk: Any) -> Any:
        if run_pk == many[-1].pk:
            raise RuntimeError("defect")
        return ground_of(run_pk)

    monkeypatch.setattr(run_changes, "ground_of", broken_for_the_newest)
    count_batch()

    assert due(team) == 1
    assert str(many[-1].pk) in caplog.text


def test_a_large_run_is_left_to_a_worker_except_by_its_own_import(
    team: Team, many: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_changes, "CASES_AT_ONCE", 0)

    later = run_of(team, "P", day=10)

    assert change_of_run(later) is not None
    assert not change_of_run(later).is_due  # type: ignore[union-attr]
    mark_changes(Run.objects.filter(pk=later.pk))
    count_due_changes(Run.objects.filter(pk=later.pk))
    assert due(team) == 1


# ---------------------------------------------------------------------------------------------- what marks a change


def verdict_of(run: Run) -> str:
    return RunChange.objects.get(run=run.pk).verdict


def test_a_policy_and_a_note_change_the_verdict_on_what_is_stored(team: Team, admin: User) -> None:
    run_of(team, "P", day=1)
    run = run_of(team, "F", day=2)
    assert verdict_of(run) == "inconclusive"

    set_policy(team=team, user=admin, text=CRITICAL)
    assert verdict_of(run) == "regressed"

    note = note_on(team, admin, run)
    assert verdict_of(run) == "inconclusive"

    close_notes(team=team, user=admin, pks=[note.pk])
    assert verdict_of(run) == "regressed"


def note_on(team: Team, user: User, run: Run, **members: Any) -> Note:
    key = team.scenario_variants.get().key
    content = NoteContent("known_issue", **members)
    target = run.version.target_id
    return note_variant(
        team=team, user=user, target_pk=target, variant=key, content=content, source=source_of(team=team, run=run.pk)
    )


def test_a_note_whose_last_day_is_over_covers_no_more(team: Team, admin: User, client_of_viewer: Client) -> None:
    set_policy(team=team, user=admin, text=CRITICAL)
    run_of(team, "P", day=1)
    run = run_of(team, "F", day=2)
    today = timezone.now().date()
    note = note_on(team, admin, run, expires_on=today)
    assert (verdict_of(run), RunChange.objects.get().holds_until) == ("inconclusive", today)

    yesterday = today - timedelta(days=1)
    Note.objects.filter(pk=note.pk).update(expires_on=yesterday)  # a day later
    RunChange.objects.update(holds_until=yesterday)

    assert "being judged" in client_of_viewer.get("/runs/").content.decode()
    mark_outlived_changes()
    count_batch()
    assert (verdict_of(run), RunChange.objects.get().holds_until) == ("regressed", None)


def test_an_attempt_that_comes_late_counts_in_the_runs_that_continue_it(team: Team) -> None:
    run_of(team, "PP", day=1)
    first = report(
        "FF",
        target={"id": "desk", "fingerprint": "v2"},
        startedAt="2026-03-02T09:00:00Z",
        finishedAt="2026-03-02T09:01:00Z",
    )
    retry = run_of(team, "PP", day=3, resumedFrom=first["runId"])
    assert RunChange.objects.get(run=retry.pk).counts == {"steady": 1}

    stored(team, first)

    assert RunChange.objects.get(run=retry.pk).counts != {"steady": 1}
    assert recount_run(Run.objects.get(pk=retry.pk), repair=False) == ()


def test_a_run_that_moves_a_version_moves_the_notes_that_it_bounds(team: Team, admin: User) -> None:
    set_policy(team=team, user=admin, text=CRITICAL)
    run_of(team, "P", day=1)
    failing = run_of(team, "F", day=5)
    bound = run_of(team, "F", day=7)
    note_on(team, admin, failing, first_version=bound.version_id)
    assert verdict_of(failing) == "regressed"

    earlier = report(
        cases=[case("failed")],
        target={"id": "desk", "fingerprint": "v7"},
        startedAt="2026-03-03T09:00:00Z",
        finishedAt="2026-03-03T09:01:00Z",
        suite=factories.suite("greet", suite_id="another"),
    )
    stored(team, earlier)

    assert verdict_of(failing) == "inconclusive"
    assert all(recount_run(run, repair=False) == () for run in Run.objects.all())


def test_what_another_release_judged_is_judged_anew(
    client_of_viewer: Client, many: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    RunChange.objects.filter(run=many[-1].pk).update(rules="of another", sentence="In other words.")

    shown = client_of_viewer.get("/runs/").content.decode()
    assert shown.count("being judged") == 1
    mark_outlived_changes()
    count_batch()

    assert "being judged" not in client_of_viewer.get("/runs/").content.decode()
    assert RunChange.objects.get(run=many[-1].pk).sentence != "In other words."


def test_the_rules_are_the_engine_and_what_feeds_it() -> None:
    assert len(rules_digest()) == 16
    assert [pattern for pattern in SITE if not list(REPORTS.glob(pattern))] == []
