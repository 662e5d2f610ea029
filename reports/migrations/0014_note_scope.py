"""What a note on a scenario variant covers beside the failures that it knows."""

from django.db import migrations, models
from django.db.migrations.state import StateApps
from django.utils import timezone


def keep_what_notes_meant(apps: StateApps, schema_editor: object) -> None:
    """Let notes written where nothing failed go on covering a loss; no failure that they did not know is covered.

    What was judged by them is judged anew.
    """
    notes = apps.get_model("reports", "Note").objects.filter(variant__isnull=False)
    notes.filter(known=[]).update(knows_undecided=True)
    teams = notes.filter(closed_at__isnull=True).values("team")
    runs = apps.get_model("reports", "Run").objects.filter(team__in=teams, generation__isnull=False)
    runs.exclude(status__in=("queued", "running")).update(change_due_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0013_shards"),
    ]

    operations = [
        migrations.AddField(
            model_name="note",
            name="every_failure",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="note",
            name="knows_undecided",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(keep_what_notes_meant, migrations.RunPython.noop),
    ]
