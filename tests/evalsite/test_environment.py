"""Faults of the environment end in one sentence that names the variable, whatever command is called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from evalsite import embedded
from evalsite.environment import data_folder, database, kept_secret


def call(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"\xffno database" * 1000)
    return path


@pytest.mark.parametrize("command", ["quickstart", "migrate", "import_reports"])
def test_a_data_folder_that_cannot_be_made_is_told_in_a_sentence(command: str, file: Path) -> None:
    done = call(command, EVALSITE_DATA_DIR=str(file / "data"))

    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"data folder {file / 'data'} cannot be used: Not a directory" in done.stderr
    assert "EVALSITE_DATA_DIR" in done.stderr


@pytest.mark.parametrize("address", ["nonsense", "mysql://me:secret@host/db", "postgresql://me:secret@host:port/db"])
def test_an_address_of_no_database_is_told_without_its_password(address: str, tmp_path: Path) -> None:
    done = call("quickstart", "--port", "0", DATABASE_URL=address, EVALSITE_DATA_DIR=str(tmp_path))

    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "DATABASE_URL" in done.stderr and "secret" not in done.stderr


def test_a_file_that_is_no_database_is_told_in_a_sentence(file: Path, tmp_path: Path) -> None:
    file.rename(tmp_path / "evalsite.sqlite3")

    done = call("quickstart", "--port", "0", EVALSITE_DATA_DIR=str(tmp_path))

    assert done.returncode == 1
    assert done.stderr.splitlines() == ["CommandError: The database cannot be used: file is not a database"]


def test_a_folder_that_holds_a_folder_for_the_lock_cannot_be_started_in(tmp_path: Path) -> None:
    (tmp_path / "quickstart.lock").mkdir()

    with pytest.raises(embedded.CannotStart, match=r"Cannot write to the data folder .*EVALSITE_DATA_DIR"):
        embedded.lock_data_folder(tmp_path)


def test_a_secret_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "secret-key").mkdir()

    with pytest.raises(ImproperlyConfigured, match=r"data folder .* cannot be used: Is a directory"):
        kept_secret(tmp_path)


def test_the_data_folder_is_made_once_with_what_belongs_in_it(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "a" / "b", "uploads")

    assert data_folder(folder, "uploads") == folder and (folder / "uploads").is_dir()
    assert kept_secret(folder) == kept_secret(folder) != ""


@pytest.mark.parametrize("name", ["a b", "50%", "what?", "#1", "ç"])
def test_sqlite_lies_in_the_data_folder_whatever_its_name(name: str, tmp_path: Path) -> None:
    assert database("", folder=tmp_path / name)["NAME"] == str(tmp_path / name / "evalsite.sqlite3")
