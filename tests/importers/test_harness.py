"""Results of the scenario harness become reports, or are refused with the lines at fault."""

import gzip
import json
from typing import Any

import pytest
from evalrunner import parse_evaluation_report
from evalrunner.harness import summarize
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.domain.harness.cases import row_of_case
from reports.importers.formats import Format, recognise
from reports.importers.given import Given
from reports.importers.refusals import MAX_FAULTS, ReportRejected
from tests.importers.harness_files import DATA, GIVEN, check, definitions, lines, report, row

VERSION = DATA / "reports" / "v5"
RESULTS = (VERSION / "results.jsonl").read_bytes()
SCENARIOS = (VERSION / "scenarios.jsonl").read_text()
WITH_SCENARIOS = Given("assistant", "abc123", "", SCENARIOS)


def refusal(data: bytes, given: Given = GIVEN) -> ReportRejected:
    with pytest.raises(ReportRejected) as caught:
        check(data, given)
    return caught.value


# ---------------------------------------------------------------------------------------------------------- the formats


@pytest.mark.parametrize(
    ("start", "format"),
    [
        (lines(row()), Format.HARNESS_ROWS),
        (b"\n\n" + lines(row()), Format.HARNESS_ROWS),
        (report(row()), Format.HARNESS_REPORT),
        (b'{"results": [{"scenario_id": "a", ', Format.HARNESS_REPORT),
        (json.dumps(summarize([row()]), indent=2).encode(), Format.HARNESS_SUMMARY),
        (b'{"pass_rate_delta": 0.0, "regressions": []}', Format.HARNESS_COMPARISON),
        (b'# a comment\n{"id": "a", "prompt": "b"}', Format.HARNESS_SCENARIOS),
        (b'# a row without its id\n{"prompt": "b"}', Format.HARNESS_SCENARIOS),
        (b'{"id": "a row without its prompt", "expected": {}}', Format.HARNESS_SCENARIOS),
        (b'{"schemaVersion": 1, "prompt": "a"}', Format.REPORT),
        (b'{"schemaVersion": 1, "summary": {"total": 1}}', Format.REPORT),
        (b'{"summary": {"total": 1, "passed": 1}, "cases": []}', Format.REPORT),
        (b'{"text": "\\"scenario_id\\":", "cases": [{"scenario_id": 1}]}', Format.REPORT),
        (b"", Format.REPORT),
        (b'"scenario_id":', Format.REPORT),
    ],
)
def test_formats_are_recognised_by_content(start: bytes, format: Format) -> None:
    assert recognise(start) == format


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_recognising_never_fails(start: bytes) -> None:
    assert recognise(start) in Format


def test_rows_with_and_without_summary_and_the_report_are_one_run() -> None:
    rows = [json.loads(line) for line in RESULTS.splitlines()]
    summary = summarize(rows)
    forms = [
        RESULTS,
        gzip.compress(RESULTS),
        RESULTS + json.dumps(summary).encode(),
        RESULTS + json.dumps(summary, indent=2).encode() + b"\n",
        (VERSION / "report.json").read_bytes(),
    ]

    checked = [check(form) for form in forms]

    assert len({found.head["runId"] for found, _ in checked}) == 1
    assert all(found.head == checked[0][0].head and cases == checked[0][1] for found, cases in checked)
    assert checked[0][0].counts == {"passed": 57, "failed": 2, "error": 1}
    assert checked[0][0].format == "harness"


@pytest.mark.parametrize("given", [GIVEN, WITH_SCENARIOS])
def test_what_is_made_is_a_valid_report_and_gives_the_rows_back(given: Given) -> None:
    checked, cases = check(RESULTS, given)

    whole = {**checked.head, "suite": checked.suite.to_data(), "cases": cases}
    assert parse_evaluation_report(whole).run_id == checked.head["runId"]
    assert [row_of_case(case) for case in cases] == [json.loads(line) for line in RESULTS.splitlines()]


