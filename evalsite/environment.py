"""What the environment says about where data are kept, checked before anything else uses it.

Faults are ``ImproperlyConfigured`` with a sentence that names the variable: `manage.py` prints it and nothing else.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"
SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA page_size=16384;PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
    "PRAGMA journal_size_limit=67108864;",
}


def data_folder(folder: Path, *parts: str) -> Path:
    """Return the data folder, with the folders ``parts`` in it, made where they are missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in parts:
            (folder / part).mkdir(exist_ok=True)
    except OSError as problem:
        raise _unusable(folder, problem) from None
    return folder


def kept_secret(folder: Path) -> str:
    """Return the secret key of this data folder, made at the first start and readable by its owner only."""
    path = folder / "secret-key"
    try:
        with open(path, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as new:
            new.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    except OSError as problem:
        raise _unusable(folder, problem) from None
    try:
        return path.read_text().strip()
    except OSError as problem:
        raise _unusable(folder, problem) from None


def database(address: str, *, folder: Path) -> dict[str, Any]:
    """Return Django's settings of the database at ``address``; the SQLite file of the data folder if that is empty.

    A sentence about a faulty address never repeats it: it holds a password.
    """
    found: dict[str, Any] = {"ENGINE": SQLITE, "NAME": str(folder / "evalsite.sqlite3")}
    if address:
        found = _read(address)
    if found["ENGINE"] == SQLITE:
        found["OPTIONS"] = SQLITE_OPTIONS
    return found | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}


def _read(address: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = dict(dj_database_url.parse(address))
    except ValueError:
        found = {}
    if found.get("ENGINE") not in (SQLITE, POSTGRESQL):
        raise ImproperlyConfigured(
            "DATABASE_URL is no address of a PostgreSQL or SQLite database. "
            "Write it like postgresql://user:password@host:5432/evalsite, or unset it to use SQLite in the data folder."
        )
    return found


def _unusable(folder: Path, problem: OSError) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"The data folder {folder} cannot be used: {problem.strerror or problem}. "
        "Let this user write there, or set EVALSITE_DATA_DIR to another folder."
    )
