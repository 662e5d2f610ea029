"""Python programs in processes of their own, on a database of their own, set up for Django."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parents[1]
_MIGRATING = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0, skip_checks=True)
"""


def site_environment(database_url: str, folder: Path) -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": database_url,
        "EVALSITE_DATA_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "vendor" / "evalrunner")]),
    }


def run_program(program: str, env: Mapping[str, str], *arguments: str) -> str:
    """Run a program to its end and return what it printed; CalledProcessError when it fails."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True, timeout=120, cwd=ROOT).stdout


def migrate(env: Mapping[str, str]) -> None:
    run_program(_MIGRATING, env)


@contextmanager
def fresh_postgres_database(server_url: str) -> Iterator[str]:
    """Make an empty database on a server and drop it afterwards."""
    name = f"evalsite_{secrets.token_hex(6)}"
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"'.encode())
        try:
            yield urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
