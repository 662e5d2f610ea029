"""The command line ``evalrunner scenarios``, also as ``kairox-eval``."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from evalrunner import cli
from evalrunner.cli import scenarios
from evalrunner.cli.scenario_flags import RUN, SUBCOMMANDS

from tests.runner.harness.stored import DATA, read_json, read_rows

BOOK = read_json(DATA / "vectors" / "cli.json")
FAKE = ["--profile", "fake"]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with a file ``s.jsonl`` of one row that passes."""
    monkeypatch.chdir(tmp_path)
    write("s.jsonl", {"id": "a", "prompt": "p"})
    return tmp_path


def write(name: str, *rows: dict[str, Any]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(*arguments: str) -> int:
    return cli.main(["scenarios", "run", "--scenarios", "s.jsonl", "--output", "out.jsonl", *arguments])


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["name"]) for vector in BOOK["vectors"]])
def test_a_command_line_does_what_is_written(vector: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in BOOK["dirs"]:
        (tmp_path / name).mkdir()
    for name, text in BOOK["files"].items():
        (tmp_path / name).write_bytes(text.encode())

    code = cli.main(["scenarios", *(argument.replace("{dir}", str(tmp_path)) for argument in vector["argv"])])

    shown = capsys.readouterr()
    assert code == vector["exit_code"]
    assert "stdout" not in vector or shown.out == vector["stdout"]
    assert re.search(vector.get("stdout_matches", ""), shown.out)
    assert re.search(vector.get("stderr_matches", ""), shown.err)
    assert all((tmp_path / name).is_file() for name in vector.get("written", []))
    assert not any((tmp_path / name).exists() for name in vector.get("not_written", []))
    assert code != 1 or shown.out == ""


@pytest.mark.parametrize("entry", read_json(DATA / "malformed" / "index.json"), ids=lambda entry: entry["name"])
def test_a_malformed_file_ends_every_command(entry: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DATA / "malformed" / entry["file"])

    for arguments in (["list"], ["run", "--output", str(tmp_path / "out")]):
        assert cli.main(["scenarios", *arguments, "--scenarios", file]) == entry["exit_code"]
        shown = capsys.readouterr()
        assert shown.out == ""
        prefix, found, detail = shown.err.partition(entry["message_prefix"])
        assert (prefix, bool(found)) == ("evalrunner scenarios: ", True)
        assert re.search(entry["detail_matches"], detail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--nope", "--scenarios"], "unknown argument: --nope\nusage: evalrunner scenarios run --scenarios FILE"),
        (["--scenarios", "--output", "x"], "missing value for --scenarios\n"),
        (["--fail-fast=yes"], "unknown argument: --fail-fast=yes\n"),
        (["--wait-timeout-ms", ""], "invalid --wait-timeout-ms ``: cannot parse integer from empty string\n"),
        (["--wait-timeout-ms", "1_0"], "invalid --wait-timeout-ms `1_0`: invalid digit found in string\n"),
        (["--wait-timeout-ms", "٣"], "invalid --wait-timeout-ms `٣`: invalid digit found in string\n"),
        (["--scenario-timeout-ms", str(2**64)], f"`{2**64}`: number too large to fit in target type\n"),
        (["--scenario-timeout-ms", "9" * 5000], "number too large to fit in target type\n"),
        (["--auto-compact-threshold", "1_0"], "invalid --auto-compact-threshold `1_0`: invalid float literal\n"),
        (["--fake-tool-arguments", "NaN"], "invalid --fake-tool-arguments JSON `NaN`: "),
        (
            ["--approval-policy", "ON"],
            "invalid policy: unknown approval policy `on`; expected never|on_request|always\n",
        ),
        (["--sandbox-policy", "Jail"], "invalid policy: invalid sandbox policy `Jail`: "),
        (["--sandbox-policy", '{"kind":"x"}', "--bogus"], "unknown variant `x`, expected one of `read_only`, "),
        ([], "missing --scenarios\nusage: evalrunner scenarios run"),
        (["--scenarios", "s.jsonl"], "missing --output\nusage: evalrunner scenarios run"),
    ],
)
def test_arguments_are_judged_from_left_to_right(
    go: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["scenarios", *arguments]) == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    "spelling", ["full_access", "full-access", "Read-Only", "WORKSPACEWRITE", '{"kind":"full_access"}']
)
def test_policies_have_more_than_one_spelling(go: Path, spelling: str) -> None:
    assert run("--sandbox-policy", spelling, "--approval-policy", "On-Request") == 0


