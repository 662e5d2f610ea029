"""Load what a first quickstart loads: the tutorial in two versions, and five versions of an assistant."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from reports.models import Membership, Team
from reports.services.sample_data import load_sample_data
from reports.services.sign_in import first_admin


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", default="", help="name of the team that gets them (default: the first admin's)")

    def handle(self, *args: Any, team: str, **options: Any) -> None:
        admin = self._admin_of(team) if team else first_admin().memberships.filter(role="admin").order_by("pk")[0]
        count = load_sample_data(team=admin.team, user=admin.user)
        self.stdout.write(f"{count} sample runs are new in {admin.team}.")

    def _admin_of(self, name: str) -> Membership:
        team = Team.objects.filter(name=name).first()
        if team is None:
            raise CommandError(f"There is no team called {name!r}.")
        admin = team.memberships.filter(role=Membership.Role.ADMIN).order_by("pk").first()
        if admin is None:
            raise CommandError(f"The team {name!r} has no admin, in whose name the runs could be stored.")
        return admin