@pytest.mark.parametrize("path", sorted(DATA.glob("cases/*/*.results.jsonl")), ids=lambda path: path.parent.name)
def test_every_stored_run_is_read_and_given_back(path: Any) -> None:
    text = path.read_bytes()
    scenarios = (path.parent / "scenarios.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    if not rows:
        assert refusal(text).code == "empty"
        return

    for said in (GIVEN, Given("assistant", "abc123", "", scenarios)):
        _, cases = check(text, said)
        assert [row_of_case(case) for case in cases] == rows
        assert [case["status"] == "passed" for case in cases] == [each["passed"] for each in rows]


def test_another_target_version_or_content_is_another_run() -> None:
    ids = {
        check(data, given)[0].head["runId"]
        for data, given in [
            (lines(row()), GIVEN),
            (lines(row(elapsed_ms=13)), GIVEN),
            (lines(row()), Given("assistant", "def")),
            (lines(row()), Given("other", "abc123")),
            (lines(row()), Given("assistant", "abc123", "smoke")),
        ]
    }

    assert len(ids) == 5


# ------------------------------------------------------------------------------------------------------------- contents


def test_with_its_file_a_scenario_has_messages_for_steps_and_expectations_for_criteria() -> None:
    scenario = {
        "id": "two words",
        "prompt": "Hello",
        "turns": ["And now?"],
        "tags": ["smoke"],
        "expected": {"assistant_contains": ["Hi", "you"], "max_tool_failures": 0},
    }
    failed = row("two words", "assistant response missing substring: you", "multi-turn error: busy")

    checked, [case] = check(lines(failed), Given("a", "b", "", json.dumps(scenario)))

    [defined] = definitions(checked)
    assert (defined["name"], defined["tags"]) == ("two words", ["smoke"])
    assert [step["input"] for step in defined["steps"]] == [{"text": "Hello"}, {"text": "And now?"}]
    assert [(each["id"], each["evaluator"]) for each in defined["assertions"]] == [
        ("assistant_contains", "harness.assistant_contains"),
        ("assistant_contains-2", "harness.assistant_contains"),
        ("max_tool_failures", "harness.max_tool_failures"),
        ("row", "harness.row"),
    ]
    assert [turn["input"] for turn in case["turns"]] == [{"text": "Hello"}, {"text": "And now?"}]
    assert [(each["id"], each["passed"], each["label"]) for each in case["assertions"]] == [
        ("assistant_contains", True, "the answer contains: Hi"),
        ("assistant_contains-2", False, "assistant response missing substring: you"),
        ("max_tool_failures", True, "at most 0 tool calls fail"),
        ("multi_turn_error", False, "multi-turn error: busy"),
        ("row", True, "Recorded by the harness"),
    ]
    assert case["assertions"][1]["evidence"] == {"sentences": ["assistant response missing substring: you"]}
    assert case["scenarioId"] == defined["id"]


def test_without_its_file_the_definition_does_not_depend_on_the_results() -> None:
    passed, _ = check(lines(row("a"), row("b")))
    failed, [first, _] = check(lines(row("a", "turns above maximum: expected at most 1, got 2"), row("b")))

    assert passed.suite == failed.suite
    assert [each["id"] for each in first["assertions"]] == ["max_turns", "row"]


@pytest.mark.parametrize(
    ("members", "status", "code", "turn"),
    [
        ({"passed": True}, "passed", None, "passed"),
        ({"failures": ["missing event type: X"]}, "failed", None, "passed"),
        (
            {"failures": ["runtime error: down", "missing event type: X"], "error": "down"},
            "error",
            "HARNESS_TURN_FAILED",
            "error",
        ),
        (
            {"failures": ["scenario timed out after 50 ms"], "error": "scenario timed out after 50 ms"},
            "error",
            "HARNESS_TIMED_OUT",
            "error",
        ),
        (
            {"failures": ["invalid regex `(`: no"], "error": "invalid regex `(`: no"},
            "error",
            "HARNESS_ROW_FAILED",
            None,
        ),
        ({"failures": []}, "failed", None, "passed"),
    ],
)
def test_errors_are_told_from_failures(
    members: dict[str, Any], status: str, code: str | None, turn: str | None
) -> None:
    _, [case] = check(lines(row() | {"passed": False} | members))

    assert (case["status"], case.get("errorCode")) == (status, code)
    assert [each["status"] for each in case["turns"]] == ([turn] if turn else [])
    results = case["assertions"] + [each for shown in case["turns"] for each in shown["assertions"]]
    assert all(each["passed"] for each in results) == (status == "passed")


def test_repeated_ids_are_repetitions_or_the_rows_of_the_file_in_turn() -> None:
    twice = json.dumps({"id": "a", "prompt": "one"}) + "\n" + json.dumps({"id": "a", "prompt": "two"})

    _, repeated = check(lines(row("a"), row("a")))
    _, told = check(lines(*[row("a")] * 4), Given("t", "f", "", twice))

    assert [(case["scenarioId"], case["repetition"]) for case in repeated] == [("a", 0), ("a", 1)]
    assert [(case["scenarioId"], case["repetition"]) for case in told] == [("a", 0), ("a.2", 0), ("a", 1), ("a.2", 1)]


@pytest.mark.parametrize("id", ["", "  ", "a b/ç", "x" * 900, "../../etc", "\u202eevil", "_a", "-"])
def test_any_text_can_be_the_id_of_a_scenario(id: str) -> None:
    checked, [case] = check(lines(row(id)))

    [defined] = definitions(checked)
    assert case["scenarioId"] == defined["id"]
    assert defined["metadata"]["harness"]["id"] == id


def test_a_trace_is_parted_by_messages_and_kept_whole() -> None:
    def event(type: str, **payload: Any) -> dict[str, Any]:
        return {"event_type": type, "timestamp": "2026-03-01T10:00:00Z", "payload": {"type": type, **payload}}

    trace = [
        event("SessionInitialized"),
        event("UserMessageAdded", content="Read it"),
        event("ToolInvocationStarted", invocation_id="c1", tool_id="fs.read", input_preview="fs.read({})"),
        event("ToolInvocationFailed", invocation_id="c1", tool_id="fs.read", error="missing file"),
        event("AssistantMessageCompleted", content="Cannot"),
        event("UserMessageAdded", content="Again"),
        event("AssistantMessageCompleted", content="No"),
    ]
    traced = row(
        assistant_response="No", trace=trace, turns_count=2, event_types=[each["event_type"] for each in trace]
    )

    checked, [case] = check(lines(traced))

    first, second = case["turns"]
    assert (first["input"], second["input"]) == ({"text": "Read it"}, {"text": "Again"})
    assert first["observation"]["text"] == "Cannot"
    assert first["observation"]["toolCalls"] == [{"name": "fs.read", "input": "fs.read({})", "error": "missing file"}]
    assert second["observation"]["eventTypes"] == ["UserMessageAdded", "AssistantMessageCompleted"]
    assert checked.head["startedAt"] == "2026-03-01T10:00:00Z"
    assert row_of_case(case) == traced
    assert list(row_of_case(case) or ())[-3:] == ["assistant_response", "trace", "turns_count"]


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (json.dumps(summarize([row()])).encode(), "no_results", "It adds rows up but holds none"),
        (b'{"pass_rate_delta": 0.0}', "no_results", "It holds differences, but no results"),
        (b'{"id": "a", "prompt": "b"}\n', "no_results", "it says what to ask"),
        (report(), "no_results", "hold no row"),
    ],
)
def test_what_holds_no_results_is_refused_with_the_reason(data: bytes, code: str, words: str) -> None:
    error = refusal(data)

    assert error.code == code
    assert words in error.sentence


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (lines(row()) + b"{broken\n", "line 2", "is not JSON"),
        (lines(row()) + b"\n\n[]\n", "line 4", "invalid type: sequence, expected a map"),
        (lines(row(), {"scenario_id": "b"}), "line 2", "missing field `profile`"),
        (lines(row(), row(elapsed_ms=-1)), "line 2", "elapsed_ms: invalid value"),
        (lines(row(), row(passed="yes")), "line 2", "passed: invalid type"),
        (b'{"scenario_id":"a","scenario_id":"b"}\n', "line 1", "duplicate field `scenario_id`"),
        (lines(row()) + b"NaN", "line 2", "NaN"),
        (lines(row()) + json.dumps(summarize([row()])).encode() + b"\n" + lines(row()), "line 3", "after the summary"),
        (lines(row()) + b'{"success_rate": 1}', "line 2", "is no summary: missing field `total`"),
        (report(row("a"), row(elapsed_ms=77)).replace(b": 77,", b": 7.7,"), "results.1", "elapsed_ms: invalid type"),
        (b'{"summary": {"success_rate": 1}, "results": [{"scenario_id": "a"}]}', "summary", "missing field `total`"),
        (
            b'{"results": [{"scenario_id": "a", "profile": "p", "passed": true, "elapsed_ms": 1}]}',
            "summary",
            "is missing",
        ),
    ],
)
def test_faults_are_named_with_their_line(data: bytes, place: str, words: str) -> None:
    error = refusal(data)

    assert error.code == "report_invalid"
    assert error.faults[0][0] == place
    assert words in error.faults[0][1]
    assert place in error.sentence


