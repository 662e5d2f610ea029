import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0012_case_outcomes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Shard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("working", "Working"),
                            ("ended", "Ended"),
                            ("broken", "Broken"),
                            ("lost", "Lost"),
                        ],
                        default="queued",
                        max_length=7,
                    ),
                ),
                ("places", models.BinaryField()),
                ("case_count", models.PositiveIntegerField()),
                ("failures", models.PositiveIntegerField(default=0)),
                ("claim_token", models.CharField(blank=True, default="", max_length=32)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("error_code", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "execution",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shards",
                        to="reports.execution",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "queued")), fields=["created_at"], name="shard_waiting"),
                    models.Index(
                        condition=models.Q(("lease_expires_at__isnull", False)),
                        fields=["lease_expires_at"],
                        name="shard_lease",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("execution", "number"), name="shard_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ("queued", "working", "ended", "broken", "lost"))),
                        name="shard_state_known",
                    ),
                ],
            },
        ),
    ]
