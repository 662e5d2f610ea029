"""What went in comes out: the value that the runner core reads from the imported file."""

import gzip
import io
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from evalrunner import parse_evaluation_report
from evalrunner.jsontext import parse_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.domain.snapshots import first_difference
from reports.models import Run, Team
from reports.services.export import NoReportError, iter_report_json
from reports.services.ingest import ingest_report
from tests.bad_reports import hostile_report
from tests.factories import case, report, stored, suite, turn
from tests.processes import fresh_postgres_database, migrate, run_program, site_environment

CONFORMANCE = Path(__file__).parent.parent / "data" / "conformance"
FILES = sorted(
    path
    for path in [*CONFORMANCE.glob("reports/*.json"), *CONFORMANCE.glob("families/*/*")]
    if path.name not in ("index.json", "truth.json")
)


def exported(run: Run) -> Any:
    return parse_json(b"".join(iter_report_json(run)))


def assert_unharmed(team: Team, text: bytes) -> None:
    done = ingest_report(team=team, source=io.BytesIO(text), origin="upload")

    given_back = exported(Run.objects.get(pk=done.run_pk))

    plain = gzip.decompress(text) if text.startswith(b"\x1f\x8b") else text
    assert first_difference(parse_evaluation_report(parse_json(plain)).to_data(), given_back) is None
    assert parse_evaluation_report(given_back).run_id == done.run_id


def test_there_are_files_to_test() -> None:
    assert len(FILES) >= 45


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_every_reference_report_comes_out_unharmed(team: Team, path: Path) -> None:
    assert_unharmed(team, path.read_bytes())


# ------------------------------------------------------------------------------------------------------------ property

LENIENT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]  # every example has a run id of its own
texts = st.text(st.characters(codec=None), min_size=1, max_size=8) | st.sampled_from(
    ["\x00", "\ud83d", "\ufffe0000", "__proto__", "constructor", "<b>", "\u202e"]
)
numbers = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | st.just(-0.0)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=3)


def optional(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


results = st.recursive(
    st.builds(
        lambda id, passed, more: {"id": id, "passed": passed} | more,
        texts,
        st.booleans(),
        optional(
            label=st.just("") | texts,
            actual=st.just({"present": False}) | st.builds(lambda value: {"present": True, "value": value}, values),
            expected=values,
            errorCode=texts,
            evidence=objects,
        ),
    ),
    lambda inner: st.builds(
        lambda id, children: {"id": id, "passed": False, "children": children}, texts, st.lists(inner, max_size=2)
    ),
    max_leaves=3,
)
turns = st.builds(
    lambda status, step_id, input, assertions, duration, more: (
        {
            "stepId": step_id,
            "turnId": step_id,
            "input": input,
            "status": status,
            "assertions": assertions,
            "durationMs": duration,
        }
        | more
    ),
    st.sampled_from(["passed", "failed", "error", "cancelled"]),
    texts,
    objects,
    st.lists(results, max_size=2),
    st.integers(0, 2**70) | st.floats(0, 1e308),
    optional(observation=objects, errorCode=texts, checkpoint=objects),
)
cases = st.builds(
    lambda status, text, repetition, variants, turns, assertions, more: (
        {
            "id": text,
            "scenarioId": text,
            "name": text,
            "repetition": repetition,
            "variants": variants,
            "threadId": text,
            "status": status,
            "turns": turns,
            "assertions": assertions,
        }
        | more
    ),
    st.sampled_from(["pending", "running", "passed", "failed", "error", "skipped", "blocked", "cancelled"]),
    texts,
    st.integers(0, 2**53 - 1) | st.just(2.0),
    st.dictionaries(texts, texts, max_size=2),
    st.lists(turns, max_size=2),
    st.lists(results, max_size=2),
    optional(errorCode=texts, skipReason=texts),
)


@given(
    st.lists(cases, max_size=3),
    optional(resumedFrom=texts, finishedAt=texts, startedAt=texts, fingerprint=texts),
    st.lists(results, max_size=2) | st.none(),
    objects,
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_report_comes_out_unharmed(
    team: Team,
    cases: list[dict[str, Any]],
    more: dict[str, Any],
    suite_results: list[Any] | None,
    metadata: Mapping[str, Any],
) -> None:
    value = (
        report(cases=cases, suite=suite(metadata=metadata, name=" Desk \u00a0")) | more | {"runId": str(uuid.uuid4())}
    )
    if suite_results is None:
        del value["assertions"]
    else:
        value["assertions"] = suite_results

    assert_unharmed(team, json.dumps(value).encode())


def test_hostile_text_comes_out_unharmed(team: Team) -> None:
    assert_unharmed(team, json.dumps(hostile_report()).encode())


ROUND_TRIP = """
import django, sys
django.setup()
from reports.models import Run, Team
from reports.services.export import iter_report_json
from reports.services.ingest import ingest_report
team = Team.objects.create(name="hostile")
with open(sys.argv[1], "rb") as source:
    done = ingest_report(team=team, source=source, origin="command", file_name="a\\x00\\ud83d.json")
sys.stdout.buffer.write(b"".join(iter_report_json(Run.objects.get(pk=done.run_pk))))
"""


def test_hostile_text_comes_out_of_postgresql_unharmed(tmp_path: Path, postgres_url: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(hostile_report()))

    with fresh_postgres_database(postgres_url) as url:
        env = site_environment(url, tmp_path)
        migrate(env)
        given_back = parse_json(run_program(ROUND_TRIP, env, str(path)).encode())

    expected = parse_evaluation_report(parse_json(path.read_bytes())).to_data()
    assert first_difference(expected, given_back) is None


# --------------------------------------------------------------------------------------------------------------- edges


def test_the_summary_is_that_of_the_cases_also_when_counts_are_wrong(team: Team) -> None:
    run = stored(team, report("PF"))
    Run.objects.update(passed=7)

    assert exported(run)["summary"] == report("PF")["summary"]


@pytest.mark.parametrize(("status", "reason"), [("queued", "is queued"), ("rejected", "could not begin")])
def test_a_run_without_a_report_says_so_before_anything_is_sent(team: Team, status: str, reason: str) -> None:
    run = stored(team, report("P"))
    run.head, run.status = b"", status

    with pytest.raises(NoReportError, match=reason):
        iter_report_json(run)


def test_an_export_is_written_in_pieces(team: Team) -> None:
    run = stored(team, report(cases=[case(turns=[turn(observation={"text": "x" * 50_000})]) for _ in range(20)]))

    sizes = [len(piece) for piece in iter_report_json(run)]

    assert len(sizes) > 5
    assert max(sizes) < 200_000
