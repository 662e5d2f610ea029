"""A site that is backed up, lost and restored is the same site, on both databases."""

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT, fresh_postgres_database, migrate, run_program, site_environment

FILLING = """
import django
django.setup()
from django.conf import settings
from reports.services.sign_in import first_admin
from tests.factories import report, stored
team = first_admin().memberships.get().team
stored(team, report("PFE"))
(settings.DATA_DIR / "uploads" / "waits.json").write_text("{}")
"""
TELLING = """
import django, hashlib
django.setup()
from django.conf import settings
from reports.models import *
from reports.services.export import iter_report_json
run = Run.objects.get()
print(run.pk, User.objects.get().username, Turn.objects.count())
print(hashlib.sha256(b"".join(iter_report_json(run))).hexdigest())
print(settings.SECRET_KEY, sorted(path.name for path in (settings.DATA_DIR / "uploads").iterdir()))
"""


def manage(env: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


def sites(tmp_path: Path, *urls: str) -> tuple[dict[str, str], dict[str, str]]:
    """The environments of a filled site and of the empty one that takes its place."""
    first, second = [site_environment(url, tmp_path / f"data-{number}") for number, url in enumerate(urls)]
    migrate(first)
    run_program(FILLING, first)
    return first, second


@pytest.fixture
def sqlite_sites(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    return sites(tmp_path, *(f"sqlite:///{tmp_path}/{name}.sqlite3" for name in ("first", "second")))


@pytest.fixture
def postgres_sites(postgres_url: str, tmp_path: Path) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    with fresh_postgres_database(postgres_url) as first, fresh_postgres_database(postgres_url) as second:
        yield sites(tmp_path, first, second)


def check_that_it_comes_back(first: dict[str, str], second: dict[str, str], backup: Path) -> None:
    made = manage(first, "backup", str(backup))
    restored = manage(second, "restore", str(backup))
    counted = manage(second, "recount", "--check")

    assert (made.returncode, restored.returncode, counted.returncode) == (0, 0, 0), made.stderr + restored.stderr
    assert run_program(TELLING, second) == run_program(TELLING, first)
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def check_that_nothing_is_overwritten(first: dict[str, str], backup: Path) -> None:
    again = manage(first, "backup", str(backup))
    over = manage(first, "restore", str(backup))

    assert (again.returncode, over.returncode) == (1, 1)
    assert "exists already; choose another name" in again.stderr
    assert "The database is not empty" in over.stderr


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "evalsite.tar"


def test_a_site_on_sqlite_comes_back_as_it_was(
    sqlite_sites: tuple[dict[str, str], dict[str, str]], backup: Path
) -> None:
    check_that_it_comes_back(*sqlite_sites, backup)
    check_that_nothing_is_overwritten(sqlite_sites[0], backup)


def test_a_site_on_postgres_comes_back_as_it_was(
    postgres_sites: tuple[dict[str, str], dict[str, str]], backup: Path
) -> None:
    check_that_it_comes_back(*postgres_sites, backup)
    check_that_nothing_is_overwritten(postgres_sites[0], backup)


def archive(path: Path, **members: bytes) -> Path:
    with tarfile.open(path, "w") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name.replace("_json", ".json"))
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    "member",
    [
        {"name": "data/uploads/../../../../escaped"},
        {"name": "data/uploads/link", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"name": "data/uploads/hard", "type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
        {"name": "data/uploads/pipe", "type": tarfile.FIFOTYPE},
    ],
)
def test_a_backup_that_would_write_elsewhere_is_refused(tmp_path: Path, member: dict[str, Any]) -> None:
    env = site_environment(f"sqlite:///{tmp_path}/empty.sqlite3", tmp_path / "data")
    path = archive(tmp_path / "made.tar", about_json=json.dumps({"format": 1, "database": "sqlite"}).encode())
    with tarfile.open(path, "a") as made:
        info = tarfile.TarInfo(member["name"])
        info.type, info.linkname = member.get("type", tarfile.REGTYPE), member.get("linkname", "")
        made.addfile(info, io.BytesIO())

    done = manage(env, "restore", str(path))

    assert done.returncode == 1
    assert f"{member['name']} is no file or folder of its own" in done.stderr
    assert not list(tmp_path.rglob("escaped"))


def test_what_is_no_backup_of_this_database_is_refused(tmp_path: Path) -> None:
    env = site_environment(f"sqlite:///{tmp_path}/empty.sqlite3", tmp_path / "data")
    other = {"format": 1, "database": "postgresql"}
    files = {
        archive(tmp_path / "other.tar", about_json=json.dumps(other).encode()): "This backup is of postgresql",
        archive(tmp_path / "about.tar", about_json=b"[]"): "its about.json is of another kind",
        archive(tmp_path / "foreign.tar", readme=b"x"): "is no backup of this site",
        tmp_path / "missing.tar": "no such file or directory",
    }
    (tmp_path / "text.tar").write_text("no tar")
    files[tmp_path / "text.tar"] = "is no backup of this site"

    for path, sentence in files.items():
        refused = manage(env, "restore", str(path))
        assert refused.returncode == 1
        assert sentence in refused.stderr.replace("No such", "no such")
        assert "Traceback" not in refused.stderr
