"""Reads for switching between teams: those that a person is a member of."""

from dataclasses import dataclass

from reports.models import Membership, User


@dataclass(frozen=True, slots=True)
class OwnTeam:
    pk: int
    name: str
    role: str


def list_own_teams(*, user: User) -> tuple[OwnTeam, ...]:
    """Return the teams of a person by name."""
    rows = Membership.objects.filter(user=user).order_by("team__name", "pk").values_list("team", "team__name", "role")
    return tuple(OwnTeam(*row) for row in rows)


def find_own_team(*, user: User, text: str) -> int | None:
    """Return the key of a team of the person's own from the text of a form; None for anything else."""
    return next((team.pk for team in list_own_teams(user=user) if str(team.pk) == text), None)
