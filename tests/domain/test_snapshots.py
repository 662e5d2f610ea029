"""When one report of a run may follow another."""

from typing import Any

import pytest

from reports.domain.snapshots import case_contradiction, first_difference, head_contradiction
from tests.factories import case, turn


@pytest.mark.parametrize(
    ("stored", "new", "path"),
    [
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": -0.0}, {"a": 0}, None),
        ({"a": 12345678901234567890}, {"a": 12345678901234567000}, None),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": 0}, {"a": False}, "a"),
        ({"a": None}, {}, "a"),
        ({}, {"b": None}, "b"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a.1.b"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": [1]}, {"a": {"0": 1}}, "a"),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, "b"),
        ({"a": "x"}, {"a": "y"}, "a"),
    ],
)
def test_the_first_difference_is_found(stored: Any, new: Any, path: str | None) -> None:
    assert first_difference(stored, new) == path


def head(status: str = "running", **members: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "runId": "r",
        "fingerprint": "f",
        "target": {"id": "t", "fingerprint": "v"},
        "startedAt": "now",
        "status": status,
        "assertions": [],
    } | members


@pytest.mark.parametrize(
    ("stored", "new", "path"),
    [
        (head(), head(), None),
        (head(), head("completed", finishedAt="later", assertions=[{"id": "a", "passed": True}]), None),
        (head(), head("limited", finishedAt="later"), None),
        (head("completed", finishedAt="a"), head("completed", finishedAt="b"), "finishedAt"),
        (head("completed", finishedAt="a"), head(), "finishedAt"),
        (head("completed"), head("cancelled"), "status"),
        (head("completed", assertions=[{"id": "a", "passed": True}]), head("completed"), "assertions"),
        (head(), head(target={"id": "t", "fingerprint": "w"}), "target.fingerprint"),
        (head(), head(resumedFrom="x"), "resumedFrom"),
        (head(), head(startedAt="then"), "startedAt"),
        (head(), head(fingerprint="g"), "fingerprint"),
    ],
)
def test_a_running_head_may_end_and_everything_else_stays(
    stored: dict[str, Any], new: dict[str, Any], path: str | None
) -> None:
    assert head_contradiction(stored, new) == path


FIXED = {"id": "c", "threadId": "t"}
FIRST, SECOND = turn(turnId="1"), turn(turnId="2")


def running(*turns: dict[str, Any], **members: Any) -> dict[str, Any]:
    return case("running", **(FIXED | {"turns": list(turns)} | members))


def ended(status: str, *turns: dict[str, Any], **members: Any) -> dict[str, Any]:
    return case(status, **(FIXED | {"turns": list(turns)} | members))


@pytest.mark.parametrize(
    ("stored", "new", "path"),
    [
        (ended("pending"), ended("passed", FIRST, threadId="other"), None),
        (ended("pending"), ended("pending", id="d"), "cases.3.id"),
        (ended("pending"), ended("passed", variants={"a": "b"}), "cases.3.variants.a"),
        (running(), running(FIRST), None),
        (running(FIRST), running(FIRST, SECOND), None),
        (running(FIRST), ended("failed", FIRST, SECOND), None),
        (running(FIRST), ended("cancelled", FIRST, errorCode="EVALUATION_CANCELLED"), None),
        (running(FIRST), running(), "cases.3.turns"),
        (running(FIRST), running(SECOND), "cases.3.turns.0.turnId"),
        (running(FIRST), ended("pending"), "cases.3.status"),
        (running(), running(threadId="u"), "cases.3.threadId"),
        (ended("passed", FIRST), ended("passed", FIRST), None),
        (ended("passed", FIRST), ended("failed", FIRST), "cases.3.status"),
        (ended("passed", FIRST), running(FIRST), "cases.3.status"),
        (ended("skipped", FIRST, skipReason="r"), ended("failed", FIRST, skipReason="r"), None),
        (ended("blocked", FIRST), ended("error", FIRST, errorCode="EVALUATION_CLEANUP_FAILED"), None),
        (ended("blocked", FIRST), ended("error", FIRST, SECOND), "cases.3.turns"),
        (ended("skipped", skipReason="r"), ended("failed", skipReason="r"), "cases.3.status"),
    ],
)
def test_cases_of_a_running_report_only_grow(stored: dict[str, Any], new: dict[str, Any], path: str | None) -> None:
    assert case_contradiction(stored, new, "cases.3", is_final=False) == path


def test_cases_of_a_final_report_stay_as_they_are() -> None:
    assert case_contradiction(ended("pending"), ended("passed", FIRST), "cases.0", is_final=True) == "cases.0.status"
