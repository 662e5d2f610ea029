"""Start everything on this machine: database, sample data, web server, worker, and a one-time sign-in address."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command
from django.db import DatabaseError
from django.urls import reverse

from evalsite import embedded
from evalsite.supervisor import replace_process
from reports.runnable import TargetsFileError, runnable_targets
from reports.services.sample_data import has_runs, load_sample_data
from reports.services.sign_in import create_sign_in_link, first_admin


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes any free one")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            lock = embedded.lock_data_folder(settings.DATA_DIR)
            listener = embedded.listen(host, port)
        except embedded.CannotStart as problem:
            raise CommandError(str(problem)) from None
        address = embedded.address_of(listener)[2]
        embedded.write_owner(lock, address)
        self._say_target_faults()
        try:
            self._prepare()
        except DatabaseError as problem:  # it does not answer, is read-only or full, or is no database at all
            raise CommandError(f"The database cannot be used: {str(problem).strip()}") from None
        except OSError as problem:
            raise CommandError(f"Cannot write to {settings.DATA_DIR}: {problem.strerror or problem}.") from None
        except KeyboardInterrupt:
            raise CommandError("Stopped before it was ready; the next start goes on.", returncode=130) from None
        plan = embedded.plan_of(listener, host=host, announcement=self._announcement(address))
        self._say("Starting web server and worker…")
        replace_process(plan, keep=[lock, listener.fileno()])

    def _prepare(self) -> None:
        self._say(f"Preparing the database in {settings.DATA_DIR}…")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        admin = first_admin()
        team = admin.memberships.get(role="admin").team
        if not has_runs(team=team):
            self._say("Loading sample data: the tutorial, run now in two versions, and five versions of an assistant…")
            load_sample_data(team=team, user=admin)

    def _say_target_faults(self) -> None:
        """Tell what is wrong with the targets file: all but starting runs works, and it can be mended meanwhile."""
        try:
            runnable_targets()
        except TargetsFileError as error:
            self._say("\n".join(map(str, error.faults)))
            self._say(
                "Until that file is mended no run can be started here; all else works. docs/targets.md describes it."
            )

    def _announcement(self, address: str) -> str:
        token = create_sign_in_link(user=first_admin())
        sign_in = address.rstrip("/") + reverse("sign-in-by-link", args=[token])
        return (
            f"\nEvalsite is running at {address} — stop it with Ctrl-C.\n"
            f"Sign in (works once, within 24 hours):\n\n    {sign_in}\n"
        )

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
