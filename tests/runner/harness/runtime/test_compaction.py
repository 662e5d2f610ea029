"""Compaction at the end of a turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness.runtime import compaction
from evalrunner.harness.runtime.config import FakeStep
from evalrunner.harness.runtime.model import Message, ToolCall

from tests.runner.harness.runtime.conversations import payload, scripted, talk, types

COMPACTED = ["ContextCompactionStarted", "CompactionSummary", "ContextCompactionCompleted"]


def after_the_turn(told: list[Any]) -> list[str]:
    return types(told)[types(told).index("AgentTaskCompleted") + 1 :]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("pairs", "threshold", "follows"),
    [
        (3, 0.001, COMPACTED),
        (2, 0.001, []),
        (3, 0.9, []),
        (0, 1.0, ["ContextCompactionSkipped"]),
        (9, 1.5, ["ContextCompactionSkipped"]),
    ],
)
async def test_it_depends_on_the_ratio_and_on_the_number_of_exchanges(
    tmp_path: Path, pairs: int, threshold: float, follows: list[str]
) -> None:
    told, _ = await talk(scripted(), tmp_path, spec={"seed_pairs": pairs}, auto_compact_threshold=threshold)

    assert after_the_turn(told) == follows
    if follows == ["ContextCompactionSkipped"]:
        assert told[-1][1]["reason"] == "ThresholdDisabled"


@pytest.mark.asyncio
async def test_a_budget_of_nothing_is_never_full(tmp_path: Path) -> None:
    told, _ = await talk(scripted(context_window=100), tmp_path, spec={"seed_pairs": 5}, auto_compact_threshold=0.001)

    assert after_the_turn(told) == []


@pytest.mark.asyncio
async def test_the_summary_takes_the_place_of_the_older_exchanges(tmp_path: Path) -> None:
    script = (FakeStep(text="Answer."), FakeStep(text="<think>hm</think>They greeted each other. "))

    told, session = await talk(
        scripted(*script),
        tmp_path,
        spec={"seed_pairs": 4, "system_instructions": "Be brief."},
        auto_compact_threshold=0.001,
    )

    assert payload(told, "CompactionSummary")["content"] == "They greeted each other."
    assert [message.content for message in session.messages] == [
        "Be brief.",
        "Summary of the earlier conversation:\nThey greeted each other.",
        "seed user 2",
        "seed assistant 2",
        "seed user 3",
        "seed assistant 3",
        "go",
        "Answer.",
    ]


@pytest.mark.asyncio
async def test_a_summary_that_fails_is_replaced_by_a_stock_one(tmp_path: Path) -> None:
    script = (FakeStep(text="Answer."), FakeStep(error="overloaded"))

    told, _ = await talk(scripted(*script), tmp_path, spec={"seed_pairs": 4}, auto_compact_threshold=0.001)

    assert after_the_turn(told) == [COMPACTED[0], "ContextCompactionFailed", *COMPACTED[1:]]
    assert payload(told, "ContextCompactionFailed")["error"] == "model error: overloaded"
    assert payload(told, "CompactionSummary")["content"] == compaction.STOCK_SUMMARY


@pytest.mark.asyncio
async def test_the_threshold_of_the_configuration_holds_unless_the_run_has_its_own(tmp_path: Path) -> None:
    config = replace(scripted(), auto_compact_threshold=1.0)

    told, _ = await talk(config, tmp_path)
    overruled, _ = await talk(config, tmp_path, auto_compact_threshold=0.5)

    assert after_the_turn(told) == ["ContextCompactionSkipped"]
    assert after_the_turn(overruled) == []


def exchange(number: int) -> list[Message]:
    return [Message("user", f"q{number}"), Message("assistant", f"a{number}")]


def test_an_exchange_is_complete_with_the_first_text_and_counts_once() -> None:
    call = ToolCall("c", "fs.list", {})
    messages = [
        Message("system", "s"),
        Message("user", "unanswered"),
        Message("user", "q"),
        Message("assistant", "Looking.", (call,)),
        Message("tool", "x", tool_call_id="c"),
        Message("assistant", "a"),
        Message("user", "failed"),
        Message("assistant", "", (call,)),
    ]

    assert compaction.count_pairs(messages) == 1


def test_a_second_summary_replaces_the_first() -> None:
    messages = [Message("system", "s"), *(message for number in range(5) for message in exchange(number))]

    once = compaction.compacted(messages, "one")
    twice = compaction.compacted([*once, *exchange(5)], "two")

    assert [message.content for message in twice][:3] == ["s", "Summary of the earlier conversation:\ntwo", "q3"]
    assert compaction.count_pairs(twice) == compaction.KEPT_PAIRS
