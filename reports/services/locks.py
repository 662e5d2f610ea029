"""Rows that writers lock, so that one at a time passes; in every transaction in the order in which they stand here.

The locks leave keys alone (``no_key``): whoever stores a row that refers to a locked one need not wait, and two who do
both cannot wait for each other. SQLite lets one writer at a time pass anyway.
"""

from collections.abc import Collection

from reports.models import Run, Target, Team
from reports.querysets import RunQuerySet


def locked_team(pk: int) -> Team:
    """Lock a team while its rules are changed, and return it as it is now."""
    return Team.objects.select_for_update(no_key=True).get(pk=pk)


def lock_targets(pks: Collection[int]) -> None:
    """Lock targets while their notes or baselines are changed."""
    list(Target.objects.filter(pk__in=pks).order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))


def locked_runs(runs: RunQuerySet[Run]) -> RunQuerySet[Run]:
    """Return runs so that a query over them locks them, each writer's in the same order."""
    return runs.order_by("pk").select_for_update(no_key=True, of=("self",))
