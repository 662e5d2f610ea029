"""Memory of an import does not grow with the report: the benchmark's question at a size for every day."""

from pathlib import Path

from tests.benchmarks.bench_import import LIMIT_MIB, measure_import
from tests.benchmarks.generate_reports import write_report


def test_the_generator_writes_reports_of_the_shape_that_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(path, 300)

    size_of_suite = 300 * 1_100  # a scenario for each of so few cases
    assert 6_500 < (path.stat().st_size - size_of_suite) / 300 < 7_700


def test_importing_5000_cases_stays_far_below_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(path, 5_000)

    figures = measure_import(path, tmp_path)

    assert path.stat().st_size > 34_000_000
    assert figures["outcome"] == "created"
    assert figures["mib"] < LIMIT_MIB * 0.8
