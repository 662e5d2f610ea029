"""Targets files: what they may say, and how faults are named."""

import sys
from pathlib import Path

import pytest

from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, read_targets

PYTHON = """
[[target]]
name = "echo"
kind = "python"
object = "tests.execution.targets:echo"
"""
HTTP = """
[[target]]
name = "desk"
title = "Service desk"
id = "desk.agent"
kind = "http"
url = "http://127.0.0.1:9/v1"
external_writes = true
[target.headers]
Authorization = "DESK_TOKEN"
[target.fingerprint]
from = "asked"
[target.limits]
concurrency = 4
minutes = 30
"""


def read(text: str, folder: Path = Path("/nowhere")) -> TargetEntry:
    return read_targets(text, folder=folder)[0]


def faults_of(text: str) -> list[str]:
    with pytest.raises(TargetsFileError) as refused:
        read_targets(text, folder=Path("/nowhere"))
    return [str(fault) for fault in refused.value.faults]


def test_a_python_target_lists_its_own_versions() -> None:
    entry = read(PYTHON)

    assert (entry.target_id, entry.title) == ("echo", "echo")
    assert entry.fingerprint_source().values == ("one", "two")
    assert entry.find_fingerprint("") == "one"
    assert entry.make("two").adapter.id == "tests.echo"


def test_a_version_that_a_python_target_does_not_have_is_refused_by_name() -> None:
    with pytest.raises(TargetUnusable, match="'three'; choose one of one, two"):
        read(PYTHON).find_fingerprint("three")


def test_an_http_target_keeps_its_limits_and_reads_secrets_only_when_made(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = read(HTTP)

    assert (entry.limits.concurrency, entry.limits.minutes, entry.allows_external_writes) == (4, 30, True)
    with pytest.raises(TargetUnusable, match="DESK_TOKEN is not set"):
        entry.make("v1")
    monkeypatch.setenv("DESK_TOKEN", "s3cret")
    assert "s3cret" not in repr(entry.make("v1").adapter)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (f'from = "command"\ncommand = ["{sys.executable}", "-c", "print(\'abc\'); print(\'more\')"]', "abc"),
        ('from = "env"\nvariable = "DESK_VERSION"', "2026.3"),
        ('from = "fixed"\nvalues = ["v7", "v8"]', "v7"),
    ],
)
def test_a_version_is_found_where_the_file_says(source: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_VERSION", " 2026.3 ")

    entry = read(HTTP.replace('from = "asked"', source), Path("/tmp"))

    assert entry.find_fingerprint("") == found


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (f'from = "command"\ncommand = ["{sys.executable}", "-c", "raise SystemExit(3)"]', "ended with status 3"),
        (f'from = "command"\ncommand = ["{sys.executable}", "-c", "pass"]', "printed no fingerprint"),
        ('from = "command"\ncommand = ["/no/such/program"]', "gives no fingerprint: FileNotFoundError"),
        ('from = "env"\nvariable = "NOT_SET_ANYWHERE"', "NOT_SET_ANYWHERE, which holds the fingerprint, is not set"),
    ],
)
def test_a_version_that_cannot_be_found_is_explained(source: str, sentence: str) -> None:
    entry = read(HTTP.replace('from = "asked"', source), Path("/tmp"))

    with pytest.raises(TargetUnusable, match=sentence):
        entry.find_fingerprint("")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[target]\n", "This is not TOML"),
        (f"a = {'9' * 5_000}", "This is not TOML: a number has too many digits"),
        ("a = " + "[" * 50_000, "This is not TOML: lists and tables are nested too deeply"),
        ("", "target: is missing; begin each target with a line [[target]]"),
        ("surprise = 1\n" + PYTHON, "surprise: is not a key that can stand here"),
        (PYTHON.replace('"echo"', '"a b"'), "target.0.name: must be 1 to 160 letters"),
        (PYTHON + PYTHON, "target.1.name: 'echo' is taken by an earlier target"),
        (PYTHON.replace("python", "ftp"), "target.0.kind: must be one of python, http, command"),
        (PYTHON.replace('kind = "python"', ""), "target.0.kind: is missing"),
        (PYTHON.replace("targets:echo", "targets"), "target.0.object: must be written as module:object"),
        (PYTHON + "supports_resume = true\n", "target.0.supports_resume: is not a key that can stand here"),
        (PYTHON + 'suites = ["missing.json"]\n', "target.0.suites.0: there is no file /nowhere/missing.json"),
        (PYTHON + 'external_writes = "yes"\n', "target.0.external_writes: must be true or false"),
        (HTTP.replace("concurrency = 4", "concurrency = 33"), "target.0.limits.concurrency: must be a whole number"),
        (HTTP.replace("concurrency = 4", "concurrency = true"), "target.0.limits.concurrency: must be a whole number"),
        (HTTP.replace("http://127", "gopher://127"), "target.0.url: must begin with http:// or https://"),
        (HTTP.replace('"DESK_TOKEN"', '"not a name"'), "target.0.headers.Authorization: must be the name of"),
        (HTTP.replace('from = "asked"', 'from = "guess"'), "target.0.fingerprint.from: must be one of"),
        (HTTP.replace('from = "asked"', 'from = "fixed"'), "target.0.fingerprint.values: must be a list of texts"),
        (HTTP.replace('[target.fingerprint]\nfrom = "asked"', ""), "target.0.fingerprint: is missing"),
    ],
)
def test_a_fault_is_named_with_the_path_of_its_key(text: str, fault: str) -> None:
    assert any(fault in said for said in faults_of(text)), faults_of(text)


def test_all_faults_are_found_at_once() -> None:
    text = PYTHON.replace('"echo"', '""') + 'external_writes = 1\nsuites = "x"\n'

    assert [said.partition(":")[0] for said in faults_of(text)] == [
        "target.0.name",
        "target.0.suites",
        "target.0.external_writes",
    ]


def test_a_module_that_cannot_be_imported_makes_the_target_unusable() -> None:
    entry = read(PYTHON.replace("tests.execution.targets", "tests.no_such_module"))

    with pytest.raises(TargetUnusable, match="cannot be imported: ModuleNotFoundError"):
        entry.make("one")


def test_a_factory_that_raises_makes_the_target_unusable_without_telling_what_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(fingerprint: str) -> None:
        raise RuntimeError("key=s3cret")

    monkeypatch.setattr("tests.execution.targets.failing", failing, raising=False)
    entry = read(PYTHON.replace("targets:echo", "targets:failing") + '[target.fingerprint]\nfrom = "asked"\n')

    with pytest.raises(TargetUnusable, match="raised RuntimeError") as refused:
        entry.make("v1")

    assert "s3cret" not in str(refused.value)
