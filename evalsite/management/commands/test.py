"""Run all tests with pytest; every argument is pytest's. Paths count from the project's folder."""

import os
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand


class Command(BaseCommand):
    help = __doc__

    def run_from_argv(self, argv: Sequence[str]) -> None:  # not parsed here: pytest knows its own options
        os.chdir(settings.BASE_DIR)
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *argv[2:]])

    def handle(self, *args: Any, **options: Any) -> None:
        self.run_from_argv(["manage.py", "test", *args])
