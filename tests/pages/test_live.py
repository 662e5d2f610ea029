"""The moving part of a run's page."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reports.models import Case, Execution, Run, Shard, Team
from reports.services.executing import execute_run
from reports.services.executing_shards import execute_shard
from reports.services.leases import claim_run, claim_shard
from reports.services.shards import expire_shards
from tests import factories
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}


def poll_address(page: bytes) -> str:
    found = re.search(r'hx-get="([^"]*/live/[^"]*)"', page.decode())
    assert found is not None
    return found.group(1).replace("&amp;", "&")


def show(client: Client, run: Run) -> str:
    return client.get(f"/runs/{run.pk}/").content.decode()


def poll(client: Client, address: str, **headers: str) -> Any:
    return client.get(address, headers=HTMX | headers)


def test_a_waiting_run_says_so_and_asks_for_news(client_of_runner: Client, ask: Ask) -> None:
    page = show(client_of_runner, ask(scenario("one", {}, {}), "two"))

    assert "Waiting for a worker: 2 cases, 3 turns." in page
    assert poll_address(page.encode()) and "Cancel run" in page


def test_a_run_that_goes_on_is_no_baseline_and_says_when_its_failures_were_counted(
    client_of_runner: Client, ask: Ask
) -> None:
    page = show(client_of_runner, ask("one"))

    assert "Make baseline" not in page and "Use as baseline" not in page
    assert "Nothing had failed when this page was opened." in page


def test_nothing_new_is_answered_with_nothing(client_of_runner: Client, ask: Ask) -> None:
    address = poll_address(client_of_runner.get(f"/runs/{ask('one').pk}/").content)
    seen = re.search(r"seen=([^&]*)", address)
    assert seen is not None

    by_address = poll(client_of_runner, address)
    by_header = poll(client_of_runner, address, **{"If-None-Match": f'"{seen.group(1)}"'})

    assert (by_address.status_code, by_header.status_code) == (204, 304)


def test_a_claimed_run_that_has_no_cases_yet_is_news(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one")
    address = poll_address(client_of_runner.get(f"/runs/{run.pk}/").content)
    claim_run(run_pk=run.pk)

    answer = poll(client_of_runner, address)

    assert answer.status_code == 200 and "Beginning." in answer.content.decode()
    assert answer["ETag"] == '"0-running---"'


def test_the_end_of_a_run_loads_the_page_anew(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one")
    address = poll_address(client_of_runner.get(f"/runs/{run.pk}/").content)
    execute_run(run_pk=run.pk)

    assert poll(client_of_runner, address)["HX-Refresh"] == "true"
    page = show(client_of_runner, run)
    assert "hx-get" not in page.split("timings")[0] and "live-progress" not in page
    assert "Timeline of the run" in page and "Registered target" in page


def test_the_address_itself_leads_to_the_page(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one")

    answer = client_of_runner.get(f"/runs/{run.pk}/live/")

    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")


def test_a_viewer_watches_but_cannot_cancel(client_of_viewer: Client, ask: Ask) -> None:
    run = ask("one")

    assert "Cancel run" not in show(client_of_viewer, run)
    assert client_of_viewer.post(f"/runs/{run.pk}/cancel/").status_code == 403


def test_another_team_learns_nothing(ask: Ask) -> None:
    run = ask("one")
    client = Client()
    client.force_login(factories.make_member(factories.make_team(), "admin"))

    assert poll(client, f"/runs/{run.pk}/live/").status_code == 404


def test_cancelling_is_shown_until_it_has_happened(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one")
    claim_run(run_pk=run.pk)
    client_of_runner.post(f"/runs/{run.pk}/cancel/")

    page = show(client_of_runner, run)

    assert "Cancelling, as asked by runner-" in page and "Cancel run" not in page


def test_cancelling_a_split_run_says_whether_anything_was_under_way(client_of_runner: Client, ask: Ask) -> None:
    def cancel(run: Run) -> str:
        page = client_of_runner.post(f"/runs/{run.pk}/cancel/", follow=True)
        return " ".join(map(str, page.context["messages"]))

    waiting, held, broken = (ask("one", "two", shards=2, key=key) for key in "abc")
    for run in (waiting, held, broken):
        execute_run(run_pk=run.pk)
    of_held, of_broken = (Shard.objects.filter(execution=run.pk).order_by("number").first() for run in (held, broken))
    assert of_held is not None and claim_shard(shard_pk=of_held.pk) is not None
    Shard.objects.filter(pk=of_broken.pk if of_broken else 0).update(state="lost")

    offers = ["Nothing of it is under way: it ends at once" in show(client_of_runner, run) for run in (waiting, held)]

    assert offers == [True, False]
    assert cancel(waiting) == "The run is cancelled; nothing of it was under way."
    assert cancel(held).startswith("The run is being cancelled")
    assert cancel(broken) == "The run has ended, interrupted: a part of it had broken off before."
    statuses = [Run.objects.get(pk=run.pk).status for run in (waiting, held, broken)]
    assert statuses == ["cancelled", "running", "interrupted"]


@pytest.mark.parametrize(
    ("status", "members", "words"),
    [
        ("cancelled", {"stop_reason": "stopped early: 5 of 5 ended in DOWN"}, "Stopped early: 5 of 5 ended in DOWN."),
        ("interrupted", {}, "Its worker vanished. Every stored turn is kept; nothing is repeated by itself."),
        ("interrupted", {"error_code": "EVALUATION_OBSERVER_FAILED"}, "It broke off: EVALUATION_OBSERVER_FAILED."),
        (
            "rejected",
            {"error_code": "EVALUATOR_NOT_FOUND", "error_paths": ["own.check"]},
            "EVALUATOR_NOT_FOUND at own.check.",
        ),
        (
            "rejected",
            {"error_code": "TARGET_UNUSABLE", "stop_reason": "the environment variable KEY is not set"},
            "It could not begin. The environment variable KEY is not set. TARGET_UNUSABLE.",
        ),
    ],
)
def test_what_became_of_a_run_is_said_in_words(
    client_of_runner: Client, ask: Ask, status: str, members: dict[str, Any], words: str
) -> None:
    run = ask("one")
    Run.objects.filter(pk=run.pk).update(status=status)
    Execution.objects.filter(pk=run.pk).update(**members)

    assert words in show(client_of_runner, run)


def test_a_worker_that_is_silent_is_noticed(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one")
    claim_run(run_pk=run.pk)
    Execution.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=20))

    assert "Its worker has not been heard of for a while" in show(client_of_runner, run)


def test_the_list_of_events_costs_the_same_whatever_happened_before(
    client_of_runner: Client, ask: Ask, django_assert_max_num_queries: Any
) -> None:
    run = ask(*(f"case-{number}" for number in range(40)))
    execute_run(run_pk=run.pk)
    Run.objects.filter(pk=run.pk).update(status="running")

    with django_assert_max_num_queries(12):
        answer = poll(client_of_runner, f"/runs/{run.pk}/live/?seen=60-running---&done=3")

    page = answer.content.decode()
    assert page.count("<time") == 60 and "37 cases have ended since this page was loaded" in page


# ------------------------------------------------------------------------------------------------------------ estimate


def earlier_run(team: Team, *scenario_ids: str, duration_ms: int = 60_000, **members: Any) -> Run:
    """Store an ended run of the target that ``ask`` asks for, whose cases took so long."""
    cases = [factories.case(scenario_id=each, turns=[factories.turn(durationMs=duration_ms)]) for each in scenario_ids]
    target = {"id": "tests.echo", "fingerprint": "one"}
    return factories.stored(team, factories.report(cases=cases, target=target, **members))


def half_done(ask: Ask) -> Run:
    """Return a run of three cases that goes on: it began a minute ago, and one of its cases has ended."""
    run = ask("one", "two", "three")
    execute_run(run_pk=run.pk)
    run.refresh_from_db()
    Case.objects.filter(generation__current_run=run, position__gt=0).update(status="pending")
    begun_at = timezone.now() - timedelta(seconds=60)
    Run.objects.filter(pk=run.pk).update(status="running", passed=1, pending=2, started_at=begun_at)
    return Run.objects.get(pk=run.pk)


def test_a_waiting_run_is_estimated_by_earlier_ones(client_of_runner: Client, team: Team, ask: Ask) -> None:
    for duration_ms in (10_000, 60_000, 70_000):
        earlier_run(team, "one", "two", duration_ms=duration_ms)
    earlier_run(factories.make_team(), "one", "two", duration_ms=1)

    assert "About 2 min once it begins, as these scenario variants took in 3 earlier runs." in show(
        client_of_runner, ask("one", "two")
    )
    assert "About 1 min once it begins" in show(client_of_runner, ask("one", "two", concurrency=2))


def test_without_earlier_runs_a_waiting_run_has_no_estimate(client_of_runner: Client, ask: Ask) -> None:
    assert "once it begins" not in show(client_of_runner, ask("one"))


def test_a_running_run_is_estimated_by_its_pace_and_earlier_runs(
    client_of_runner: Client, team: Team, ask: Ask
) -> None:
    earlier_run(team, "one", "two", "three", duration_ms=120_000)
    run = half_done(ask)

    page = show(client_of_runner, run)

    assert "1.0 cases a minute, about 3.9 min left, by the pace of this run and 1 earlier run" in page


def test_without_earlier_runs_a_running_run_is_estimated_by_its_pace(client_of_runner: Client, ask: Ask) -> None:
    assert "about 2 min left, at the pace of this run" in show(client_of_runner, half_done(ask))


def test_a_poll_does_not_look_at_earlier_runs_again(
    client_of_runner: Client, team: Team, ask: Ask, django_assert_num_queries: Any
) -> None:
    run = half_done(ask)
    address = f"/runs/{run.pk}/live/?seen=1-running---&done=1"
    poll(client_of_runner, address)
    with CaptureQueriesContext(connection) as few:
        poll(client_of_runner, address)
    for _ in range(8):
        earlier_run(team, "one", "two")

    with django_assert_num_queries(len(few)):
        poll(client_of_runner, address)


def test_a_waiting_retry_is_estimated_by_its_turns(client_of_runner: Client, ask: Ask) -> None:
    run = ask(scenario("one", {"answer": "no"}))
    execute_run(run_pk=run.pk)

    client_of_runner.post(f"/runs/{run.pk}/retry/")

    page = show(client_of_runner, Execution.objects.get(verb="retry").run)
    assert "once it begins, as turns took in 1 earlier run." in page


# --------------------------------------------------------------------------------------------------------------- shards


def test_a_split_run_says_how_many_of_its_shards_work_and_wait(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one", "two", "three", shards=3, concurrency=2)
    execute_run(run_pk=run.pk)
    first, second, _third = Shard.objects.filter(execution=run.pk).order_by("number").values_list("pk", flat=True)
    address = poll_address(client_of_runner.get(f"/runs/{run.pk}/").content)

    execute_shard(shard_pk=first)
    claim_shard(shard_pk=second)

    words = "1 of 3 cases done, 0 running, 2 waiting. 3 shards: 1 working, 1 waiting for a worker, 1 ended."
    page = show(client_of_runner, run)
    assert words in page
    assert words in poll(client_of_runner, address).content.decode()
    assert "2 in each of 3 shards" in page


def test_a_run_has_no_more_shards_than_cases_in_its_head_either(client_of_runner: Client, ask: Ask) -> None:
    two, one = ask("one", "two", shards=6), ask("one", shards=6)

    pages = [" ".join(client_of_runner.get(f"/runs/{run.pk}/").text.split()) for run in (two, one)]

    assert ["in each of 2 shards" in page for page in pages] == [True, False]
    assert "6 shards" not in "".join(pages)


def test_a_shard_that_is_taken_is_news_also_while_no_case_has_begun(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one", "two", shards=2)
    execute_run(run_pk=run.pk)
    address = poll_address(client_of_runner.get(f"/runs/{run.pk}/").content)
    assert poll(client_of_runner, address).status_code == 204

    claim_shard(shard_pk=Shard.objects.filter(execution=run.pk).earliest("number").pk)

    assert "2 shards: 1 working, 1 waiting for a worker." in poll(client_of_runner, address).content.decode()


def test_shards_that_nobody_takes_are_said_to_wait_and_lost_ones_to_be_lost(client_of_runner: Client, ask: Ask) -> None:
    run = ask("one", "two", shards=2)
    execute_run(run_pk=run.pk)
    long_ago = timezone.now() - timedelta(minutes=1)
    Execution.objects.filter(pk=run.pk).update(heartbeat_at=long_ago)
    assert "No worker has taken its shards yet" in show(client_of_runner, run)

    first, second = Shard.objects.filter(execution=run.pk).values_list("pk", flat=True)
    execute_shard(shard_pk=first)
    claim_shard(shard_pk=second)
    Shard.objects.filter(pk=second).update(lease_expires_at=long_ago)
    expire_shards()

    assert "The workers of 1 of 2 shards vanished." in show(client_of_runner, run)