@pytest.mark.parametrize("name", ["", *SUBCOMMANDS])
def test_help_is_printed_and_nothing_else_done(go: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scenarios", *([name] if name else []), "--help"]) == 0

    shown = capsys.readouterr()
    assert shown.err == ""
    wanted = SUBCOMMANDS[name] if name else RUN
    assert all(f"--{flag.name}" in shown.out for flag in wanted.flags)


def test_warnings_go_to_standard_error_alone(go: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("s.jsonl", {"id": "a", "prompt": "p", "owner": 1}, {"id": "a", "prompt": "p"})

    assert run(*FAKE) == 0

    shown = capsys.readouterr()
    assert json.loads(shown.out)["total"] == 2
    assert "evalrunner scenarios: warning: line 1: unknown key `owner` is ignored\n" in shown.err
    assert "warning: id `a` stands in 2 rows" in shown.err


@pytest.mark.parametrize("name", ["--output", "--summary", "--report"])
def test_a_folder_in_the_place_of_a_file_is_found_out_before_the_run(
    go: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (go / "taken").mkdir()

    assert run(name, "taken") == 1

    assert capsys.readouterr().err.endswith("io error: Is a directory (os error 21)\n")
    assert not (go / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "text"), [("gone", "No such file or directory (os error 2)"), ("s.jsonl", "Not a directory (os error 20)")]
)
def test_a_workspace_must_be_a_folder(go: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workspace", name) == 1
    assert f"io error: {text}" in capsys.readouterr().err


@pytest.mark.parametrize("place", [".kairox/config.toml", "evalrunner.toml"])
def test_the_configuration_is_looked_for_in_the_workspace(go: Path, place: str) -> None:
    (go / "ws" / place).parent.mkdir(parents=True, exist_ok=True)
    (go / "ws" / place).write_text('[profiles.fast]\nprovider = "fake"\nmodel_id = "m"\nresponse = "fast speaks"\n')
    (go / "evalrunner.toml").write_text("not read: it is not in the workspace")

    assert run("--workspace", "ws") == 0

    [row] = read_rows(go / "out.jsonl")
    assert (row["profile"], row["assistant_response"]) == ("fast", "fast speaks")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[profiles.a]\nmodel_id = 'm'", "missing field `provider` in profiles.a"),
        ("[profiles.a]\nprovider = 'fake'", "missing field `model_id` in profiles.a"),
        ("[profiles.a]\nprovider = 'fake'\nmodel_id = 3", "profiles.a.model_id: a string expected"),
        ("[profiles]\na = 1", "profiles.a: a table expected"),
        ("profiles = 1", "profiles: a table expected"),
        ("a =", "not TOML: "),
        (f"a = {'9' * 5_000}", "not TOML: a number has too many digits"),
    ],
)
def test_a_bad_configuration_is_told_with_its_place(
    go: Path, content: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (go / "c.toml").write_text(content)

    assert run("--config", "c.toml") == 1

    assert f"config error: c.toml: {text}" in capsys.readouterr().err
    assert run("--config", "gone.toml") == 1
    assert not (go / "out.jsonl").exists()


def test_an_adapter_takes_the_place_of_the_local_runtime(go: Path) -> None:
    write("s.jsonl", {"id": "a", "prompt": "Show available products", "expected": {"assistant_contains": ["Choose"]}})

    command = f"command:{sys.executable} -m evalrunner.examples.command_agent"

    assert run("--adapter", command) == 0
    assert read_rows(go / "out.jsonl")[0]["profile"] == "evalrunner.command"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--adapter", "command:no-such-program"], "there is no program 'no-such-program'"),
        (["--adapter", "nowhere"], "'nowhere' is not of the form module:object"),
        (["--adapter", "command:cat", "--enable-mcp"], "--enable-mcp belongs to the local runtime"),
        (["--adapter", "command:cat", "--config", "c.toml"], "--config belongs to the local runtime"),
    ],
)
def test_an_adapter_that_cannot_be_had_is_refused(
    go: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 1
    assert text in capsys.readouterr().err


def test_it_is_also_the_program_kairox_eval(
    go: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for project in (Path(cli.__file__).parents[2], Path(__file__).parents[3]):
        programs = tomllib.loads((project / "pyproject.toml").read_text())["project"]["scripts"]
        assert programs["kairox-eval"] == "evalrunner.cli.scenarios:kairox_eval"

    monkeypatch.setattr(sys, "argv", ["kairox-eval", "list"])

    assert scenarios.kairox_eval() == 1
    assert capsys.readouterr().err.startswith("kairox-eval: missing --scenarios\nusage: kairox-eval list")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_the_rows_that_had_ended(go: Path, number: signal.Signals) -> None:
    (go / "c.toml").write_text(
        '[profiles.slow]\nprovider = "fake"\nmodel_id = "m"\n[[profiles.slow.script]]\ndelay_ms = 600000\n'
    )
    child = {"program": "sh", "args": ["-c", "touch begun; exec sleep 600"]}
    write("s.jsonl", {"id": "a", "prompt": "p"}, {"id": "b", "prompt": "p", "expected": {"post_run_commands": [child]}})
    command = [sys.executable, "-m", "evalrunner", "scenarios", "--scenarios", "s.jsonl", "--output", "out.jsonl"]
    process = subprocess.Popen(
        [*command, "--allow-post-run-commands"], cwd=go, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not (go / "begun").exists():
        assert process.poll() is None

    process.send_signal(number)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert "interrupted; 1 rows had ended and are in out.jsonl" in err
    assert [row["scenario_id"] for row in read_rows(go / "out.jsonl")] == ["a"]
