"""Names of members that were ignored become rules: what would read as a path stands in quotation marks."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from evalrunner.compare.ignoring import rule_of_name


def quote_names(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Keep the meaning of every stored name: a member of this name, at any depth."""
    teams = apps.get_model("reports", "Team").objects
    for pk, names in teams.filter(ignored__isnull=False).values_list("pk", "ignored"):
        rules = sorted({rule_of_name(str(name)) for name in names or ()})
        if rules != names:
            teams.filter(pk=pk).update(ignored=rules)


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0010_run_verdict"),
    ]

    operations = [
        migrations.RunPython(quote_names, migrations.RunPython.noop),
    ]
