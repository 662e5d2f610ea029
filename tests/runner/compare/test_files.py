"""Report files become outcomes, or a sentence that names the file and the place."""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from evalrunner.compare import compare, run_outcomes
from evalrunner.compare.files import ReportFileError, read_report_file
from hypothesis import given
from hypothesis import strategies as st

from tests import factories
from tests.runner.compare.files import family, write
from tests.runner.test_reports import VECTORS, make_value

REPORT = factories.outcomes(pay="PFE", book="PP")


def refused(path: Path | str, **limits: Any) -> str:
    with pytest.raises(ReportFileError) as error:
        read_report_file(str(path), **limits)
    return str(error.value)


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress], ids=["plain", "gzip", "zstd"]
)
def test_a_report_is_read_whatever_it_is_packed_in(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "report"
    path.write_bytes(pack(json.dumps(REPORT).encode()))

    read, whole = read_report_file(str(path)), run_outcomes(REPORT)

    assert read.facts == whole.facts
    assert read.outcomes.cases == list(whole.cases)
    assert read.scenarios["pay"].name == "Scenario pay"
    assert set(read.failures.values()) == {"ask: answered", "ask: EVALUATION_TRANSPORT_FAILED"}


def test_members_may_come_in_any_order(tmp_path: Path) -> None:
    backwards = dict(reversed(REPORT.items()))

    read = read_report_file(write(tmp_path / "report.json", backwards))

    assert read.facts == run_outcomes(REPORT).facts
    assert len(list(read.outcomes.cases)) == 5


@pytest.mark.parametrize("name", ["clinic", "flights", "refunds"])
def test_reading_case_by_case_compares_like_reading_the_whole(name: str) -> None:
    paths = [family(name, 1), family(name, 2)]
    texts = [Path(path).read_bytes() for path in paths]
    whole = [run_outcomes(json.loads(gzip.decompress(text) if text[:1] == b"\x1f" else text)) for text in texts]

    streamed = [read_report_file(path).outcomes for path in paths]

    assert compare(streamed[:1], streamed[1:]) == compare(whole[:1], whole[1:])


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda report: report["cases"][3].update(status="fine"), "cases.3.status"),
        (lambda report: report["cases"][0]["turns"][0].update(input=[]), "cases.0"),
        (lambda report: report["cases"].insert(1, 7), "cases.1"),
        (lambda report: report.update(cases={}), "cases"),
        (lambda report: report.pop("cases"), "cases"),
        (lambda report: report.pop("runId"), "runId"),
        (lambda report: report.update(target="x"), "target"),
        (lambda report: report["suite"]["scenarios"][0].pop("name"), "suite.scenarios.0.name"),
        (lambda report: report["summary"].update(passed=1, failed=3), "summary, which does not agree with the cases"),
        (lambda report: report.update(surprise=1), "the report itself, which has an unknown member"),
    ],
)
def test_a_fault_is_named_with_file_and_place(tmp_path: Path, change: Callable[[Any], Any], place: str) -> None:
    report = json.loads(json.dumps(REPORT))
    change(report)

    sentence = refused(write(tmp_path / "wrong.json", report))

    assert "wrong.json is not a valid report" in sentence
    assert f"  {place}" in sentence.splitlines()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_file_is_read_exactly_when_the_format_allows_the_report(tmp_path: Path, vector: Mapping[str, Any]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(make_value(vector)))

    if vector["ok"]:
        assert read_report_file(str(path)).path == str(path)
    else:
        assert refused(path).startswith(str(path))


