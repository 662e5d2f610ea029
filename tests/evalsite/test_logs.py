"""What is logged, in which form, and what never is."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client

from evalsite.logs import JsonFormatter, LineFormatter, logging_config, without_secrets
from evalsite.proxy import client_address
from reports import tasks

ROOT = Path(__file__).resolve().parents[2]


Events = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def events(caplog: pytest.LogCaptureFixture) -> Iterator[Events]:
    """A function that gives the events that a logger of the site was given."""
    with caplog.at_level(logging.INFO, "evalsite"):
        yield lambda name: [vars(each)["event"] for each in caplog.records if each.name == f"evalsite.{name}"]


def record(message: str, *arguments: object, error: bool = False, **more: Any) -> logging.LogRecord:
    info = sys.exc_info() if error else None
    made = logging.LogRecord("reports.test", logging.WARNING, __file__, 1, message, arguments, info)
    made.__dict__.update(more)
    return made


def test_an_event_is_one_line_of_json_with_its_members() -> None:
    line = JsonFormatter().format(record("line\n%s", "two\u2028", event={"status": 200, "path": "/"}))

    event = json.loads(line)
    assert "\n" not in line and line.isascii()
    assert event.pop("at").endswith("Z")
    assert event == {
        "level": "warning",
        "logger": "reports.test",
        "message": "line\ntwo\u2028",
        "status": 200,
        "path": "/",
    }


def test_an_exception_is_named_and_placed_but_not_quoted() -> None:
    try:
        raise ValueError("the customer's words")
    except ValueError:
        line = JsonFormatter().format(record("broke", error=True))

    event = json.loads(line)
    assert event["error"] == "builtins.ValueError"
    assert "test_logs.py" in event["trace"][0]
    assert "customer" not in line


def test_people_read_the_same_in_text() -> None:
    formatter = LineFormatter("{levelname} {message}", style="{")

    assert formatter.format(record("request", event={"status": 200})) == "WARNING request status=200"
    assert formatter.format(record("plain")) == "WARNING plain"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Not Found: /sign-in/abc_DEF-1/", "Not Found: /sign-in/…/"),
        ("/sign-in/", "/sign-in/"),
        ("/sign-in/?next=/runs/", "/sign-in/?next=/runs/"),
        ("/runs/7/", "/runs/7/"),
    ],
)
def test_one_time_addresses_are_cut(text: str, safe: str) -> None:
    assert without_secrets(text) == safe


# ------------------------------------------------------------------------------------------------------------ requests


@pytest.mark.django_db
def test_a_request_is_a_line_without_its_query(client_of_viewer: Client, events: Events) -> None:
    client_of_viewer.get("/runs/?q=secret-search")
    client_of_viewer.get("/sign-in/one-time-token/")

    first, second = events("request")
    assert (first["method"], first["path"], first["status"]) == ("GET", "/runs/", 200)
    assert first["durationMs"] > 0 and first["user"] and first["team"]
    assert second["path"] == "/sign-in/…/"
    assert "secret" not in str((first, second))


def test_probes_are_not_logged(client: Client, events: Events) -> None:
    client.get("/healthz")

    assert events("request") == []


@pytest.mark.django_db
def test_a_path_of_control_characters_stays_one_line(client: Client, events: Events) -> None:
    client.get("/a%0Ab%1B%5B2J/")

    [event] = events("request")
    assert event["path"] == "/a\\nb\\x1b[2J/"


# ---------------------------------------------------------------------------------------------------------------- jobs


@pytest.mark.django_db
def test_a_job_is_a_line_with_the_key_of_its_row(events: Events) -> None:
    tasks.import_upload.apply(args=("12345",))

    [event] = events("task")
    assert (event["task"], event["key"], event["state"]) == ("reports.import_upload", "12345", "success")
    assert event["durationMs"] >= 0


# ------------------------------------------------------------------------------------------------------------ settings


def in_process(tmp_path: Path, program: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {"EVALSITE_DATA_DIR": str(tmp_path), "PATH": "", "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'vendor' / 'evalrunner'}"
    code = f"import django; django.setup(); {program}"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment | variables, capture_output=True, text=True, timeout=60
    )


def test_the_variable_chooses_the_form_and_a_wrong_word_is_refused(tmp_path: Path) -> None:
    program = "import logging; logging.getLogger('evalsite.request').info('request', extra={'event': {'status': 200}})"

    silent, text, machine = [in_process(tmp_path, program, EVALSITE_LOG=style) for style in ("", "text", "json")]
    wrong = in_process(tmp_path, program, EVALSITE_LOG="yaml")

    assert silent.stderr == ""
    assert text.stderr.endswith("INFO evalsite.request request status=200\n")
    assert json.loads(machine.stderr)["status"] == 200
    assert wrong.returncode != 0
    assert "EVALSITE_LOG is 'yaml'; it may be text or json, or not set." in wrong.stderr


def test_every_style_is_a_configuration_that_python_takes() -> None:
    levels = {style: logging_config(style)["loggers"]["evalsite"]["level"] for style in ("", "text", "json")}  # type: ignore[index]

    assert levels == {"": "WARNING", "text": "INFO", "json": "INFO"}


def test_behind_a_proxy_cookies_are_secure_and_addresses_begin_with_https(tmp_path: Path) -> None:
    program = (
        "from django.conf import settings as s; from django.test import RequestFactory as F;"
        "r = F(headers={'X-Forwarded-Proto': 'https', 'Host': 'localhost'}).get('/');"
        "print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, r.build_absolute_uri())"
    )

    plain, proxied = in_process(tmp_path, program), in_process(tmp_path, program, EVALSITE_TLS_PROXY="1")

    assert plain.stdout == "False False http://localhost/\n"
    assert proxied.stdout == "True True https://localhost/\n"


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [(None, "10.0.0.1"), ("", "10.0.0.1"), ("1.2.3.4", "1.2.3.4"), ("6.6.6.6, 1.2.3.4", "1.2.3.4")],
)
def test_a_reader_behind_a_proxy_has_the_address_that_the_proxy_saw(forwarded: str | None, address: str) -> None:
    request = HttpRequest()
    request.META = {"REMOTE_ADDR": "10.0.0.1"} | ({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded})

    assert client_address(request) == address
