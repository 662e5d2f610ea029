"""The environment is made once, made again when what decides it changed, and its failures say what to do."""

import fcntl
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evalsite import bootstrap
from evalsite.bootstrap import Environment, SetupFailed

Commands = list[list[str]]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A project in a folder whose name holds a blank."""
    root = tmp_path / "a project"
    root.mkdir()
    for name in ("requirements.txt", "requirements-test.txt", "pyproject.toml"):
        (root / name).write_text(name)
    return Environment(root, "requirements.txt")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, environment: Environment) -> Commands:
    """The commands that a set-up runs; a fake makes what `python -m venv` would and installs nothing."""
    ran: Commands = []

    def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        ran.append(list(command))
        if "venv" in command:
            environment.python.parent.mkdir(parents=True)
            environment.python.write_text("#!/bin/sh\n")
            environment.python.chmod(0o755)
            (environment.folder / "pyvenv.cfg").write_text("version = 3.11")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(bootstrap, "run", run)
    return ran


def test_a_first_start_makes_the_environment_and_installs_pins_and_project(
    environment: Environment, commands: Commands
) -> None:
    bootstrap.prepare(environment)

    pip = [str(environment.python), "-m", "pip", "install", "--quiet", "--no-input"]
    assert commands == [
        [sys.executable, "-m", "venv", "--clear", str(environment.folder)],
        [*pip, "--require-hashes", "--requirement", str(environment.root / "requirements.txt")],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", str(environment.root)],
    ]


def test_a_second_start_does_nothing(environment: Environment, commands: Commands) -> None:
    bootstrap.prepare(environment)
    commands.clear()

    bootstrap.prepare(environment)

    assert commands == []


@pytest.mark.parametrize("changed", ["requirements.txt", "pyproject.toml", ".venv/pyvenv.cfg"])
def test_what_decides_the_installation_renews_it_when_it_changes(
    environment: Environment, commands: Commands, changed: str
) -> None:
    bootstrap.prepare(environment)
    commands.clear()

    (environment.root / changed).write_text("something else")
    bootstrap.prepare(environment)

    assert [command[3] for command in commands] == ["install", "install"]


def test_a_moved_project_is_installed_again(environment: Environment, commands: Commands) -> None:
    bootstrap.prepare(environment)
    commands.clear()
    moved = Environment(environment.root.rename(environment.root.parent / "moved"), "requirements.txt")

    bootstrap.prepare(moved)

    assert str(moved.root) in commands[-1]


def test_an_environment_whose_python_no_longer_starts_is_made_anew(
    environment: Environment, commands: Commands
) -> None:
    bootstrap.prepare(environment)
    commands.clear()
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python")
    environment.python.parent.rename(environment.folder / "old")

    bootstrap.prepare(environment)

    assert "venv" in commands[0]


def test_the_test_requirements_hold_the_others_too(environment: Environment, commands: Commands) -> None:
    bootstrap.prepare(Environment(environment.root, "requirements-test.txt"))
    commands.clear()

    bootstrap.prepare(environment)

    assert commands == []


def test_a_failed_installation_repeats_pips_words_and_is_tried_again(
    environment: Environment, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = bootstrap.run
    bootstrap.make(environment)
    refused = subprocess.CompletedProcess(["pip"], 1, "no matching distribution")
    monkeypatch.setattr(bootstrap, "run", lambda command: refused)

    with pytest.raises(SetupFailed, match="no matching distribution"):
        bootstrap.install(environment)

    monkeypatch.setattr(bootstrap, "run", working)
    assert not environment.is_current()


def test_a_python_without_ensurepip_is_told_the_package_to_install(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "missing_packages", lambda names: ["ensurepip"])

    with pytest.raises(SetupFailed, match=rf"sudo apt install python3\.{sys.version_info.minor}-venv"):
        bootstrap.prepare(environment)


def test_two_set_ups_of_one_folder_take_turns(environment: Environment) -> None:
    lock = environment.root / ".venv.lock"
    with bootstrap.only_one(environment), lock.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    with lock.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_cannot_be_written_tells_of_an_environment_that_was_made_by_hand(
    environment: Environment,
) -> None:
    (environment.root / ".venv.lock").mkdir()  # nobody can open it for writing, root included

    with pytest.raises(SetupFailed, match="cannot write to") as before, bootstrap.only_one(environment):
        pass
    environment.folder.mkdir()
    with pytest.raises(SetupFailed, match=r"run \.venv/bin/python manage\.py instead") as after:
        bootstrap.prepare(environment)

    assert "by hand" not in str(before.value) and "by hand" in str(after.value)


def test_settings_that_lead_pip_elsewhere_do_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "/kept")
    shown = "import os; print(*sorted(f'{k}={v}' for k, v in os.environ.items() if k.startswith('PIP_')), sep='\\n')"

    lines = bootstrap.run([sys.executable, "-c", shown]).stdout.splitlines()

    assert "PIP_FIND_LINKS=/kept" in lines
    assert "PIP_USER=0" in lines
    assert not any(line.startswith("PIP_TARGET") for line in lines)


def test_nothing_happens_where_the_packages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "prepare", lambda environment: pytest.fail("it made an environment"))

    bootstrap.ensure_environment(["manage.py", "test"])


def test_an_environment_that_lacks_what_it_installed_is_not_entered_again_and_again(
    monkeypatch: pytest.MonkeyPatch, environment: Environment
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", environment.root)
    monkeypatch.setattr(bootstrap, "missing_packages", lambda names: ["django"])
    monkeypatch.setenv(bootstrap.REEXECUTED, str(environment.stamp))

    with pytest.raises(SystemExit, match="lacks django although"):
        bootstrap.ensure_environment(["manage.py", "check"])


def test_pins_carry_hashes_and_name_no_index() -> None:
    for name in ("requirements.txt", "requirements-test.txt"):
        text = (bootstrap.ROOT / name).read_text()
        pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]

        assert all("==" in line for line in pinned)
        assert text.count("--hash=sha256:") >= len(pinned)
        assert "://" not in text
        assert any(line.startswith("hatchling==") for line in pinned)


def test_everything_the_project_asks_for_is_pinned_within_its_range() -> None:
    project = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text())["project"]
    runtime = project["dependencies"]

    assert unpinned(runtime, "requirements.txt") == []
    assert unpinned([*runtime, *project["optional-dependencies"]["test"]], "requirements-test.txt") == []


def unpinned(wanted: Sequence[str], name: str) -> list[str]:
    """Return the requirements that the pins of this file do not meet on this Python."""
    pins: dict[str, str] = {}
    for line in (bootstrap.ROOT / name).read_text().splitlines():
        if "==" in line:
            pin = Requirement(line.rstrip(" \\"))
            if pin.marker is None or pin.marker.evaluate():
                pins[canonicalize_name(pin.name)] = str(pin.specifier).removeprefix("==")
    return [
        text
        for text in wanted
        if not Requirement(text).specifier.contains(pins.get(canonicalize_name(Requirement(text).name), "0"))
    ]
