"""Report files: whole or not at all, and at a bounded cost while a run goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from evalrunner import parse_evaluation_report
from evalrunner.cli.inputs import InputError
from evalrunner.cli.output import ReportFile, ReportWriter, report_lines
from evalrunner.models import EvaluationReport

CONFORMANCE = Path(__file__).parents[2] / "data" / "conformance" / "reports"
REPORTS = sorted(path for path in CONFORMANCE.glob("*.json") if path.name != "index.json")


def report_named(name: str) -> EvaluationReport:
    return parse_evaluation_report(json.loads((CONFORMANCE / name).read_text()))


@pytest.fixture
def report() -> EvaluationReport:
    return report_named("catalogue-pass.json")


class RecordingFile(ReportFile):
    """Remembers the run ids of what it was given; ``fails`` makes it a full disk."""

    def __init__(self, path: Path, *, fails: bool = False) -> None:
        super().__init__(str(path))
        self.written: list[str] = []
        self.fails = fails

    def put(self, pieces: Iterable[bytes]) -> None:
        if self.fails:
            raise OSError(28, "No space left on device")
        self.written.append(json.loads(b"".join(pieces))["runId"])


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_written_report_reads_back_as_the_same_value(path: Path, tmp_path: Path) -> None:
    report = report_named(path.name)

    ReportFile(str(tmp_path / "out.json")).write(report)

    assert parse_evaluation_report(json.loads((tmp_path / "out.json").read_bytes())) == report


def test_every_case_stands_on_a_line_of_its_own(report: EvaluationReport) -> None:
    lines = b"".join(report_lines(report)).splitlines()

    ids = [case.id for case in report.cases]
    assert [json.loads(line.rstrip(b",]"))["id"] for line in lines if line.startswith(b'{"id"')] == ids


def test_missing_folders_are_made_and_no_draft_is_left(report: EvaluationReport, tmp_path: Path) -> None:
    ReportFile(str(tmp_path / "a" / "b" / "out.json")).write(report)

    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["out.json"]


def test_a_link_keeps_pointing_to_the_file_that_is_replaced(report: EvaluationReport, tmp_path: Path) -> None:
    (tmp_path / "latest.json").symlink_to(tmp_path / "real.json")

    ReportFile(str(tmp_path / "latest.json")).write(report)

    assert (tmp_path / "latest.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["runId"] == report.run_id


def test_checking_a_place_leaves_an_old_report_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")

    ReportFile(str(tmp_path / "out.json"))

    assert (tmp_path / "out.json").read_text() == "old"


def test_a_write_that_fails_leaves_the_old_report_and_no_draft(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")
    file = ReportFile(str(tmp_path / "out.json"))

    def break_off() -> Iterable[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        file.put(break_off())
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.json", "old")]


@pytest.mark.parametrize("path", [".", "/dev/null", "file/out.json", "nul\0", "x" * 300])
def test_a_place_that_cannot_be_written_is_refused_beforehand(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match="cannot be written here"):
        ReportFile(path)


@pytest.mark.asyncio
async def test_a_thousand_snapshots_cost_few_writes_and_the_last_one_wins(
    report: EvaluationReport, tmp_path: Path
) -> None:
    file = RecordingFile(tmp_path / "out.json")
    writer = ReportWriter(file)

    for number in range(1_000):
        writer.offer(replace(report, run_id=f"snapshot {number}"))
        await asyncio.sleep(0)
    await writer.finish(replace(report, run_id="final"))

    assert file.written[-1] == "final"
    assert len(file.written) <= 3


@pytest.mark.asyncio
async def test_without_a_final_report_the_latest_snapshot_is_kept(report: EvaluationReport, tmp_path: Path) -> None:
    file = RecordingFile(tmp_path / "out.json")
    writer = ReportWriter(file)

    writer.offer(report)
    writer.offer(replace(report, run_id="latest"))
    await writer.finish(None)

    assert file.written == ["latest"]


@pytest.mark.asyncio
async def test_the_pause_grows_with_the_cost_of_a_write(
    report: EvaluationReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    readings = iter([0.0, 0.01, 100.0, 102.0])
    writer = ReportWriter(RecordingFile(tmp_path / "out.json"), clock=lambda: next(readings))

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 1:
            writer.offer(report)

    monkeypatch.setattr("evalrunner.cli.output.asyncio.sleep", pause)
    writer.offer(report)
    assert writer._work is not None
    await writer._work
    await writer.finish(None)

    assert pauses == [1.0, 20.0]


@pytest.mark.asyncio
async def test_a_failed_write_is_told_to_the_run_and_at_the_end(report: EvaluationReport, tmp_path: Path) -> None:
    writer = ReportWriter(RecordingFile(tmp_path / "out.json", fails=True))
    writer.offer(report)
    assert writer._work is not None
    await writer._work

    with pytest.raises(OSError, match="No space"):
        writer.offer(report)
    with pytest.raises(OSError, match="No space"):
        await writer.finish(None)
