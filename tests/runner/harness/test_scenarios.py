"""The grammar of scenario files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from evalrunner.harness import ScenarioParseError, parse_scenarios, read_scenarios, select_scenarios
from evalrunner.harness.policies import SandboxPolicy
from evalrunner.harness.scenarios import CommandExpectation, Scenario
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.harness.stored import DATA, read_json, read_text

MALFORMED = [entry for entry in read_json(DATA / "malformed" / "index.json") if "line" in entry]


def row(**members: Any) -> str:
    return json.dumps({"id": "a", "prompt": "p"} | members)


def expecting(**expected: Any) -> str:
    return row(expected=expected)


@pytest.mark.parametrize("entry", MALFORMED, ids=lambda entry: entry["name"])
def test_a_malformed_file_is_refused_at_its_line(entry: Any) -> None:
    with pytest.raises(ScenarioParseError) as caught:
        parse_scenarios(read_text(DATA / "malformed" / entry["file"]))

    assert caught.value.line == entry["line"]
    assert str(caught.value).startswith(entry["message_prefix"])
    assert re.search(entry["detail_matches"], caught.value.detail)


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ('{"id":"a","prompt":"p","expected":{"workspace_files":[{"path":"a","path":"b"}]}}', "duplicate field `path`"),
        ('{"id":"a","prompt":"p","expected":{"post_run_commands":[{"program":"a","args":[],"args":[]}]}}', "`args`"),
        ('{"id":"a","prompt":"p","sandbox_policy":{"kind":"read_only","kind":"read_only"}}', "duplicate field `kind`"),
        (
            '{"id":"a","prompt":"p","sandbox_policy":{"kind":"workspace_write","network_access":true,"network_access":1}}',
            "duplicate field `network_access`",
        ),
        ('{"id":"a","prompt":"p","tags":[],"tags":[]}', "duplicate field `tags`"),
        (expecting(workspace_files=[{"path": None}]), "expected.workspace_files[0].path: invalid type: null"),
        (expecting(post_run_commands=[{"program": "x", "exit_code": 1.0}]), "exit_code: invalid type: floating point"),
        (expecting(post_run_commands=[{"program": "x", "exit_code": -2147483649}]), "expected i32"),
        (expecting(post_run_commands=[{"program": "x", "exit_code": True}]), "invalid type: boolean `true`"),
        (expecting(max_turns=-1), "expected u64"),
        ('{"id":"a","prompt":"p","expected":{"max_turns":1e3}}', "expected u64"),
        ('{"id":"a","prompt":"p","expected":{"max_turns":-0}}', "expected u64"),
        (f'{{"id":"a","prompt":"p","expected":{{"max_turns":{"9" * 5000}}}}}', "expected u64"),
        (expecting(max_trajectory_steps=2**32), "expected u32"),
        (expecting(max_elapsed_ms=2**64), "expected u64"),
        (expecting(min_events_of_type={"A": None}), "expected.min_events_of_type.A"),
        (expecting(trajectory_actions=[1]), "trajectory_actions[0]: invalid type: integer `1`, expected a string"),
        (row(sandbox_policy={"kind": "workspace_write", "network_access": None}), "expected a boolean"),
        (row(sandbox_policy={"kind": "Read_Only"}), "unknown variant `Read_Only`"),
        (row(sandbox_policy={}), "missing field `kind`"),
        (row(turns=[None]), "turns[0]"),
        ('{"id":"a","prompt":"p","\\ud800":1}', "surrogate"),
        ('{"id":"a","prompt":"\\udc00x"}', "surrogate"),
        ('{"id":"a","prompt":"p"}\x1c', "extra data"),
        ("\x1c", "expecting value"),
        ('{"id":"a', "unterminated string starting at column 7"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named(line: str, detail: str) -> None:
    with pytest.raises(ScenarioParseError) as caught:
        parse_scenarios(f"# one\n{line}\n")

    assert caught.value.line == 2
    assert detail in caught.value.detail


def test_the_first_bad_line_counts_and_comments_count_as_lines() -> None:
    with pytest.raises(ScenarioParseError, match="scenario parse error on line 4: missing field `id`"):
        parse_scenarios(f"{row()}\r\n\r\n  # c\r\n{{}}\nbad\n")


def test_only_line_feeds_end_a_row() -> None:
    text = '{"id":"a","prompt":"x\u2028\u2029\x85y"}'

    scenarios = parse_scenarios(f"\u3000{text}\x85\n\v{text}\f")

    assert [scenario.prompt for scenario in scenarios] == ["x\u2028\u2029\x85y"] * 2


def test_the_defaults_are_filled_in() -> None:
    assert parse_scenarios('{"prompt":"","id":""}') == [Scenario(id="", prompt="", line=1)]


def test_null_stands_for_absent_in_optional_fields() -> None:
    nothing = dict.fromkeys(["profile", "approval_policy", "sandbox_policy", "system_instructions"])

    assert parse_scenarios(row(**nothing)) == parse_scenarios(row())


def test_an_exit_code_is_zero_when_absent_and_any_when_null() -> None:
    [scenario] = parse_scenarios(expecting(post_run_commands=[{"program": "a"}, {"program": "b", "exit_code": None}]))

    assert scenario.expected.post_run_commands == (CommandExpectation("a"), CommandExpectation("b", exit_code=None))
    assert [command.exit_code for command in scenario.expected.post_run_commands] == [0, None]


def test_the_page_spells_the_third_sandbox_otherwise() -> None:
    [scenario] = parse_scenarios(row(sandbox_policy={"kind": "full_access", "network_access": "ignored here"}))

    assert scenario.sandbox_policy == SandboxPolicy("danger_full_access")


def test_in_count_maps_the_last_of_repeated_keys_counts() -> None:
    [scenario] = parse_scenarios('{"id":"a","prompt":"p","expected":{"min_events_of_type":{"B":1,"A":2,"B":3}}}')

    assert list(scenario.expected.min_events_of_type.items()) == [("B", 3), ("A", 2)]


def test_unknown_keys_and_repeated_ids_are_warned_of() -> None:
    lines = [
        row(owner="x", sandbox_policy={"kind": "read_only", "network_access": True}),
        expecting(asistant_contains=["x"], workspace_files=[{"path": "f", "has": 1}]),
    ]

    file = read_scenarios("\n".join(lines))

    assert len(file.scenarios) == 2
    assert file.warnings == (
        "line 1: unknown key `owner` is ignored",
        "line 1: unknown key `sandbox_policy.network_access` is ignored",
        "line 2: unknown key `expected.asistant_contains` is ignored",
        "line 2: unknown key `expected.workspace_files[0].has` is ignored",
        "id `a` stands in 2 rows; a comparison looks at the last",
    )


@pytest.mark.parametrize(
    ("include", "exclude", "selected"),
    [
        ([], [], "abcd"),
        (["x"], [], "ac"),
        (["x", "y"], [], "abc"),
        ([], ["x"], "bd"),
        (["x"], ["y"], "a"),
        (["X"], [], ""),
    ],
)
def test_tags_select_rows(include: list[str], exclude: list[str], selected: str) -> None:
    tags = {"a": ["x"], "b": ["y", "y"], "c": ["x", "y"], "d": []}
    scenarios = parse_scenarios("\n".join(row(id=id, tags=tags) for id, tags in tags.items()))

    assert "".join(scenario.id for scenario in select_scenarios(scenarios, include, exclude)) == selected


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_was(id: str, prompt: str) -> None:
    for ascii in (True, False):
        [scenario] = parse_scenarios(json.dumps({"id": id, "prompt": prompt}, ensure_ascii=ascii))
        assert (scenario.id, scenario.prompt) == (id, prompt)


@given(st.text())
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        parse_scenarios(text)
    except ScenarioParseError as error:
        assert 1 <= error.line <= text.count("\n") + 1