def test_all_faults_are_named_up_to_a_limit() -> None:
    assert [place for place, _ in refusal(b'{"scenario_id":1}\n' * 3).faults] == ["line 1", "line 2", "line 3"]
    assert len(refusal(b'{"scenario_id":1}\n' * 500).faults) == MAX_FAULTS


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (lines(row()) + b'{"scenario_id":"\xff"}', "not_utf8", "line 2"),
        (lines(row()) + b'{"scenario_id":[' + b"," * 4_100_000 + b"]}", "too_many_values", "line 2"),
        (b'{"scenario_id":1,\n "x"', "report_invalid", "line 1"),
        (lines(row()) + b"{\n" + b" " * 10 + b'"a": "' + b"x" * 70_000 + b'"}', "not_json", "line 2"),
        (report(row())[:-40], "not_json", "results.0"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(data: bytes, code: str, place: str) -> None:
    error = refusal(data)

    assert (error.code, error.faults[0][0]) == (code, place)


@pytest.mark.parametrize(
    "given", [Given(), Given("a"), Given("", "b"), Given(" ", "b"), Given("a" * 501, "b"), Given("a" * 501)]
)
def test_without_target_and_version_nothing_is_imported(given: Given) -> None:
    error = refusal(lines(row()), given)

    assert error.code == "target_needed"
    assert {place for place, _ in error.faults} <= {"target", "fingerprint"}
    assert all(f"{place} {reason}" in error.sentence for place, reason in error.faults)


def test_a_file_that_was_cut_off_is_told_by_its_summary() -> None:
    error = refusal(lines(row()) + json.dumps(summarize([row(), row("b")])).encode())

    assert error.code == "counts_wrong"
    assert error.faults[0] == ("summary.total", "says 2, but the rows give 1")


def test_a_scenario_file_that_is_none_is_refused_with_its_line() -> None:
    error = refusal(lines(row()), Given("a", "b", "", '{"id": "a", "prompt": "b"}\n{"id": 1}'))

    assert error.code == "scenarios_invalid"
    assert "scenario parse error on line 2" in error.sentence


def test_more_scenarios_than_a_suite_holds_are_refused() -> None:
    error = refusal(lines(*(row(str(number)) for number in range(10_001))))

    assert error.faults[0] == ("line 10001", "brings more than the 10,000 scenarios that a suite may have")


def test_a_summary_that_says_something_else_is_kept_as_written() -> None:
    checked, _ = check(report(row(), total_elapsed_ms=999))

    [result] = checked.head["assertions"]
    assert result["evidence"]["summary"]["total_elapsed_ms"] == 999


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 3))
def test_lines_are_told_apart_wherever_the_pieces_of_a_file_end(count: int, blanks: int) -> None:
    rows = [row(str(number), assistant_response="x" * 9_000) for number in range(count)]

    _, cases = check((b"\n" * blanks).join(lines(each) for each in rows))

    assert [case["name"] for case in cases] == [each["scenario_id"] for each in rows]
