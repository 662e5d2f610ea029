"""The page that switches to another team."""

from dataclasses import dataclass

from reports.models import Team, User
from reports.selectors.teams import list_own_teams


@dataclass(frozen=True, slots=True)
class TeamLine:
    pk: int
    name: str
    role: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class TeamPage:
    teams: tuple[TeamLine, ...]


def team_page(*, user: User, current: Team) -> TeamPage:
    return TeamPage(
        tuple(TeamLine(team.pk, team.name, team.role, team.pk == current.pk) for team in list_own_teams(user=user))
    )
