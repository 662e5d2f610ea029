"""Everything that is kept, in one tar file, and back: the database, and of the data folder what cannot be made anew.

The file holds ``about.json`` (what it was made from), ``database`` (SQLite: a database file; PostgreSQL: a dump in
pg_dump's own format) and ``data/…``. A backup is taken while the site runs: each database copies itself as of one
moment. It is a secret like the database, so only its owner may read it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

KEPT = ("secret-key", "files", "uploads")
FORMAT = 1
_NEEDED = {"postgresql": ("pg_dump", "pg_restore")}


class BackupFailed(Exception):
    """No backup could be made, or it cannot be restored here; the message says why and what to do."""


def make_backup(path: Path, *, connection: BaseDatabaseWrapper, data_folder: Path) -> None:
    """Write a backup, whole or not at all; raises BackupFailed. A file that is there is not replaced."""
    if path.exists():
        raise BackupFailed(f"{path} exists already; choose another name.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="evalsite-backup-", dir=path.parent) as folder:
            dump = Path(folder) / "database"
            _engine(connection, _SAVE)(connection, dump)
            with open(draft, "xb", opener=_for_owner_only) as file, tarfile.open(fileobj=file, mode="w") as archive:
                _add_about(archive, connection)
                archive.add(dump, "database")
                for name in KEPT:
                    if (data_folder / name).exists():
                        archive.add(data_folder / name, f"data/{name}")
        draft.rename(path)
    except OSError as error:
        raise BackupFailed(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        draft.unlink(missing_ok=True)


def restore_backup(path: Path, *, connection: BaseDatabaseWrapper, data_folder: Path) -> None:
    """Put a backup into an empty database and into the data folder; raises BackupFailed and then has changed nothing
    that held anything."""
    if connection.introspection.table_names():
        raise BackupFailed("The database is not empty. Restore into a new one: set DATABASE_URL or EVALSITE_DATA_DIR.")
    connection.close()
    try:
        with tarfile.open(path) as archive, tempfile.TemporaryDirectory(prefix="evalsite-restore-") as folder:
            _check_about(archive, connection)
            _unpack(archive, Path(folder))
            _engine(connection, _LOAD)(connection, Path(folder) / "database")
            for name in KEPT:
                _put(Path(folder) / "data" / name, data_folder / name)
    except (tarfile.TarError, KeyError, ValueError) as error:
        raise BackupFailed(f"{path} is no backup of this site: {error}.") from None
    except OSError as error:
        raise BackupFailed(f"{path} cannot be restored: {error.strerror or error}.") from None


def _for_owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _add_about(archive: tarfile.TarFile, connection: BaseDatabaseWrapper) -> None:
    about = {"format": FORMAT, "database": connection.vendor, "madeAt": datetime.now(UTC).isoformat(timespec="seconds")}
    text = json.dumps(about).encode()
    member = tarfile.TarInfo("about.json")
    member.size, member.mode, member.mtime = len(text), 0o600, int(datetime.now(UTC).timestamp())
    archive.addfile(member, io.BytesIO(text))


def _check_about(archive: tarfile.TarFile, connection: BaseDatabaseWrapper) -> None:
    file = archive.extractfile("about.json")
    about = json.loads(file.read(10_000)) if file is not None else None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError("its about.json is of another kind")
    if about.get("database") != connection.vendor:
        raise BackupFailed(
            f"This backup is of {about.get('database')}, and the database of this site is {connection.vendor}."
        )


def _members(archive: tarfile.TarFile) -> Iterable[tarfile.TarInfo]:
    for member in archive:
        if member.name == "database" or member.name.startswith(tuple(f"data/{name}" for name in KEPT)):
            yield member


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Write the files of a backup below a folder, and nothing anywhere else; ValueError where one would go elsewhere.

    `extractall` does that by itself from Python 3.11.4 on; Debian 12 has 3.11.2.
    """
    for member in _members(archive):
        file = archive.extractfile(member) if member.isreg() else None
        if ".." in PurePosixPath(member.name).parts or not (file or member.isdir()):
            raise ValueError(f"{member.name} is no file or folder of its own")
        place = folder / member.name
        (place.parent if file else place).mkdir(parents=True, exist_ok=True)
        if file is not None:
            with file, open(place, "xb", opener=_for_owner_only) as copy:
                shutil.copyfileobj(file, copy)


def _put(source: Path, place: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, place, dirs_exist_ok=True)
    elif source.exists():
        shutil.copy(source, place)
        place.chmod(0o600)


# ----------------------------------------------------------------------------------------------------------- databases

Move = Callable[[BaseDatabaseWrapper, Path], None]


def _engine(connection: BaseDatabaseWrapper, moves: Mapping[str, Move]) -> Move:
    missing = [name for name in _NEEDED.get(connection.vendor, ()) if shutil.which(name) is None]
    if missing:
        raise BackupFailed(f"{' and '.join(missing)} cannot be found; install the client package of PostgreSQL.")
    return moves[connection.vendor]


def _copy_sqlite(source: Path | str, place: Path | str) -> None:
    try:
        with closing(sqlite3.connect(source)) as full, closing(sqlite3.connect(place)) as empty:
            full.backup(empty)
    except sqlite3.Error as error:
        raise BackupFailed(f"SQLite: {error}.") from None


def _save_sqlite(connection: BaseDatabaseWrapper, place: Path) -> None:
    _copy_sqlite(connection.settings_dict["NAME"], place)


def _load_sqlite(connection: BaseDatabaseWrapper, source: Path) -> None:
    _copy_sqlite(source, connection.settings_dict["NAME"])


def _save_postgres(connection: BaseDatabaseWrapper, place: Path) -> None:
    _run_postgres(connection, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={place}")


def _load_postgres(connection: BaseDatabaseWrapper, source: Path) -> None:
    options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
    _run_postgres(connection, "pg_restore", *options, str(source))


def _run_postgres(connection: BaseDatabaseWrapper, program: str, *options: str) -> None:
    """Run a program of PostgreSQL against the site's database; the password goes by the environment, never by ps."""
    [_, *where, name], extra = _address(connection)
    command = [program, "--no-password", *where, f"--dbname={name}", *options]
    done = subprocess.run(
        command, env=os.environ | extra, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise BackupFailed(f"{program}: {done.stderr.strip() or 'failed'}")


def _address(connection: BaseDatabaseWrapper) -> tuple[list[str], dict[str, str]]:
    """Return what psql would be called with, and what its environment would hold beside ours."""
    client: Any = connection.client
    command, extra = client.settings_to_cmd_args_env(connection.settings_dict, [])
    return command, extra or {}


_SAVE: Mapping[str, Move] = {"sqlite": _save_sqlite, "postgresql": _save_postgres}
_LOAD: Mapping[str, Move] = {"sqlite": _load_sqlite, "postgresql": _load_postgres}
