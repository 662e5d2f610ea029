"""Whatever a client sends, the API answers as its description says, and never with a fault of its own."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from reports.models import Team
from tests.api.conftest import Speaker
from tests.factories import make_member, report, stored

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schemathesis.serializer("application/gzip", "application/zstd")
def packed(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else gzip.compress(json.dumps(value, default=str).encode())


schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
schema.config.phases.coverage.unexpected_methods = set()


@pytest.fixture
def open_connection(db: None) -> Iterator[None]:
    """Keep the connection of the test open: after each request the server would close it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


LENIENT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@pytest.fixture
def run_pk(team: Team) -> str:
    return str(stored(team, report("PF")).pk)


@pytest.fixture
def headers(speaker: Speaker) -> dict[str, str]:
    client = speaker("triage", "admin")
    return {"Authorization": client.defaults["HTTP_AUTHORIZATION"], "Accept-Encoding": "identity"}


@schema.parametrize()
@settings(max_examples=10, deadline=None, suppress_health_check=LENIENT)
def test_any_request_is_answered_as_described(
    case: Any, open_connection: None, run_pk: str, headers: dict[str, str]
) -> None:
    if case.path_parameters and "run" in case.path_parameters and case.method == "GET" and len(case.query or {}) < 2:
        case.path_parameters["run"] = run_pk

    case.call_and_validate(headers=headers, checks=CHECKS)


@pytest.mark.django_db
def test_the_description_names_every_form_and_both_ways_to_sign_in() -> None:
    described = Client().get("/api/v1/openapi.json").json()

    assert {"/api/v1/runs", "/api/v1/runs/import", "/api/v1/runs/{run}/report"} <= set(described["paths"])
    assert {each["type"] for each in described["components"]["securitySchemes"].values()} == {"http", "apiKey"}


@pytest.mark.parametrize("address", ["/api/docs", "/api/v1/docs"])
def test_the_documentation_is_a_page_of_ours_with_every_operation(team: Team, address: str) -> None:
    client = Client()
    client.force_login(make_member(team))

    response = client.get(address)

    text = response.content.decode()
    assert response.status_code == 200
    for path in client.get("/api/v1/openapi.json").json()["paths"]:
        assert path in text
    assert '<script src="http' not in text
    assert "cdn" not in text
