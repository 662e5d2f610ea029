"""``manage.py backup FILE``: everything that is kept, in one file; the site may run meanwhile."""

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from evalsite.backups import BackupFailed, make_backup


class Command(BaseCommand):
    help = "Write database, secret key and uploads into one tar file. The site may run meanwhile."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a new file; its folder must exist")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            make_backup(path, connection=connection, data_folder=settings.DATA_DIR)
        except BackupFailed as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"Written: {path} ({path.stat().st_size:,} bytes). Keep it like a password.")
