from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0014_note_scope"),
    ]

    operations = [
        migrations.AddField(
            model_name="runchange",
            name="rules",
            field=models.CharField(default="", max_length=16),
        ),
    ]
