"""What is looked at when a command starts, and the command that tries targets out."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from reports.checks import check_targets_file
from tests.execution.conftest import targets_file as targets_file


def test_a_sound_targets_file_is_passed_over(targets_file: Path) -> None:
    assert check_targets_file(None) == []


def test_each_fault_of_the_targets_file_is_an_error_of_its_own(targets_file: Path) -> None:
    targets_file.write_text('[[target]]\nname = "echo"\nkind = "ftp"\n[target.limits]\ncases = 0\n')

    assert [error.msg for error in check_targets_file(None)] == [
        "target.0.kind: must be one of python, http, command, harness",
        "target.0.limits.cases: must be a whole number from 1 to 100,000",
    ]


def test_a_targets_file_that_is_missing_is_named(settings: LazySettings, tmp_path: Path) -> None:
    settings.TARGETS_FILE = str(tmp_path / "none.toml")

    (error,) = check_targets_file(None)

    reason = "cannot be read: No such file or directory."
    assert error.msg == f"The targets file {tmp_path}/none.toml, which EVALSITE_TARGETS names, {reason}"


def tried_out(*arguments: str) -> str:
    said = StringIO()
    call_command("check_targets", *arguments, stdout=said)
    return said.getvalue()


def test_the_tutorial_works() -> None:
    said = tried_out()

    assert "tutorial.catalogue (python, reported as tutorial.catalogue)" in said
    assert "works: a conversation was opened and closed" in said
    assert "FAILS" not in said


def test_a_target_that_cannot_be_reached_is_named_with_the_reason(targets_file: Path) -> None:
    targets_file.write_text(
        targets_file.read_text()
        + '[[target]]\nname = "away"\nkind = "http"\nurl = "http://127.0.0.1:9/v1"\n'
        + '[target.fingerprint]\nfrom = "asked"\n'
    )

    with pytest.raises(CommandError, match=r"Cannot be run: away\."):
        tried_out()
    with pytest.raises(CommandError, match=r"There is no target nowhere\."):
        tried_out("nowhere")
    assert "conversation" not in tried_out("away", "--no-session")


def test_a_faulty_file_is_told_by_the_command_itself(targets_file: Path) -> None:
    targets_file.write_text("[[target]]\n")

    with pytest.raises(CommandError, match=r"target\.0\.name: is missing"):
        tried_out()
