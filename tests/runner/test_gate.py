"""``evalrunner compare`` and ``evalrunner gate`` as a user meets them: exit statuses, sentences, files."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from evalrunner import cli
from evalrunner.cli import comparing

from tests import factories
from tests.runner.compare.files import family, many, version, write

STEADY = many()
LOST = dict.fromkeys(("s00", "s01", "s02"), "NNNNN")
BROKEN = dict.fromkeys(("s00", "s01"), "FFFFF")


def evalrunner(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "evalrunner", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=60, env={**os.environ, **variables}
    )


def called(*arguments: str) -> int:
    """Call the command in this process; argparse leaves by SystemExit."""
    try:
        return cli.main(list(arguments))
    except SystemExit as left:
        assert isinstance(left.code, int)
        return left.code


@pytest.fixture
def before(tmp_path: Path) -> str:
    return version(tmp_path / "before.json", STEADY)


def after(tmp_path: Path, letters: Mapping[str, str], target: str = "desk.agent") -> str:
    made = factories.outcomes("v2", target_id=target, **{**STEADY, **letters})
    return write(tmp_path / "after.json", made)


# --------------------------------------------------------------------------------------------------------------- gate


@pytest.mark.parametrize(
    ("letters", "target", "status", "word"),
    [
        ({}, "desk.agent", 0, "PASS"),
        (BROKEN, "desk.agent", 1, "REGRESSED"),
        (LOST, "desk.agent", 2, "INCONCLUSIVE"),
        ({}, "other.agent", 3, "NOT COMPARABLE"),
    ],
)
def test_the_gate_exits_by_its_verdict(
    tmp_path: Path, before: str, letters: Mapping[str, str], target: str, status: int, word: str
) -> None:
    done = evalrunner("gate", before, after(tmp_path, letters, target))

    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.startswith(f"{word}: ")


@pytest.mark.parametrize("name", ["gate", "compare"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--wrong"],
        [],
        ["one.json"],
        ["one.json", "two.json", "three.json"],
        ["one.json", "two.json", "--form", "text"],
        ["one.json", "two.json", "--format", "pdf"],
        ["one.json", "two.json", "--policy"],
        ["nothing.json", "nothing.json"],
    ],
    ids=" ".join,
)
def test_wrong_usage_and_unreadable_files_exit_with_4(
    name: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = called(name, *arguments)

    printed = capsys.readouterr()
    assert (status, printed.out) == (4, "")
    assert f"evalrunner {name}: " in printed.err
    assert "Traceback" not in printed.err


def test_a_wrong_flag_of_the_gate_looks_like_no_verdict_in_a_process_of_its_own() -> None:
    assert evalrunner("gate", "--no-such-flag").returncode == 4
    assert evalrunner("compare", "--no-such-flag").returncode == 4


def test_a_crash_is_no_verdict(
    before: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(comparing, "judge_versions", lambda *sides, **options: 1 / 0)

    assert called("gate", before, before) == 4
    assert "please report" in capsys.readouterr().err


def test_an_interruption_is_no_verdict(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*sides: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "judge_versions", interrupt)

    assert [called(name, before, before) for name in ("gate", "compare")] == [4, 4]


def test_a_verdict_that_could_not_be_written_is_none(before: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "evalrunner", "gate", before, before]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)

    assert done.returncode == 4
    assert "standard output: the result cannot be written: no space left on device" in done.stderr


def test_a_reader_that_is_gone_is_no_verdict(before: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "evalrunner", "gate", before, before]

    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)

    os.close(writing)
    assert (done.returncode, done.stderr) == (4, "")


# ------------------------------------------------------------------------------------------------------------- compare


def test_compare_reports_a_regression_and_exits_with_0(tmp_path: Path, before: str) -> None:
    done = evalrunner("compare", before, after(tmp_path, BROKEN))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("REGRESSED: 2 scenario variants broke; difference")


def test_several_files_of_a_side_are_pooled(tmp_path: Path) -> None:
    sides = [
        [gzipped(version(tmp_path / f"{name}{number}.json", many("P"), name)) for number in range(3)]
        for name in ("v1", "v2")
    ]

    done = evalrunner(
        "compare",
        sides[0][0],
        sides[1][0],
        *(word for path in sides[0][1:] for word in ("--baseline", path)),
        *(word for path in sides[1][1:] for word in ("--candidate", path)),
        "--format",
        "json",
    )

    document = json.loads(done.stdout)
    assert [len(document[side]["runs"]) for side in ("baseline", "candidate")] == [3, 3]
    assert document["rows"][0]["candidate"]["statuses"] == ["passed"] * 3


def gzipped(path: str) -> str:
    packed = Path(f"{path}.gz")
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    return str(packed)


@pytest.mark.parametrize(
    ("name", "start"), [("text", "PASS: "), ("json", "{"), ("markdown", "### ✅ Pass"), ("html", "<!doctype html>")]
)
def test_every_format_goes_to_a_file_whole_and_the_answer_to_the_terminal(
    tmp_path: Path, before: str, name: str, start: str
) -> None:
    result = tmp_path / "new" / "result"

    done = evalrunner("compare", before, before, "--format", name, "--output", str(result))

    assert done.returncode == 0
    assert result.read_text("utf-8").startswith(start)
    assert done.stdout.splitlines() == [
        "No scenario variant broke, was lost or got worse; difference 0.0 points (95% interval −3.6 to +3.6): pass."
    ]


def test_an_output_that_is_an_input_is_refused(before: str) -> None:
    content = Path(before).read_bytes()

    done = evalrunner("compare", before, before, "--output", before)

    assert done.returncode == 4
    assert "would be overwritten" in done.stderr
    assert Path(before).read_bytes() == content


def test_an_output_that_cannot_be_written_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = evalrunner("gate", "nothing.json", "nothing.json", "--output", str(tmp_path / "file" / "result"))

    assert done.returncode == 4
    assert "its folder is a file" in done.stderr


def test_the_result_is_utf8_whatever_the_terminal_speaks(before: str) -> None:
    done = evalrunner("compare", before, before, "--format", "json", PYTHONIOENCODING="ascii")

    assert "−3.6" in json.loads(done.stdout)["sentence"]


# --------------------------------------------------------------------------------------------------------------- policy


def test_a_critical_name_that_fits_nothing_is_told_and_lets_nothing_pass(tmp_path: Path, before: str) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[critical]\nscenarios = ["s07", "s7"]\ntags = ["smok"]\n')

    done = evalrunner("gate", before, after(tmp_path, {}), "--policy", str(policy))

    assert done.returncode == 2
    assert "1 critical scenario of the policy stands on neither side\n                  s7" in done.stdout
    assert "no scenario on either side has the critical tag “smok”" in done.stdout
    assert "What the policy calls critical has no case on either side: run it, or correct the policy." in done.stdout


def test_a_policy_decides_what_is_critical_and_is_named_in_the_document(tmp_path: Path, before: str) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('margin = 0.2\n[critical]\nscenarios = ["s07"]\n')

    done = evalrunner("gate", before, after(tmp_path, {"s07": "FFFFF"}), "--policy", str(policy), "--format", "json")

    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["reasons"][0] == {
        "verdict": "regressed",
        "kind": "critical_broken",
        "text": "1 critical scenario variant broken",
        "scenarios": ["s07"],
    }
    assert document["policy"]["margin"] == 0.2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"margin = 2\nsurprise = 1", "is not a valid policy (EVALUATION_POLICY_INVALID): margin, surprise"),
        (
            b"max_errors = " + b"9" * 5_000,
            "is not a valid policy (EVALUATION_POLICY_INVALID): a number has too many digits",
        ),
        (b"a = " + b"[" * 50_000, "is not a valid policy (EVALUATION_POLICY_INVALID): lists and tables are nested too"),
        (b"margin =", "EVALUATION_POLICY_INVALID"),
        (b"\xff", "not UTF-8 text (byte 0)"),
    ],
)
def test_a_policy_with_faults_is_told_with_its_file(tmp_path: Path, before: str, content: bytes, words: str) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_bytes(content)

    done = evalrunner("gate", before, before, "--policy", str(policy))

    assert done.returncode == 4
    assert done.stderr.startswith(f"evalrunner gate: {policy}")
    assert words in done.stderr


def test_a_file_that_is_no_report_is_told_with_its_places(tmp_path: Path, before: str) -> None:
    wrong = write(tmp_path / "wrong.json", factories.report() | {"status": "fine", "cases": 7})

    done = evalrunner("gate", before, wrong)

    assert done.returncode == 4
    assert done.stderr.splitlines() == [
        f"evalrunner gate: {wrong} is not a valid report (EVALUATION_RESUME_INVALID); missing or not allowed:",
        "  status",
        "  cases",
    ]


@pytest.mark.parametrize(("name", "status"), [("clinic", 1), ("flights", 1)])
def test_the_gate_stops_the_second_versions_of_clinic_and_flights(name: str, status: int) -> None:
    assert called("gate", family(name, 1), family(name, 2)) == status
    assert called("gate", family(name, 1), family(name, 1)) == 0


# ------------------------------------------------------------------------------------------------------------ lineage


def test_a_retry_without_the_run_that_it_retried_is_hinted_at(
    tmp_path: Path, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(tmp_path / "first.json", factories.outcomes("v2", **{**STEADY, **BROKEN}) | {"runId": "first"})
    later = {"resumedFrom": "first", "startedAt": "2026-03-03T09:05:00.000Z", "finishedAt": "2026-03-03T09:06:00.000Z"}
    retry = write(tmp_path / "retry.json", factories.outcomes("v2", **STEADY) | later)

    alone = called("gate", before, retry)
    hinted = capsys.readouterr().err
    whole = called("gate", before, first, "--candidate", retry)

    assert (alone, whole) == (0, 1)
    assert hinted == (
        f"hint: {retry} goes on with run 'first', which was not given: a retry counts as the first attempt then. "
        "Give that report, too: --candidate FILE\n"
    )
    assert capsys.readouterr().err == ""
