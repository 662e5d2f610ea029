"""Named, chainable filters. Every read that a person or token causes begins with ``for_team``.

The classes are generic in their model: naming the models here would be a circle of imports.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

if TYPE_CHECKING:
    from reports.models import Team

UNFINISHED = ("queued", "running")
# Runs whose change waits or is being counted at this moment: what it will stand on, nobody can see yet. Whatever marks
# changes by what is stored of them marks these as well.
WAITING = models.Q(change_due_at__isnull=False)
Row = TypeVar("Row", bound=models.Model, covariant=True)


class TeamQuerySet(models.QuerySet[Row]):
    """Rows that belong to a team."""

    def for_team(self, team: Team) -> Self:
        return self.filter(team=team)


class RunQuerySet(TeamQuerySet[Row]):
    def newest_first(self) -> Self:
        return self.order_by("-ordered_at", "-id")  # the id breaks ties: pages stay stable

    def at_rest(self) -> Self:
        """Runs with cases that change no more: they have ended, or nobody goes on with them."""
        return self.filter(generation__isnull=False).exclude(status__in=UNFINISHED)

    def change_due(self, now: datetime) -> Self:
        """Runs whose change waits to be counted and is counted by nobody at a moment, the newest first."""
        return self.filter(change_due_at__lte=now).newest_first()

    def with_names(self) -> Self:
        """Read target, version and suite along, and leave the heavy columns."""
        return self.select_related("version__target", "revision__suite").defer("head", "revision__definition")


class GenerationQuerySet(TeamQuerySet[Row]):
    def abandoned(self, *, since: datetime) -> Self:
        """Staged generations that nobody has written to since a moment."""
        return self.filter(current_run__isnull=True, renewed_at__lt=since)
