"""``manage.py import_reports FILE…``: import reports from files, plain or in gzip or zstd."""

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.importers.given import Given
from reports.management.people import chosen_team, chosen_user
from reports.models import Run, Team, User
from reports.services.ingest import ReportRejected, ingest_report

_FAULTS_SHOWN = 20


class Command(BaseCommand):
    help = "Import report files. Each file is answered; one that is refused does not stop the others."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
        parser.add_argument("--team", default="", help="name of the team; not needed if there is only one")
        parser.add_argument("--user", default="", help="user name of whoever imports")
        parser.add_argument("--target", default="", help="what was evaluated; for results of the scenario harness")
        parser.add_argument("--fingerprint", default="", help="its exact version; for the same")
        parser.add_argument("--suite", default="", help="id of the suite that the results are of; for the same")
        parser.add_argument(
            "--scenarios", type=Path, metavar="FILE", help="the scenario file they are of; for the same"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = chosen_team(options["team"], member=options["user"])
        user = chosen_user(options["user"], team=team) if options["user"] else None
        given = _given(options)
        refused = sum(not self._import(path, team, user, given) for path in options["files"])
        if refused:
            self.stderr.write(f"{refused} of {len(options['files'])} files were refused.")
            sys.exit(1)

    def _import(self, path: Path, team: Team, user: User | None, given: Given) -> bool:
        """Import one file and say what became of it; False when it was refused."""
        shown = ascii(str(path))[1:-1]
        try:
            with path.open("rb") as source:
                done = ingest_report(
                    team=team,
                    source=source,
                    origin=Run.Origin.COMMAND,
                    created_by=user,
                    file_name=path.name,
                    given=given,
                )
        except OSError as error:
            self.stderr.write(f"{shown}: cannot be read: {error.strerror}.")
            return False
        except ReportRejected as rejection:
            self.stderr.write(f"{shown}: refused ({rejection.code}): {rejection.sentence}")
            for place, sentence in rejection.faults[:_FAULTS_SHOWN]:
                self.stderr.write(f"  {ascii(place)[1:-1] or '(the report)'} {sentence}")
            if len(rejection.faults) > _FAULTS_SHOWN:
                self.stderr.write(f"  and {len(rejection.faults) - _FAULTS_SHOWN} more")
            return False
        self.stdout.write(f"{shown}: {done.outcome}, /runs/{done.run_pk}/")
        return True


def _given(options: dict[str, Any]) -> Given:
    """Read what the flags say beside the files. Raises CommandError for a scenario file that cannot be read."""
    path = options["scenarios"]
    try:
        text = path.read_bytes().decode("utf-8") if path is not None else ""
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not UTF-8 text.") from error
    return Given(options["target"].strip(), options["fingerprint"].strip(), options["suite"].strip(), text)
