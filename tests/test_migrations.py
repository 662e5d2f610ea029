"""Migrations that change data."""

import importlib

import pytest
from django.apps import apps

from reports.models import Team

pytestmark = pytest.mark.django_db


def test_ignored_names_that_would_read_as_paths_are_quoted(team: Team) -> None:
    Team.objects.filter(pk=team.pk).update(ignored=["a.b", "my name", "traceId", 'x"[0]'])
    untouched = Team.objects.create(name="The usual rules")

    importlib.import_module("reports.migrations.0011_ignore_rules").quote_names(apps, None)

    team.refresh_from_db()
    untouched.refresh_from_db()
    assert team.ignored == ['"a.b"', '"x\\"[0]"', "my name", "traceId"]
    assert untouched.ignored is None
