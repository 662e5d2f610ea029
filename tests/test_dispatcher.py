"""The dispatcher: it sends what waits, again ever more seldom, and ends claims of the dead."""

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from reports.dispatcher import EMBEDDED, JOBS, Dispatcher, Outbox, Waiting
from reports.models import Execution
from reports.services.leases import LeaseLost, claim_run, expire_leases, renew_lease
from tests.execution.conftest import Ask
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file


class Sent:
    """Notes what is sent; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.messages: list[tuple[str, str]] = []
        self.failures = failures

    def __call__(self, task: str, key: str) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError
        self.messages.append((task, key))


def test_what_waits_is_sent_again_ever_more_seldom() -> None:
    outbox = Outbox(first_repeat_s=30)

    def sent_at(now_s: float) -> bool:
        due = outbox.due("job", ["a"], now_s)
        for key in due:
            outbox.note_sent("job", key, now_s)
        return bool(due)

    assert [now_s for now_s in range(300) if sent_at(now_s)] == [0, 30, 90, 210]


def test_what_waits_no_more_is_forgotten() -> None:
    outbox = Outbox(first_repeat_s=30)
    outbox.note_sent("job", "a", 0)

    outbox.due("job", [], 1)

    assert outbox.due("job", ["a"], 2) == ["a"]


def test_a_message_that_could_not_be_sent_is_due_at_the_next_look(db: None) -> None:
    sent = Sent(failures=1)
    dispatcher = Dispatcher(sent, EMBEDDED, [Waiting("job", lambda before: ["a"])])

    with pytest.raises(ConnectionError):
        dispatcher.tick()
    dispatcher.tick()

    assert sent.messages == [("job", "a")]


def test_a_queued_run_is_sent_and_a_claimed_one_is_not(ask: Ask) -> None:
    waiting, claimed = ask("one"), ask("two")
    claim_run(run_pk=claimed.pk)
    sent = Sent()

    Dispatcher(sent, EMBEDDED, JOBS).tick()

    assert sent.messages == [("reports.execute_run", str(waiting.pk))]


def test_a_run_is_claimed_once(ask: Ask) -> None:
    run = ask("one")

    first, second = claim_run(run_pk=run.pk), claim_run(run_pk=run.pk)

    assert first is not None and second is None


def expire(run_pk: uuid.UUID, at: datetime) -> None:
    Execution.objects.filter(pk=run_pk).update(lease_expires_at=at)


def test_a_lease_that_ran_out_ends_the_claim_and_interrupts_the_run(ask: Ask) -> None:
    run = ask("one")
    claim = claim_run(run_pk=run.pk)
    assert claim is not None
    expire(run.pk, timezone.now() - timedelta(seconds=1))

    assert (expire_leases(), expire_leases()) == (1, 0)

    run.refresh_from_db()
    assert run.status == "interrupted"
    with pytest.raises(LeaseLost):
        renew_lease(claim)
    assert claim_run(run_pk=run.pk) is None


def test_a_lease_that_holds_is_left_alone(ask: Ask) -> None:
    run = ask("one")
    claim_run(run_pk=run.pk)

    assert expire_leases() == 0
