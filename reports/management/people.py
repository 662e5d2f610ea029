"""The team and the user that a command acts for: named, or the only one there is."""

from typing import TypeVar

from django.core.management.base import CommandError
from django.db.models import Model, QuerySet

from reports.models import Team, User

Row = TypeVar("Row", bound=Model)


def chosen_team(name: str, *, member: str = "") -> Team:
    """Return the team of a name; for "" the only one of ``member`` (a user name), or the only one there is.

    CommandError otherwise.
    """
    teams = Team.objects.order_by("pk")
    own = list(teams.filter(memberships__user__username=member)) if member and not name else []
    if len(own) > 1:
        names = ", ".join(team.name for team in own)
        raise CommandError(f"{member} is a member of several teams ({names}); name one with --team.")
    return own[0] if own else _one(teams, "name", name, "team")


def chosen_user(name: str, *, team: Team) -> User:
    """Return the user of a name, or for "" the team's only member; CommandError otherwise."""
    people = User.objects.filter(is_active=True).order_by("pk")
    return _one(people if name else people.filter(memberships__team=team), "username", name, "user")


def _one(rows: "QuerySet[Row]", column: str, name: str, what: str) -> Row:
    if name:
        row = rows.filter(**{column: name}).first()
        if row is None:
            raise CommandError(f"There is no {what} called {name}.")
        return row
    found = list(rows[:2])
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandError(f"There is no {what} yet. Start the site once with: python3 manage.py quickstart")
    raise CommandError(f"There are several {what}s; name one with --{what}.")
