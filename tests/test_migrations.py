"""Migrations that change data."""

import importlib

import pytest
from django.apps import apps

from reports.models import Note, Run, ScenarioVariant, Signature, Team
from tests.factories import outcomes, stored

pytestmark = pytest.mark.django_db


def test_ignored_names_that_would_read_as_paths_are_quoted(team: Team) -> None:
    Team.objects.filter(pk=team.pk).update(ignored=["a.b", "my name", "traceId", 'x"[0]'])
    untouched = Team.objects.create(name="The usual rules")

    importlib.import_module("reports.migrations.0011_ignore_rules").quote_names(apps, None)

    team.refresh_from_db()
    untouched.refresh_from_db()
    assert team.ignored == ['"a.b"', '"x\\"[0]"', "my name", "traceId"]
    assert untouched.ignored is None


def test_old_notes_that_knew_no_failure_go_on_covering_a_loss_alone(team: Team) -> None:
    run = stored(team, outcomes("v1", a="F", b="P"))
    signature = Signature.objects.get()
    about = {name: ScenarioVariant.objects.get(scenario_id=name) for name in ("a", "b")}
    for name, known in (("a", [signature.pk]), ("b", [])):
        Note.objects.create(team=team, target=run.version.target, state="flaky", variant=about[name], known=known)
    Note.objects.create(team=team, target=run.version.target, state="flaky", signature=signature)

    importlib.import_module("reports.migrations.0014_note_scope").keep_what_notes_meant(apps, None)

    notes = Note.objects.order_by("pk").values_list("knows_undecided", "every_failure")
    assert list(notes) == [(False, False), (True, False), (False, False)]
    assert Run.objects.get().change_due_at is not None
