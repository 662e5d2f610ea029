"""``manage.py create_token --scope read|write|triage``: make an API token and print it once."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.management.people import chosen_team, chosen_user
from reports.models import ApiToken
from reports.services.tokens import TokenRefusedError, create_token


class Command(BaseCommand):
    help = "Make an API token and print it; it cannot be read again. read: look; write: import, start, cancel; triage."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--scope", choices=ApiToken.Scope.values, required=True)
        parser.add_argument("--user", default="", help="user name of the maker; not needed if there is only one")
        parser.add_argument(
            "--team", default="", help="name of the team; not needed if there, or the user in, is only one"
        )
        parser.add_argument("--name", default="", help="what the token is for")

    def handle(self, *args: Any, **options: Any) -> None:
        team = chosen_team(options["team"], member=options["user"])
        maker = chosen_user(options["user"], team=team)
        try:
            token = create_token(team=team, maker=maker, scope=options["scope"], name=options["name"])
        except TokenRefusedError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(token)
