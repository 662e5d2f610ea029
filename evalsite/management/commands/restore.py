"""``manage.py restore FILE``: put a backup into an empty database and into the data folder."""

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from evalsite.backups import BackupFailed, restore_backup


class Command(BaseCommand):
    help = "Put a backup into an empty database and into the data folder. The site must not run meanwhile."
    requires_system_checks = ()  # they would look into tables that are not there yet

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="what `manage.py backup` has written")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            restore_backup(path, connection=connection, data_folder=settings.DATA_DIR)
        except BackupFailed as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write("Restored. Now run migrate, createcachetable and collectstatic, then `recount --check`.")
