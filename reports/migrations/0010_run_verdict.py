"""The verdict on a run's change, and the mark of those that wait to be counted."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.migrations.state import StateApps
from django.utils import timezone


def count_all_anew(apps: StateApps, schema_editor: object) -> None:
    """Let the workers judge what is stored: the old rows have counts but no verdict."""
    runs = apps.get_model("reports", "Run").objects.filter(generation__isnull=False)
    runs.exclude(status__in=("queued", "running")).update(change_due_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0009_resumed_key"),
    ]

    operations = [
        migrations.DeleteModel(name="RunChange"),
        migrations.AddField(
            model_name="run",
            name="change_due_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name="RunChange",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="change",
                        serialize=False,
                        to="reports.run",
                    ),
                ),
                ("basis", models.CharField(max_length=64)),
                ("counts", models.JSONField(default=dict)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("pass", "Pass"),
                            ("regressed", "Regressed"),
                            ("inconclusive", "Inconclusive"),
                            ("not_comparable", "Not Comparable"),
                        ],
                        max_length=14,
                    ),
                ),
                ("sentence", models.TextField()),
                ("reason", models.TextField(blank=True, default="")),
                ("holds_until", models.DateField(null=True)),
                (
                    "baseline",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="reports.run"),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("change_due_at__isnull", False)), fields=["change_due_at"], name="run_change_due"
            ),
        ),
        migrations.AddIndex(
            model_name="runchange",
            index=models.Index(
                condition=models.Q(("holds_until__isnull", False)), fields=["holds_until"], name="run_change_holds"
            ),
        ),
        migrations.RunPython(count_all_anew, migrations.RunPython.noop),
    ]
