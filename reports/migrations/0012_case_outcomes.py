"""The outcomes of a run's cases, kept for comparisons; workers gather those of the runs that are stored."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.migrations.state import StateApps
from django.utils import timezone


def gather_all(apps: StateApps, schema_editor: object) -> None:
    """Let the workers count all runs at rest, which gathers their outcomes, too."""
    runs = apps.get_model("reports", "Run").objects.filter(generation__isnull=False)
    runs.exclude(status__in=("queued", "running")).update(change_due_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0011_ignore_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="CaseOutcomes",
            fields=[
                (
                    "generation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="outcomes",
                        serialize=False,
                        to="reports.generation",
                    ),
                ),
                ("payload", models.BinaryField()),
            ],
        ),
        migrations.RunPython(gather_all, migrations.RunPython.noop),
    ]
