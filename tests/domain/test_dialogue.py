"""Speech and structured parts found in inputs and observations."""

from typing import Any

import pytest

from reports.domain.dialogue import agent_utterance, user_utterance


@pytest.mark.parametrize(
    "observation",
    [
        {"response": {"message": "Good morning."}},
        {"response": {"text": "Good morning."}},
        {"message": {"text": "Good morning.", "role": "assistant"}},
        {"message": "Good morning."},
        {"output": "Good morning."},
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Good morning."}]},
    ],
)
def test_the_answer_is_found_where_agents_put_it(observation: dict[str, Any]) -> None:
    assert agent_utterance(observation).text == "Good morning."


@pytest.mark.parametrize("observation", [None, {}, {"response": {"message": "  "}}, {"score": 3}, {"messages": [1]}])
def test_no_speech_is_none_and_never_an_empty_text(observation: dict[str, Any] | None) -> None:
    assert agent_utterance(observation).text is None


def test_a_selection_is_shown_beside_what_the_user_said() -> None:
    said = user_utterance({"text": "The first one", "selection": {"optionIndex": 0}})

    assert said.text == "The first one"
    assert [(block.title, block.lines) for block in said.blocks] == [("Selection", ("optionIndex: 0",))]


def test_choices_facts_and_events_become_short_blocks() -> None:
    said = agent_utterance(
        {
            "response": {
                "message": "Choose.",
                "interaction": {"options": [{"id": "a", "label": "Desk lamp"}, {"id": "b"}]},
            },
            "checkpoint": {"facts": [{"type": "product.selected", "value": {"id": "a"}}]},
            "events": [{"type": "tool.called", "name": "search", "ok": True}],
        }
    )

    assert {block.title: block.lines for block in said.blocks} == {
        "Choice": ("1. Desk lamp", "2. b"),
        "Facts": ('product.selected · value {"id": "a"}',),
        "Events": ("tool.called · name search, ok true",),
    }


def test_a_long_list_says_how_much_it_leaves_out() -> None:
    (block,) = agent_utterance({"events": [{"type": f"e{index}"} for index in range(10)]}).blocks

    assert (len(block.lines), block.more) == (6, 4)
