"""Telling workers: after the commit, and never at the cost of the request."""

import time

import pytest
from celery import current_app
from django.conf import LazySettings
from django.db import transaction
from kombu import Connection
from kombu.exceptions import OperationalError

from reports.services.messages import EXECUTE_RUN, send, tell_after_commit

AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture
def broker_away(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CELERY_BROKER_URL = AWAY
    monkeypatch.setattr(current_app, "connection_for_write", lambda **options: Connection(AWAY, **options))


def test_a_broker_that_is_away_is_found_out_soon(broker_away: None) -> None:
    begun_s = time.monotonic()

    with pytest.raises(OperationalError):
        send(EXECUTE_RUN, "key")

    assert time.monotonic() - begun_s < 5


@pytest.mark.django_db(transaction=True)
def test_a_request_does_not_fail_because_of_the_broker(broker_away: None, caplog: pytest.LogCaptureFixture) -> None:
    with transaction.atomic():
        tell_after_commit(EXECUTE_RUN, "key")
        assert not caplog.records

    assert "waits for the dispatcher: the broker is away" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_with_the_embedded_broker_nobody_but_the_worker_sends(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CELERY_BROKER_URL = "memory://localhost/"
    monkeypatch.setattr("reports.services.messages.send", lambda *message: pytest.fail("something was sent"))

    with transaction.atomic():
        tell_after_commit(EXECUTE_RUN, "key")
