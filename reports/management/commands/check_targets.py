"""Try out the runnable targets of this site and say in words what works."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.runnable import TargetEntry, TargetsFileError, runnable_targets
from reports.services.target_check import check_target


class Command(BaseCommand):
    requires_system_checks = ()  # a fault in the file is what it is called to tell
    help = "Check each registered target: its suites, its version, its adapter, and one conversation opened and closed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", help="names of targets; all if left out")
        parser.add_argument("--no-session", action="store_true", help="open no conversation")

    def handle(self, *args: Any, names: list[str], no_session: bool, **options: Any) -> None:
        try:
            entries = runnable_targets()
        except TargetsFileError as error:
            raise CommandError("\n".join(map(str, error.faults))) from error
        unknown = set(names) - {entry.name for entry in entries}
        if unknown:
            raise CommandError(f"There is no target {', '.join(sorted(unknown))}.")
        chosen = [entry for entry in entries if not names or entry.name in names]
        unusable = [entry.name for entry in chosen if not self._check(entry, no_session)]
        if unusable:
            raise CommandError(f"Cannot be run: {', '.join(unusable)}.")

    def _check(self, entry: TargetEntry, no_session: bool) -> bool:
        self.stdout.write(f"{entry.name} ({entry.kind}, reported as {entry.target_id})")
        is_usable = True
        for finding in check_target(entry, opens_session=not no_session):
            self.stdout.write(f"  {'works' if finding.is_sound else 'FAILS'}: {finding.sentence}")
            is_usable = is_usable and finding.is_sound
        return is_usable
