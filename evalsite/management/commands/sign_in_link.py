"""Print an address that signs a person in once."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.urls import reverse

from evalsite.embedded import running_address
from reports.models import User
from reports.services.sign_in import create_sign_in_link, first_admin


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", default="", help="whom it signs in (default: the first admin)")
        parser.add_argument("--site", default="", help="address of the site (default: the quickstart that runs now)")

    def handle(self, *args: Any, user: str, site: str, **options: Any) -> None:
        try:
            token = create_sign_in_link(user=self._person(user))
        except DatabaseError:
            raise CommandError("There is no site here yet. Start one with: python3 manage.py quickstart") from None
        address = site or running_address(settings.DATA_DIR) or "http://127.0.0.1:8000/"
        self.stdout.write(address.rstrip("/") + reverse("sign-in-by-link", args=[token]))

    def _person(self, name: str) -> User:
        if not name:
            return first_admin()
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise CommandError(f"There is no active user called {name!r}.")
        return person
