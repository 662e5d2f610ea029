"""Starting twice, taken ports and strange hosts are answered with a sentence."""

import os
import socket
from pathlib import Path

import pytest

from evalsite import embedded
from evalsite.embedded import CannotStart


def test_a_second_start_in_one_data_folder_is_told_the_address_of_the_first(tmp_path: Path) -> None:
    lock = embedded.lock_data_folder(tmp_path)
    embedded.write_owner(lock, "http://127.0.0.1:8123/")

    with pytest.raises(CannotStart, match=rf"already running.*http://127\.0\.0\.1:8123/ \(process {os.getpid()}\)"):
        embedded.lock_data_folder(tmp_path)

    assert embedded.running_address(tmp_path) == "http://127.0.0.1:8123/"
    os.close(lock)


def test_a_lock_ends_with_its_owner_whatever_the_file_says(tmp_path: Path) -> None:
    lock = embedded.lock_data_folder(tmp_path)
    embedded.write_owner(lock, "http://127.0.0.1:8123/")
    os.close(lock)

    assert embedded.running_address(tmp_path) is None
    os.close(embedded.lock_data_folder(tmp_path))


def test_nothing_runs_in_a_folder_that_was_never_used(tmp_path: Path) -> None:
    assert embedded.running_address(tmp_path) is None


def test_a_taken_port_is_named_with_another_to_choose() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(CannotStart, match=rf"Port {port} on 127\.0\.0\.1 is taken.*--port {port + 1}"):
            embedded.listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "sentence"),
    [("127.0.0.1", 70000, "70000 is not a port"), ("no such host", 8000, "Cannot listen on no such host")],
)
def test_a_place_that_cannot_be_listened_on_is_said(host: str, port: int, sentence: str) -> None:
    with pytest.raises(CannotStart, match=sentence):
        embedded.listen(host, port)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_the_address_shown_is_one_that_this_machine_reaches(host: str, shown: str) -> None:
    with embedded.listen(host, 0) as listener:
        port = listener.getsockname()[1]

        assert embedded.address_of(listener)[2] == f"http://{shown}:{port}/"


def test_beyond_loopback_the_site_answers_to_the_machines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert embedded.environment_for("127.0.0.1") == {}
    assert socket.gethostname() in embedded.environment_for("0.0.0.0")["EVALSITE_ALLOWED_HOSTS"].split(",")
    assert "10.1.2.3" in embedded.environment_for("10.1.2.3")["EVALSITE_ALLOWED_HOSTS"].split(",")

    monkeypatch.setenv("EVALSITE_ALLOWED_HOSTS", "evals.example.org")
    assert embedded.environment_for("0.0.0.0") == {}