def test_no_more_than_twenty_faults_are_named(tmp_path: Path) -> None:
    cases = [case | {"status": "fine"} for case in REPORT["cases"]] * 20

    sentence = refused(write(tmp_path / "wrong.json", REPORT | {"cases": cases}))

    assert len(sentence.splitlines()) == 21


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"hello", "not JSON"),
        (b"[]", "a report is a JSON object"),
        (b'{"runId": "r", "cases": [{"id": "a"', "cut off"),
        (b'{"cases": [{"a": NaN}]}', "cases.0.a: NaN is not JSON"),
        (b'{"runId": "\xff"}', "not UTF-8"),
        (b'{"cases": ' + b"[" * 100_000, "nested too deeply"),
        (gzip.compress(json.dumps(REPORT).encode())[:200], "damaged gzip data"),
        (b"\x1f\x8b nothing of the kind", "damaged gzip data"),
        (b"\x28\xb5\x2f\xfd nothing of the kind", "damaged zstd data"),
        (zstandard.ZstdCompressor().compress(json.dumps(REPORT).encode())[:200], "cut off"),
    ],
)
def test_what_is_no_report_is_told_in_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)

    sentence = refused(path)

    assert sentence.startswith(f"{path}: ")
    assert words in sentence


@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_never_a_crash(data: st.DataObject) -> None:
    packs: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, zstandard.ZstdCompressor().compress]
    pack = data.draw(st.sampled_from(packs))
    content = bytearray(pack(json.dumps(REPORT).encode()))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report"
        path.write_bytes(content)
        try:
            assert read_report_file(str(path)).facts.run_id
        except ReportFileError as error:
            assert str(error).startswith(str(path))


def test_files_that_cannot_be_opened_are_told_in_a_sentence(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing.json").endswith("nothing.json: no such file or directory")
    assert refused(tmp_path).endswith("is a directory")
    assert "no name of a file" in refused("a\0b")


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 10_000_000))

    assert "larger than 1,000,000 bytes when unpacked" in refused(path, most_bytes=1_000_000)


def test_zstd_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "report.json.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd")

    assert "evalrunner[zstd]" in refused(path)


CASES = 30_000
MOST_MIB = 100  # the files hold 2 x 90 MiB of JSON; interpreter and package alone take 45 MiB, all of it was 68 MiB
_COMPARE = """
import sys
from evalrunner.cli import main
status = main(sys.argv[1:])
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(status, int(high.split()[1]) // 1024)
"""


def write_large(path: Path, fingerprint: str, every: int) -> str:
    """Write a report of 30,000 cases of 10,000 scenario variants, each case with 2 KB of evidence."""
    step = {"id": "ask", "input": {}, "variants": [{"id": f"v{number}", "input": {}} for number in range(10)]}
    scenarios = [
        {"id": f"s{number:04}", "name": "Scenario", "writePolicy": "read_only", "steps": [step]}
        for number in range(1_000)
    ]
    whole = factories.report(target={"id": "desk.agent", "fingerprint": fingerprint})
    whole["suite"] = factories.suite() | {"scenarios": scenarios}
    failed = len(range(0, CASES, every))
    whole["summary"] |= {"total": CASES, "failed": failed, "passed": CASES - failed}
    evidence = {"text": "evidence " * 300}
    texts = {
        status: json.dumps(
            factories.case(status, variants={"ask": "VARIANT"}, scenario_id="SCENARIO")
            | {"turns": [factories.turn(status, observation=evidence)], "repetition": 77_777}
        )
        for status in ("passed", "failed")
    }
    with gzip.open(path, "wt", compresslevel=1) as file:
        head = json.dumps({name: value for name, value in whole.items() if name != "cases"})
        file.write(head[:-1] + ', "cases": [')
        for number in range(CASES):
            text = texts["passed" if number % every else "failed"]
            variant = number // 3
            text = text.replace("SCENARIO", f"s{variant // 10:04}").replace("VARIANT", f"v{variant % 10}")
            file.write(("," if number else "") + text.replace("77777", str(number % 3)))
        file.write("]}")
    return str(path)


def test_two_reports_of_30_000_cases_are_compared_in_bounded_memory(tmp_path: Path) -> None:
    first = write_large(tmp_path / "1.json.gz", "v1", 300)
    second = write_large(tmp_path / "2.json.gz", "v2", 200)

    done = subprocess.run(
        [sys.executable, "-c", _COMPARE, "gate", first, second, "--format", "markdown"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    status, peak_mib = map(int, done.stdout.splitlines()[-1].split())
    assert status == 0, done.stdout
    assert "29,900 of 30,000 decided" in done.stdout
    assert peak_mib < MOST_MIB
