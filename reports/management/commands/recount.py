"""``manage.py recount``: compute every stored count again and put it right; ``--check`` only compares."""

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand

from reports.models import Run
from reports.services.recount import recount_run


class Command(BaseCommand):
    help = "Compute the stored counts of all runs again from their reports and put them right."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where something differs")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = wrong = 0
        for run in Run.objects.defer("revision").order_by("pk").iterator(100):
            runs += 1
            for found in recount_run(run, repair=not options["check"]):
                wrong += 1
                self.stdout.write(f"/runs/{run.pk}/ {found.place}: stored {found.stored!a}, counted {found.counted!a}")
        counted = f"{runs} run{'' if runs == 1 else 's'}"
        self.stdout.write(f"{counted}, {wrong} disagreement{'' if wrong == 1 else 's'}.")
        if wrong and options["check"]:
            sys.exit(1)
