"""Resuming and retrying: what would happen is said beforehand, and is what happens."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from reports.domain.continuation import CONCLUDES, Verb, sentences_of
from reports.domain.snapshots import AWAITED_S
from reports.models import Case, Execution, Run, Team, User
from reports.services.checkpoints import CheckpointStore
from reports.services.continuing import CannotContinue, continue_run, look_ahead
from reports.services.executing import execute_run
from reports.services.executions import IdempotencyConflict, RequestRefused
from tests import factories
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)


def executed(run: Run) -> Run:
    execute_run(run_pk=run.pk)
    return Run.objects.select_related("execution").get(pk=run.pk)


def flaky(name: str, file: Path) -> dict[str, Any]:
    """Return a scenario that fails once: while its file does not exist."""
    return scenario(name, {"answer": "no", "unless": str(file)})


def external(scenario_id: str, *inputs: dict[str, Any]) -> dict[str, Any]:
    return scenario(scenario_id, *inputs) | {"writePolicy": "external"}


def continued(run: Run, verb: Verb, user: User, **members: Any) -> Run:
    made = continue_run(team=run.team, user=user, origin="web", run_pk=run.pk, verb=verb, **members)
    return executed(Run.objects.get(pk=made.run_pk))


def no_longer_awaited(run: Run) -> None:
    """Let the last snapshot of a run that goes on elsewhere have come long ago."""
    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - timedelta(seconds=AWAITED_S + 1))


def test_a_retry_holds_failed_conversations_anew_and_keeps_the_others(ask: Ask, runner: User, tmp_path: Path) -> None:
    mended = tmp_path / "mended"
    run = executed(ask("good", flaky("flaky", mended), scenario("down", {"code": "DOWN"})))
    ahead = look_ahead(team=run.team, run_pk=run.pk, verb=Verb.RETRY)
    mended.touch()

    retried = continued(run, Verb.RETRY, runner)

    assert sentences_of(ahead.outlook) == ["2 cases begin afresh, as new conversations.", "1 case stays as it is."]
    assert (retried.status, retried.passed, retried.error) == ("completed", 2, 1)
    assert retried.resumed_from == run.run_id
    assert (retried.execution.verb, retried.execution.continues_id) == ("retry", run.pk)
    assert retried.first_counts == dict.fromkeys(factories.LETTERS.values(), 0) | {
        "passed": 1,
        "failed": 1,
        "error": 1,
    }


def test_a_run_that_broke_off_behind_its_last_case_is_concluded_by_a_resume(
    ask: Ask, runner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    check = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": {"file": str(seen), "cases": 2}}
    persist = CheckpointStore.persist

    def failing(store: CheckpointStore, checkpoint: Any) -> None:
        if checkpoint.event.type == "run.completed":
            raise OSError
        persist(store, checkpoint)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointStore, "persist", failing)
        run = executed(ask("one", "two", target="counting", assertions=[check]))
    ahead = look_ahead(team=run.team, run_pk=run.pk, verb=Verb.RESUME)

    resumed = continued(run, Verb.RESUME, runner)

    assert (run.status, run.passed, run.suite_assertions) == ("interrupted", 2, 0)
    assert list(sentences_of(ahead.outlook)) == ["2 cases stay as they are.", CONCLUDES]
    assert (resumed.status, resumed.passed, resumed.is_passing, resumed.suite_assertions) == ("completed", 2, True, 1)
    with pytest.raises(CannotContinue, match="nothing to resume"):
        continue_run(team=run.team, user=runner, origin="web", run_pk=resumed.pk, verb=Verb.RESUME)


def test_resuming_goes_on_with_what_never_ended_only(ask: Ask, runner: User) -> None:
    run = executed(ask(*(scenario(f"case-{number}", {"answer": "no"}) for number in range(5)), max_failures=2))
    ahead = look_ahead(team=run.team, run_pk=run.pk, verb=Verb.RESUME)

    resumed = continued(run, Verb.RESUME, runner)

    assert (ahead.outlook.fresh, ahead.outlook.kept) == ((2, 3, 4), (0, 1))
    assert (resumed.failed, resumed.pending, resumed.status) == (4, 1, "limited")
    assert report_of(resumed)["cases"][0] == report_of(run)["cases"][0]


def test_a_run_where_everything_ended_has_nothing_to_resume(ask: Ask, runner: User) -> None:
    run = executed(ask("good"))

    for verb in Verb:
        with pytest.raises(CannotContinue, match="nothing to"):
            continued(run, verb, runner)


def test_a_run_under_way_or_without_a_report_cannot_be_continued(ask: Ask, team: Team) -> None:
    run = ask("good")

    with pytest.raises(CannotContinue, match="queued") as refused:
        look_ahead(team=team, run_pk=run.pk, verb=Verb.RESUME)

    Run.objects.filter(pk=run.pk).update(status="cancelled")
    assert refused.value.code == "RUN_IS_UNDER_WAY"
    with pytest.raises(CannotContinue, match="no report"):
        look_ahead(team=team, run_pk=run.pk, verb=Verb.RESUME)


def test_a_run_of_another_team_cannot_be_continued(ask: Ask, runner: User) -> None:
    run = executed(ask("good"))

    with pytest.raises(CannotContinue, match="no such run"):
        look_ahead(team=factories.make_team(), run_pk=run.pk, verb=Verb.RETRY)


def test_a_target_that_is_not_registered_or_at_another_version_is_refused_in_words(
    ask: Ask, team: Team, targets_file: Path
) -> None:
    run = executed(ask(scenario("bad", {"answer": "no"})))

    targets_file.write_text(targets_file.read_text() + '[target.fingerprint]\nfrom = "fixed"\nvalues = ["two"]\n')
    with pytest.raises(CannotContinue, match="no version 'one'"):
        look_ahead(team=team, run_pk=run.pk, verb=Verb.RETRY)
    targets_file.write_text(targets_file.read_text().replace("tests.echo", "tests.other", 1))
    with pytest.raises(CannotContinue, match=r"tests\.echo is not registered") as refused:
        look_ahead(team=team, run_pk=run.pk, verb=Verb.RETRY)

    assert refused.value.code == "TARGET_UNKNOWN"


def test_an_imported_run_of_a_target_that_can_run_here_is_retried(ask: Ask, runner: User, tmp_path: Path) -> None:
    mended = tmp_path / "mended"
    made = executed(ask("good", flaky("flaky", mended), scenario("left-out"), scenario_ids=("good", "flaky")))
    report = report_of(made) | {"runId": "from-a-laptop"}
    imported = factories.stored(made.team, report)
    mended.touch()

    retried = continued(imported, Verb.RETRY, runner)

    assert (retried.resumed_from, retried.passed, retried.total) == ("from-a-laptop", 2, 2)


def test_a_report_of_another_adapter_is_refused_before_anything_starts(ask: Ask, team: Team) -> None:
    made = executed(ask(scenario("bad", {"answer": "no"})))
    imported = factories.stored(team, report_of(made) | {"runId": "elsewhere", "fingerprint": "0" * 64})

    with pytest.raises(CannotContinue, match="another adapter") as refused:
        look_ahead(team=team, run_pk=imported.pk, verb=Verb.RETRY)

    assert refused.value.code == "EVALUATION_RESUME_INCOMPATIBLE"


def test_what_wrote_outside_stays_blocked_until_somebody_has_looked(ask: Ask, runner: User) -> None:
    wrote = external("wrote", {"answer": "no"})
    run = executed(ask(wrote, scenario("bad", {"answer": "no"}), may_write=True, allow_external_writes=True))
    ahead = look_ahead(team=run.team, run_pk=run.pk, verb=Verb.RETRY)

    retried = continued(run, Verb.RETRY, runner)

    assert ahead.outlook.to_reconcile == (0,)
    assert (retried.blocked, retried.failed) == (1, 1)
    assert report_of(retried)["cases"][0]["errorCode"] == "EXTERNAL_WRITE_RETRY_REQUIRES_RECONCILIATION"


def refused(run: Run, verb: Verb, user: User) -> tuple[str, str]:
    with pytest.raises(CannotContinue) as refusal:
        continued(run, verb, user)
    return refusal.value.code, refusal.value.sentence


def test_a_run_in_which_cases_would_only_be_blocked_is_not_begun(ask: Ask, runner: User) -> None:
    stopped = executed(ask(external("wrote", {}), may_write=True, allow_external_writes=True))
    Case.objects.filter(generation=stopped.generation).update(status="cancelled")
    Run.objects.filter(pk=stopped.pk).update(status="cancelled", cancelled=1, passed=0)
    unauthorised = executed(ask(external("writes")))

    reasons = [refused(stopped, verb, runner) for verb in Verb] + [refused(unauthorised, Verb.RETRY, runner)]

    writing = "it was writing outside when it was stopped, so its receipts must be looked at"
    assert reasons == [
        ("NOTHING_TO_CONTINUE", f"No case would be executed. 1 case is blocked: {writing}."),
        ("NOTHING_TO_CONTINUE", f"No case would be executed. 1 case is blocked: {writing}."),
        (
            "NOTHING_TO_CONTINUE",
            "No case would be executed. 1 case ends blocked: it writes outside, which is not authorised.",
        ),
    ]
    assert Execution.objects.filter(continues__isnull=False).count() == 0


def test_cases_that_were_never_authorised_are_authorised_anew_by_an_admin(ask: Ask, runner: User) -> None:
    run = executed(ask(external("writes"), "good"))
    members: dict[str, Any] = {"allow_external_writes": True}

    with pytest.raises(RequestRefused):
        continued(run, Verb.RETRY, runner, **members)
    without = look_ahead(team=run.team, run_pk=run.pk, verb=Verb.RETRY)
    allowed = continued(run, Verb.RETRY, runner, may_authorise_writes=True, **members)

    assert (without.outlook.unauthorised, without.outlook.work) == ((0,), 0)
    assert (allowed.passed, allowed.blocked) == (2, 0)
    assert allowed.first_counts is not None and allowed.first_counts["passed"] == 2


def test_one_key_continues_a_run_once(ask: Ask, runner: User) -> None:
    run = executed(ask(scenario("bad", {"answer": "no"})))
    first = continue_run(
        team=run.team, user=runner, origin="api", run_pk=run.pk, verb=Verb.RETRY, idempotency_key="build-7"
    )

    again = continue_run(
        team=run.team, user=runner, origin="api", run_pk=run.pk, verb=Verb.RETRY, idempotency_key="build-7"
    )

    assert (again.run_pk, again.is_new) == (first.run_pk, False)
    Run.objects.filter(pk=first.run_pk).update(status="cancelled")
    other = executed(ask(scenario("bad", {"answer": "no"})))
    with pytest.raises(IdempotencyConflict):
        continue_run(
            team=run.team, user=runner, origin="api", run_pk=other.pk, verb=Verb.RETRY, idempotency_key="build-7"
        )


def test_what_is_foretold_happens(ask: Ask, runner: User) -> None:
    """The page looks at light cases, the runner at the whole report: both must take the same cases."""
    inputs = [{}, {"answer": "no"}, {"code": "DOWN"}]
    run = executed(ask(*(scenario(f"case-{number}", inputs[number % 3]) for number in range(9)), max_failures=4))
    report = report_of(run)
    running = {"status": "running", "turns": report["cases"][0]["turns"]}
    report["cases"][0] |= running
    report["cases"][3] |= {"status": "cancelled", "turns": []}
    report |= {"runId": "snapshot", "status": "running", "summary": factories.summary(report["cases"])}
    imported = factories.stored(run.team, json.loads(json.dumps(report)))
    no_longer_awaited(imported)

    for verb in Verb:
        ahead = look_ahead(team=run.team, run_pk=imported.pk, verb=verb).outlook
        after = report_of(continued(imported, verb, runner, idempotency_key=verb))
        afresh = {place for place, case in enumerate(after["cases"]) if case["threadId"].startswith(after["runId"])}
        blocked = {place for place, case in enumerate(after["cases"]) if case["status"] == "blocked"}

        assert afresh == set(ahead.fresh)
        assert blocked == {place for places in ahead.blocked.values() for place in places} == {0}


def test_a_deleted_run_cannot_go_on(ask: Ask, runner: User) -> None:
    run = executed(ask(scenario("bad", {"answer": "no"})))
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RETRY)
    Execution.objects.filter(pk=made.run_pk).update(continues=None)

    retried = executed(Run.objects.get(pk=made.run_pk))

    assert (retried.status, retried.execution.error_code) == ("rejected", "EVALUATION_RESUME_INVALID")


def test_an_imported_run_that_is_still_published_elsewhere_waits_for_its_last_report(ask: Ask, team: Team) -> None:
    made = report_of(executed(ask("good", "never", max_failures=1)))
    cases = [made["cases"][0], made["cases"][1] | {"status": "pending", "turns": []}]
    going_on = made | {"runId": "elsewhere", "status": "running", "cases": cases, "assertions": []}
    going_on |= {"summary": factories.summary(cases)}
    going_on.pop("finishedAt")
    imported = factories.stored(team, going_on)

    with pytest.raises(CannotContinue, match="still published from elsewhere") as refused:
        look_ahead(team=team, run_pk=imported.pk, verb=Verb.RESUME)
    no_longer_awaited(imported)
    ahead = look_ahead(team=team, run_pk=imported.pk, verb=Verb.RESUME)

    assert refused.value.code == "RUN_IS_UNDER_WAY"
    assert (ahead.outlook.fresh, ahead.outlook.kept) == ((1,), (0,))
